// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto
@_spi(Adapters) internal import PinListClient
internal import PinListMetadata

/// A key that signs a trial's certificates or lists, and is forgotten with it.
struct TrialKey: Sendable {
    private enum Signer: Sendable {
        case p256(P256.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    private let signer: Signer

    /// The public half as a DER SubjectPublicKeyInfo.
    let subjectPublicKeyInfo: [UInt8]

    /// Makes a key.
    ///
    /// - Returns: `nil` when there is none: one number in 2^32 is no scalar of P-256.
    init?(_ algorithm: MetadataKey.Algorithm = .ecdsaP256SHA256, _ randomness: any PinningRandomness) {
        let secret = randomness.bytes(32)
        switch algorithm {
        case .ecdsaP256SHA256:
            guard let key = try? P256.Signing.PrivateKey(rawRepresentation: secret) else { return nil }
            self.signer = .p256(key)
            self.subjectPublicKeyInfo = Array(key.publicKey.derRepresentation)
        case .ed25519:
            guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: secret) else { return nil }
            self.signer = .ed25519(key)
            self.subjectPublicKeyInfo = DERWriter.sequence(
                DERWriter.sequence(DERWriter.identifier(0x2B, 0x65, 0x70)),
                DERWriter.bits(Array(key.publicKey.rawRepresentation)))
        default: return nil
        }
    }

    /// A signature of 64 raw bytes, as envelopes have it.
    func signature(over message: [UInt8]) -> [UInt8]? {
        switch self.signer {
        case .p256(let key): (try? key.signature(for: message)).map { Array($0.rawRepresentation) }
        case .ed25519(let key): (try? key.signature(for: message)).map { Array($0) }
        }
    }

    /// A signature as certificates have it: of a P-256 key, `ecdsa-with-SHA256` (RFC 5758, section 3.2).
    func certificateSignature(over message: [UInt8]) -> [UInt8]? {
        guard case .p256(let key) = self.signer else { return nil }
        return (try? key.signature(for: message)).map { Array($0.derRepresentation) }
    }
}
