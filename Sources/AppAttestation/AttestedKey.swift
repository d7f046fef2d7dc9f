// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto

/// The public key of an installation: P-256, its private half in the device's Secure Enclave.
public struct AttestedKey: Hashable, Sendable {
    /// The key as an uncompressed point: 65 bytes (ANSI X9.63).
    public let x963: [UInt8]

    /// The DER before the point in a SubjectPublicKeyInfo of P-256 (RFC 5480).
    private static let subjectPublicKeyInfoPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce,
        0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// Takes an uncompressed point; `nil` for bytes that are none on the curve.
    public init?(x963 bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 65, (try? P256.Signing.PublicKey(x963Representation: bytes)) != nil else { return nil }
        self.x963 = bytes
    }

    /// Takes a SubjectPublicKeyInfo in DER; `nil` for another kind of key.
    public init?(subjectPublicKeyInfo bytes: some Collection<UInt8>) {
        guard bytes.starts(with: Self.subjectPublicKeyInfoPrefix) else { return nil }
        self.init(x963: bytes.dropFirst(Self.subjectPublicKeyInfoPrefix.count))
    }

    /// The key as a SubjectPublicKeyInfo in DER: 91 bytes.
    public var subjectPublicKeyInfo: [UInt8] { Self.subjectPublicKeyInfoPrefix + self.x963 }

    /// The key's id: the SHA-256 of ``x963``, 32 bytes.
    public var id: [UInt8] { Array(SHA256.hash(data: self.x963)) }

    /// Whether a signature of ECDSA with SHA-256, in DER, over a message holds.
    func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: self.x963),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: message)
    }
}
#endif
