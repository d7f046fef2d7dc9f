// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Logging
internal import PinListMetadata

/// Looks at the envelopes of list incidents, and writes what they prove into the audit log, once.
struct EquivocationWatch: Sendable {
    let store: any ServiceStore
    let lists: ServedLists
    let anchors: [String: [UInt8]]
    let logger: Logger

    /// The most envelopes of one version that are compared: those of a list that was signed again and again.
    static let mostEnvelopes = 16

    /// Looks at a report.
    func look(at report: CollectedReport, _ now: Timestamp) async {
        guard report.kind == .incident, let envelope = report.envelope, let name = report.list.name,
            let anchor = self.anchors[name], let published = self.lists.names[name]?.published
        else { return }
        // Signatures first: who has none costs no look into the store.
        guard let list = EquivocationCheck.list(envelope, published, anchor: anchor), list.name == name else { return }
        do {
            let sameVersion = try await self.store.read { store in
                try store.envelopes(of: list.version, name: name, limit: Self.mostEnvelopes)
            }
            guard let finding = EquivocationCheck.finding(envelope, list, sameVersion: sameVersion) else { return }
            let digest = Envelope.digest(of: envelope)
            try await self.store.write { store in
                guard try store.addEvidence(digest, of: name, envelope, at: now) else { return }
                try store.log("equivocation", finding, by: "report", at: now)
            }
        } catch { self.logger.warning("an envelope in a report could not be looked at: \(error)") }
    }
}
