// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An envelope with verified signatures. Only verification creates one, so its payload may be parsed.
struct VerifiedEnvelope: Sendable {
    /// The envelope.
    let envelope: Envelope

    /// The keys that signed it, as far as they were checked.
    private var ledger: SignatureLedger

    /// The demands of a role that are checked.
    enum Demanded: Hashable, Sendable {
        /// The first demand alone: for what an app ships, and for the status of a list.
        case first
        /// The hybrid demand as well, where all of its keys can be verified here: for metadata from outside.
        case both
    }

    /// Verifies an envelope under a role of a root.
    ///
    /// - Throws: ``MetadataError``: `unsigned` or `threshold-not-met`.
    init(
        _ envelope: Envelope, _ kind: MetadataRole, by role: Role, of root: Root, demanding: Demanded
    ) throws(MetadataError) {
        try self.init(envelope, kind, anyOf: [root], demanding: demanding) { _ in role }
    }

    /// Verifies an envelope under the same role of several roots. One root is enough; the refusal is that of the first.
    init(
        _ envelope: Envelope, _ kind: MetadataRole, anyOf roots: [Root], demanding: Demanded,
        _ role: (Root) -> Role
    ) throws(MetadataError) {
        var ledger = SignatureLedger()
        var message = SignedMessage(envelope)
        var refusal = MetadataError(kind, .unsigned, "there is no root")
        for (index, root) in roots.enumerated() {
            let counts = Self.counts(role(root), of: root, demanding, &ledger, &message)
            if counts.allSatisfy({ $0.signers >= $0.threshold }) {
                self.envelope = envelope
                self.ledger = ledger
                return
            }
            if index == 0 {
                let hybrid = counts.dropFirst().map { ", and by \($0.signers) of the \($0.threshold) hybrid ones" }
                refusal = MetadataError(
                    kind, counts.allSatisfy { $0.signers == 0 } ? .unsigned : .thresholdNotMet,
                    "signed by \(counts[0].signers) of the \(counts[0].threshold) keys that root \(root.version) asks for"
                        + hybrid.joined())
            }
        }
        throw refusal
    }

    /// Whether the envelope meets a role, too.
    mutating func meets(_ role: Role, of root: Root, demanding: Demanded) -> Bool {
        var message = SignedMessage(self.envelope)
        return Self.counts(role, of: root, demanding, &self.ledger, &message).allSatisfy { $0.signers >= $0.threshold }
    }

    /// The number of keys that signed, for each demand, the first demand first.
    private static func counts(
        _ role: Role, of root: Root, _ demanding: Demanded, _ ledger: inout SignatureLedger,
        _ message: inout SignedMessage
    ) -> [(signers: Int, threshold: Int)] {
        let hybrid = demanding == .both ? root.hybridDemand(of: role) : nil
        var counts: [(signers: Int, threshold: Int)] = []
        for demand in [role.first, hybrid].compactMap({ $0 }) {
            counts.append((ledger.signerCount(among: root.keys(of: demand), &message), demand.threshold))
        }
        return counts
    }

    /// The keys of a role that signed the envelope, in its order.
    mutating func signers(_ role: Role, of root: Root) -> [MetadataKey] {
        var message = SignedMessage(self.envelope)
        var signers: [MetadataKey] = []
        for key in root.keys(of: role) where self.ledger.isSigned(by: key, &message) { signers.append(key) }
        return signers
    }

    /// Whether this lacks a signature of another envelope over the same payload that may still be needed: by a key of
    /// the newest root, or by a key that no root held knows. A later root may know it, and then that signature keeps
    /// the list current (formats.md, section 3.3, step 3d).
    ///
    /// Only a signature that is valid under keys of older roots alone is no loss. The key id of a signature proves
    /// nothing, so a signature that is valid under no known key is compared byte for byte.
    func lacksSignature(of other: VerifiedEnvelope, under chain: RootChain) -> Bool {
        var (mine, others) = (self.ledger, other.ledger)
        var message = SignedMessage(self.envelope)
        var otherMessage = SignedMessage(other.envelope)
        for key in chain.newest.keys.values where others.isSigned(by: key, &otherMessage) {
            guard mine.isSigned(by: key, &message) else { return true }
        }
        let kept = Set(self.envelope.signatures.map(\.bytes))
        let keys = Set(chain.held.flatMap { $0.root.keys.values })
        for signature in Set(other.envelope.signatures.map(\.bytes)) where !kept.contains(signature) {
            guard keys.contains(where: { $0.isValidSignature(signature, for: &otherMessage) }) else { return true }
        }
        return false
    }
}
