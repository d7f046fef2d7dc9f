// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository

/// The result of offering a root or a list to a client.
struct Verification: Encodable {
    /// The reason for which it is not taken.
    struct Refusal: Encodable {
        let what: String
        let code: String
        let detail: String
        /// With `expired`: what had expired.
        let of: String?
    }

    /// A key that signed it.
    struct Signer: Encodable {
        let keyid: String
        let algorithm: String
    }

    /// The demand of a root, and the signatures that it has.
    struct Demand: Encodable {
        let root: Int64
        /// Whether it is the hybrid demand of the role.
        let hybrid: Bool
        let threshold: Int
        /// The number of its keys that signed.
        let signed: Int
        /// Whether clients like this one make it: a hybrid one only where they can verify all of its keys.
        let demanded: Bool
    }

    let type: String
    let name: String?
    let version: Int64?
    let issuedAt: String?
    let expiresAt: String?
    let payloadSHA256: String?
    /// The number of installations of a million that report failures, as a list says for all of its entries.
    let reportPerMillion: Int64?
    let demands: [Demand]
    let signers: [Signer]
    let refused: Refusal?

    /// Offers a file to a client.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - state: The state of the client.
    ///   - time: The time at which it is offered.
    init(of bytes: [UInt8], by state: TrustState, at time: Timestamp) {
        var state = state
        // Its own type decides only how it is offered; the client does not rely on it.
        let kind = (try? SignableMetadata(bytes, named: "")).map(\.kind) ?? .pins
        let before = state.chain
        self.type = kind.rawValue
        do throws(MetadataError) {
            switch kind {
            case .root:
                let root: Root
                if let held = before.held.first(where: { $0.bytes == bytes }) {
                    root = held.root
                } else {
                    root = try state.accept(root: bytes, at: time)
                }
                let envelope = try Envelope(bytes, of: .root, limits: MetadataLimits())
                let previous = before.held.first { $0.root.version == root.version - 1 }?.root
                (self.demands, self.signers) = Self.counted(
                    envelope, .root, under: [root, previous].compactMap { $0 })
                (self.name, self.version) = (root.name, root.version)
                (self.issuedAt, self.expiresAt) = (root.issuedAt.description, root.expiresAt.description)
                self.payloadSHA256 = Envelope.digest(of: envelope.payload)
                self.reportPerMillion = nil
            case .pins:
                _ = try state.accept(list: bytes, at: time)
                let envelope = try Envelope(bytes, of: .pins, limits: MetadataLimits())
                let list = try PinList(payload: envelope.payload)
                (self.demands, self.signers) = Self.counted(envelope, .pins, under: [before.newest])
                (self.name, self.version) = (list.name, list.version)
                (self.issuedAt, self.expiresAt) = (list.issuedAt.description, list.expiresAt.description)
                self.payloadSHA256 = Envelope.digest(of: envelope.payload)
                self.reportPerMillion = list.reportPerMillion
            }
            self.refused = nil
        } catch {
            self.refused = Refusal(
                what: error.kind.rawValue, code: error.code.description, detail: error.detail,
                of: error.expired?.rawValue)
            (self.name, self.version, self.issuedAt, self.expiresAt, self.payloadSHA256) = (nil, nil, nil, nil, nil)
            self.reportPerMillion = nil
            (self.demands, self.signers) = ([], [])
        }
    }

    /// The lines for people.
    var lines: [String] {
        if let refused { return ["refused \(refused.what): \(refused.code): \(refused.detail)"] }
        let share = self.reportPerMillion.flatMap { SigningSummary.share($0) }
        return [
            "\(self.type == "root" ? "root" : "list") \(self.version ?? 0) of \(self.name ?? "")",
            "issued \(self.issuedAt ?? ""), expires \(self.expiresAt ?? "")",
            "payload SHA-256 \(self.payloadSHA256 ?? "")",
        ] + (share.map { [$0] } ?? []) + self.demands.map { Self.line(of: $0) }
            + self.signers.map { "signed by \($0.keyid) \($0.algorithm)" }
    }

    private static func line(of demand: Demand) -> String {
        let name = demand.hybrid ? "root \(demand.root), hybrid" : "root \(demand.root)"
        let end = demand.demanded ? "" : ", which clients like this one do not ask for"
        return "\(name): \(demand.signed) of \(demand.threshold) signatures\(end)"
    }

    /// The demands of some roots, and the keys that signed by them.
    private static func counted(
        _ envelope: Envelope, _ kind: MetadataRole, under roots: [Root]
    ) -> ([Demand], [Signer]) {
        let demands = roots.flatMap { SignatureDemand.all(kind, of: $0) }
        let counts = demands.map { demand in
            Demand(
                root: demand.rootVersion, hybrid: demand.isHybrid, threshold: demand.threshold,
                signed: demand.signers(of: envelope).count, demanded: demand.isMadeHere)
        }
        let signers = envelope.signers(among: demands.flatMap(\.keys))
        return (counts, signers.map { Signer(keyid: $0.keyID, algorithm: $0.algorithm.rawValue) })
    }
}
