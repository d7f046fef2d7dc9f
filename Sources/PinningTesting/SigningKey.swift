// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import PinListMetadata

/// A private key that signs metadata in tests. It is in memory and made from a seed: never trust it outside of tests.
public struct SigningKey: Sendable {
    private enum Signer: Sendable {
        case p256(P256.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
        /// Behind a closure, because a case cannot be of a type that older systems lack.
        case mlDSA65(@Sendable ([UInt8]) throws -> [UInt8])
        /// Of an algorithm that is not known here: a tag of some length that cannot be checked.
        case unknown([UInt8], length: Int)
    }

    /// The length of keys and signatures of unknown algorithms in bytes, which no known algorithm has.
    private static let unknownLength = 2_420

    private let signer: Signer

    /// The public half, as a root holds it.
    public let publicKey: MetadataKey

    /// The id of the public half.
    public var keyID: String { self.publicKey.keyID }

    private static let mlDSA65Prefix: [UInt8] = [
        0x30, 0x82, 0x07, 0xB2, 0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x12, 0x03,
        0x82, 0x07, 0xA1, 0x00,
    ]

    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - algorithm: The signature algorithm. For an unknown one the key cannot be verified, like a key of a later
    ///     algorithm in today's clients.
    ///   - random: The source of its bytes; a ``SeededGenerator`` makes the same key again.
    public init(_ algorithm: MetadataKey.Algorithm = .ecdsaP256SHA256, using random: inout SeededGenerator) {
        while true {
            let secret = random.bytes(32)
            switch algorithm {
            case .ecdsaP256SHA256:
                // A number that is not a scalar of the curve practically never occurs.
                guard let key = try? P256.Signing.PrivateKey(rawRepresentation: secret),
                    let publicKey = MetadataKey(subjectPublicKeyInfo: Array(key.publicKey.derRepresentation))
                else { continue }
                self.signer = .p256(key)
                self.publicKey = publicKey
            case .ed25519:
                guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: secret),
                    let publicKey = MetadataKey(
                        subjectPublicKeyInfo: Self.ed25519Prefix + Array(key.publicKey.rawRepresentation))
                else { continue }
                self.signer = .ed25519(key)
                self.publicKey = publicKey
            case .mlDSA65:
                if #available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                    guard let key = try? MLDSA65.PrivateKey(seedRepresentation: secret, publicKey: nil),
                        let publicKey = MetadataKey(
                            subjectPublicKeyInfo: Self.mlDSA65Prefix + Array(key.publicKey.rawRepresentation))
                    else { continue }
                    self.signer = .mlDSA65 { message in Array(try key.signature(for: message)) }
                    self.publicKey = publicKey
                } else {
                    let bytes = Self.mlDSA65Prefix + random.bytes(1_952)
                    guard let publicKey = MetadataKey(algorithm: algorithm, publicKey: bytes) else { continue }
                    self.signer = .unknown(secret, length: 3_309)
                    self.publicKey = publicKey
                }
            default:
                let bytes = random.bytes(Self.unknownLength)
                guard let publicKey = MetadataKey(algorithm: algorithm, publicKey: bytes) else { continue }
                self.signer = .unknown(secret, length: Self.unknownLength)
                self.publicKey = publicKey
            }
            return
        }
    }

    /// Signs a message.
    ///
    /// - Returns: The raw bytes of the algorithm. For P-256 and ML-DSA they differ each time.
    public func signature(over message: [UInt8]) throws -> [UInt8] {
        switch self.signer {
        case .p256(let key): try Array(key.signature(for: message).rawRepresentation)
        case .ed25519(let key): try Array(key.signature(for: message))
        case .mlDSA65(let sign): try sign(message)
        case .unknown(let secret, let length): Self.tag(secret, message, length)
        }
    }

    private static func tag(_ secret: [UInt8], _ message: [UInt8], _ length: Int) -> [UInt8] {
        let code = Array(HMAC<SHA512>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
        return (0..<length).map { code[$0 % code.count] }
    }
}

extension Envelope {
    /// Adds a signature over the payload and its type.
    ///
    /// - Parameters:
    ///   - key: The key that signs.
    ///   - hint: The key id in the envelope; by default the right one.
    public mutating func sign(by key: SigningKey, hint: String? = nil) throws {
        self.signatures.append(
            Signature(keyID: hint ?? key.keyID, bytes: try key.signature(over: self.signedBytes)))
    }

    /// An envelope that some keys have signed.
    public init(of kind: MetadataRole, payload: [UInt8], signedBy keys: [SigningKey]) throws {
        self.init(payloadType: Self.payloadType(of: kind), payload: payload)
        for key in keys { try self.sign(by: key) }
    }
}
