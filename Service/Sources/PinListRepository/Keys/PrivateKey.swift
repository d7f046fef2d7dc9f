// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import PinListMetadata

/// A private key in memory: one that signs metadata, or one whose pin goes out as a backup before it serves TLS.
public struct PrivateKey: Sendable {
    /// The algorithms of keys that can be made.
    public enum Algorithm: String, Hashable, Sendable, CaseIterable {
        /// ECDSA over P-256: metadata, TLS.
        case p256
        /// Ed25519: metadata.
        case ed25519
        /// RSA of 2048 bits: TLS.
        case rsa2048
        /// RSA of 3072 bits: TLS.
        case rsa3072
        /// ECDSA over P-384: TLS.
        case p384
        /// ML-DSA-65: metadata, beside a key of today.
        case mlDSA65 = "ml-dsa-65"
    }

    /// The key as swift-crypto has it.
    enum Material: Sendable {
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey)
        case mlDSA65(MLDSA65PrivateKey)
    }

    let material: Material

    init(_ material: Material) { self.material = material }

    /// Makes a key, with the randomness of the system.
    ///
    /// - Throws: ``RepositoryError`` where RSA or ML-DSA cannot be had.
    public init(new algorithm: Algorithm) throws(RepositoryError) {
        switch algorithm {
        case .p256: self.init(.p256(P256.Signing.PrivateKey()))
        case .p384: self.init(.p384(P384.Signing.PrivateKey()))
        case .ed25519: self.init(.ed25519(Curve25519.Signing.PrivateKey()))
        case .rsa2048: self.init(.rsa(try Self.rsa(.bits2048)))
        case .rsa3072: self.init(.rsa(try Self.rsa(.bits3072)))
        case .mlDSA65: self.init(.mlDSA65(try Self.newMLDSA65()))
        }
    }

    private static func rsa(_ size: _RSA.Signing.KeySize) throws(RepositoryError) -> _RSA.Signing.PrivateKey {
        do { return try _RSA.Signing.PrivateKey(keySize: size) } catch {
            throw RepositoryError(.metadata, "an RSA key of \(size.bitCount) bits cannot be made here")
        }
    }

    private static func newMLDSA65() throws(RepositoryError) -> MLDSA65PrivateKey {
        do { return try MLDSA65PrivateKey() } catch {
            throw RepositoryError(
                .metadata, "an ML-DSA-65 key cannot be made here: \(error)", hint: (error as? ParsingError)?.hint)
        }
    }

    /// The kind of key in words: `P-256`.
    public var kind: String {
        switch self.material {
        case .p256: "P-256"
        case .p384: "P-384"
        case .ed25519: "Ed25519"
        case .rsa(let key): "RSA \(key.keySizeInBits)"
        case .mlDSA65: "ML-DSA-65"
        }
    }

    /// The public key: DER SubjectPublicKeyInfo. Its SHA-256 is the key's pin, and, in hex, its id.
    public var subjectPublicKeyInfo: [UInt8] {
        switch self.material {
        case .p256(let key): Array(key.publicKey.derRepresentation)
        case .p384(let key): Array(key.publicKey.derRepresentation)
        case .ed25519(let key): PublicKeyForm.ed25519(point: Array(key.publicKey.rawRepresentation))
        case .rsa(let key): Array(key.publicKey.derRepresentation)
        case .mlDSA65(let key): PublicKeyForm.mlDSA65(key: key.publicKey)
        }
    }

    /// Signs metadata.
    ///
    /// - Parameter message: The bytes, not their hash.
    /// - Returns: The raw bytes of the key's algorithm: 64, and 3,309 of ML-DSA-65.
    /// - Throws: ``RepositoryError`` for a key that does not sign metadata.
    public func signature(over message: [UInt8]) throws(RepositoryError) -> [UInt8] {
        do {
            switch self.material {
            case .p256(let key): return Array(try key.signature(for: message).rawRepresentation)
            case .ed25519(let key): return Array(try key.signature(for: message))
            case .mlDSA65(let key): return try key.signature(over: message)
            case .p384, .rsa: break
            }
        } catch {
            throw RepositoryError(.signer, "the key cannot sign: \(error)")
        }
        throw RepositoryError(
            .signer, "a key of \(self.kind) does not sign metadata", hint: "keys of P-256, Ed25519 and ML-DSA-65 do")
    }
}
