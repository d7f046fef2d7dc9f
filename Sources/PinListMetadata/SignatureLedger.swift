// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The keys that signed an envelope. Each key is tried at most once for each signature, and the result is kept.
///
/// An answer belongs to the key, which is its algorithm and its bytes: roots may give the same bytes, and so the same key
/// id, different algorithms, and a signature that is valid under one says nothing of the other.
struct SignatureLedger: Sendable {
    private var answers: [MetadataKey: Bool] = [:]

    /// Whether a key signed the envelope.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - message: The signed message, used only when the key was not tried before; always the same one.
    mutating func isSigned(by key: MetadataKey, _ message: inout SignedMessage) -> Bool {
        if let answer = self.answers[key] { return answer }
        var answer = false
        for signature in message.signatures(hintedAt: key.keyID)
        where key.isValidSignature(signature.bytes, for: &message) {
            answer = true
            break
        }
        self.answers[key] = answer
        return answer
    }

    /// The number of keys that signed the envelope. A key counts once, even if it signed or is named several times.
    mutating func signerCount(among keys: [MetadataKey], _ message: inout SignedMessage) -> Int {
        var count = 0
        for key in Set(keys) where self.isSigned(by: key, &message) { count += 1 }
        return count
    }
}

extension Envelope {
    /// The keys that signed this, in the order in which they are given, each once.
    ///
    /// - Parameter keys: The known keys; signatures by others are ignored.
    public func signers(among keys: [MetadataKey]) -> [MetadataKey] {
        var ledger = SignatureLedger()
        var message = SignedMessage(self)
        var seen = Set<MetadataKey>()
        var signers: [MetadataKey] = []
        for key in keys where seen.insert(key).inserted && ledger.isSigned(by: key, &message) { signers.append(key) }
        return signers
    }
}
