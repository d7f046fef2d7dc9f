// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// The message under the signatures of an envelope. A peer chooses the number of signatures and the length of the
/// payload, so the message is hashed or copied once for all of them.
struct SignedMessage {
    private let envelope: Envelope
    private var heldDigest: SHA256Digest?
    private var heldBytes: [UInt8]?

    init(_ envelope: Envelope) { self.envelope = envelope }

    /// The signatures, the hinted ones first; the hint saves work, and decides nothing.
    func signatures(hintedAt keyID: String) -> [Envelope.Signature] {
        let hinted = self.envelope.signatures.filter { $0.keyID == keyID }
        return hinted + self.envelope.signatures.filter { $0.keyID != keyID }
    }

    /// The SHA-256 of ``Envelope/signedBytes``, computed without assembling them.
    mutating func digest() -> SHA256Digest {
        if let heldDigest { return heldDigest }
        var hash = SHA256()
        hash.update(data: self.envelope.signedPrefix)
        hash.update(data: self.envelope.payload)
        let digest = hash.finalize()
        self.heldDigest = digest
        return digest
    }

    /// ``Envelope/signedBytes``, for an algorithm that reads them twice.
    mutating func bytes() -> [UInt8] {
        if let heldBytes { return heldBytes }
        let bytes = self.envelope.signedBytes
        self.heldBytes = bytes
        return bytes
    }
}
