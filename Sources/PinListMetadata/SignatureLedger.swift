// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Which keys signed an envelope. Each key is tried at most once for each signature, and its answer is kept.
struct SignatureLedger: Sendable {
    private var answers: [String: Bool] = [:]

    /// Whether a key signed the envelope.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - envelope: The envelope, asked for only when the key was not tried before; always the same one.
    mutating func isSigned(by key: MetadataKey, _ envelope: Envelope) -> Bool {
        if let answer = self.answers[key.keyID] { return answer }
        let message = envelope.signedBytes
        // A matching hint first; it saves work, and decides nothing.
        let hinted = envelope.signatures.filter { $0.keyID == key.keyID }
        let others = envelope.signatures.filter { $0.keyID != key.keyID }
        let answer = (hinted + others).contains { key.isValidSignature($0.bytes, for: message) }
        self.answers[key.keyID] = answer
        return answer
    }

    /// How many of some keys signed the envelope. A key counts once, however often it signed or is named.
    mutating func signerCount(among keys: [MetadataKey], _ envelope: Envelope) -> Int {
        Set(keys).count { self.isSigned(by: $0, envelope) }
    }
}

extension Envelope {
    /// The keys that signed this, in the order in which they are given, each once.
    ///
    /// - Parameter keys: Those that are known; signatures by others are ignored.
    public func signers(among keys: [MetadataKey]) -> [MetadataKey] {
        var ledger = SignatureLedger()
        var seen = Set<MetadataKey>()
        return keys.filter { seen.insert($0).inserted && ledger.isSigned(by: $0, self) }
    }
}
