// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An envelope whose signatures held. Only checking them makes one, so whoever has one may parse its payload.
struct VerifiedEnvelope: Sendable {
    /// The envelope.
    let envelope: Envelope

    /// Who signed it, as far as that was asked.
    private var ledger: SignatureLedger

    /// What is demanded of a role.
    enum Demanded: Hashable, Sendable {
        /// The first demand alone: of what an app ships, and for saying what is current.
        case first
        /// The hybrid demand as well, where all of its keys can be verified here: of what comes from outside.
        case both
    }

    /// Checks an envelope against a role of a root.
    ///
    /// - Throws: ``MetadataError``: `unsigned` or `threshold-not-met`.
    init(
        _ envelope: Envelope, _ kind: MetadataRole, by role: Role, of root: Root, demanding: Demanded
    ) throws(MetadataError) {
        try self.init(envelope, kind, anyOf: [root], demanding: demanding) { _ in role }
    }

    /// Checks an envelope against the same role of several roots: one that holds is enough, and the first one names
    /// the refusal.
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

    /// How many keys of each demand signed, the first demand first.
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
    /// the newest root, or by a key that no root held knows. A root to come may know it, and then it is what keeps the
    /// list current (formats.md, section 3.3).
    ///
    /// Only signatures that hold under nothing but keys of older roots are no loss. Which key a signature names proves
    /// nothing, so one that holds under no key is the same only byte for byte.
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
