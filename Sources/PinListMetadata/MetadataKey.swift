// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto

/// A public key that signs metadata. The algorithm belongs to the key; no message chooses it (formats.md, section 3).
///
/// A key is its algorithm and its bytes: the same bytes under another algorithm are another key, of the same key id.
/// A key of an algorithm that is unknown here is kept and verifies nothing, so that a root that has one can be followed.
public struct MetadataKey: Hashable, Sendable {
    private enum Verifier: Sendable {
        case p256(P256.Signing.PublicKey)
        case ed25519(Curve25519.Signing.PublicKey)
        case mlDSA65(MLDSA65Verifier)
    }

    /// The signature algorithm.
    public let algorithm: Algorithm

    /// The DER SubjectPublicKeyInfo; for an unknown algorithm the bytes as they are in the root.
    public let subjectPublicKeyInfo: [UInt8]

    /// The lower-case hex SHA-256 of ``subjectPublicKeyInfo``.
    public let keyID: String

    /// The verifier; `nil` where the algorithm is not supported here.
    private let verifier: Verifier?

    /// Whether signatures of the key can be verified here. Otherwise no signature of it is valid.
    public var isVerifiable: Bool { self.verifier != nil }

    /// The DER prefix of a P-256 key in its one form: a named curve, uncompressed. 91 bytes with the coordinates.
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    /// The DER prefix of an Ed25519 key in its one form. 44 bytes with the point.
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// The DER prefix of an ML-DSA-65 key in its one form (RFC 9881, section 4: no parameters). 1,974 bytes with the
    /// key.
    private static let mlDSA65Prefix: [UInt8] = [
        0x30, 0x82, 0x07, 0xB2, 0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x12, 0x03,
        0x82, 0x07, 0xA1, 0x00,
    ]

    /// The length of an ML-DSA-65 key without its DER prefix (FIPS 204, table 2).
    private static let mlDSA65Length = 1_952

    /// Creates a key from DER, which must be the one form of a known algorithm.
    ///
    /// - Returns: `nil` for any other form, and for a point that is not on the curve.
    public init?(subjectPublicKeyInfo der: [UInt8]) {
        let algorithms = Algorithm.allCases.lazy
        guard let key = algorithms.compactMap({ MetadataKey(algorithm: $0, publicKey: der) }).first else { return nil }
        self = key
    }

    /// Creates a key as a root names it.
    ///
    /// - Parameters:
    ///   - algorithm: The signature algorithm. The bytes of a known one must be in its one form: with two ways to write
    ///     a key, one key could count twice. Those of an unknown one are not parsed.
    ///   - bytes: The bytes.
    ///   - algorithms: The algorithms that are verified. The form of keys of other known algorithms is checked, and
    ///     they verify nothing.
    /// - Returns: `nil` for any other form, and for a point that is not on the curve.
    public init?(
        algorithm: Algorithm, publicKey bytes: [UInt8], verifying algorithms: Set<Algorithm> = Algorithm.verifiable
    ) {
        var verifier: Verifier?
        switch algorithm {
        case .ecdsaP256SHA256:
            guard bytes.starts(with: Self.p256Prefix), bytes.count == Self.p256Prefix.count + 64,
                let key = try? P256.Signing.PublicKey(x963Representation: bytes.suffix(65))
            else { return nil }
            verifier = .p256(key)
        case .ed25519:
            guard bytes.starts(with: Self.ed25519Prefix), bytes.count == Self.ed25519Prefix.count + 32,
                Self.isCanonical(bytes.suffix(32)), !Self.isOfSmallOrder(bytes.suffix(32)),
                let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes.suffix(32))
            else { return nil }
            verifier = .ed25519(key)
        case .mlDSA65:
            guard bytes.starts(with: Self.mlDSA65Prefix),
                bytes.count == Self.mlDSA65Prefix.count + Self.mlDSA65Length
            else { return nil }
            verifier = MLDSA65Verifier(bytes.suffix(Self.mlDSA65Length)).map { .mlDSA65($0) }
        default: break
        }
        self.algorithm = algorithm
        self.verifier = algorithms.contains(algorithm) ? verifier : nil
        self.subjectPublicKeyInfo = bytes
        self.keyID = Hexadecimal.text(of: SHA256.hash(data: bytes))
    }

    /// Whether the y coordinate is below 2^255 - 19: RFC 8032, section 5.1.3, allows no other, but some libraries
    /// accept one.
    private static func isCanonical(_ point: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(point)
        let isHigh = bytes[31] & 0x7F == 0x7F && bytes[1...30].allSatisfy { $0 == 0xFF }
        return !isHigh || bytes[0] < 0xED
    }

    /// Whether a point has an order that divides 8: under such a key there are signatures that no signer made.
    private static func isOfSmallOrder(_ point: ArraySlice<UInt8>) -> Bool {
        var y = Array(point)
        y[31] &= 0x7F
        return self.smallOrders.contains(y)
    }

    /// The y coordinates of the eight points of small order, little-endian (RFC 7748 calls their subgroup the torsion).
    private static let smallOrders: Set<[UInt8]> = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0, 0xD5, 0xDF,
            0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F, 0x2A, 0x20,
            0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]

    /// Whether a signature of this key over a message holds.
    ///
    /// - Parameters:
    ///   - signature: The raw bytes, ``Algorithm/signatureLength`` of them; any other length is invalid.
    ///   - message: The bytes that were signed, for an envelope ``Envelope/signedBytes``.
    public func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let verifier, signature.count == self.algorithm.signatureLength else { return false }
        switch verifier {
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: message)
        case .ed25519(let key): return key.isValidSignature(signature, for: message)
        case .mlDSA65(let key): return key.isValidSignature(signature, for: message)
        }
    }

    /// The same, for a message that is hashed or assembled once for all signatures.
    func isValidSignature(_ signature: [UInt8], for message: inout SignedMessage) -> Bool {
        guard let verifier, signature.count == self.algorithm.signatureLength else { return false }
        switch verifier {
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: message.digest())
        case .ed25519(let key): return key.isValidSignature(signature, for: message.bytes())
        case .mlDSA65(let key): return key.isValidSignature(signature, for: message.bytes())
        }
    }

    /// Equal when algorithm and encoding are: each key has only one. The key id alone says nothing of the algorithm.
    public static func == (left: MetadataKey, right: MetadataKey) -> Bool {
        left.algorithm == right.algorithm && left.keyID == right.keyID
    }

    /// Feeds the algorithm and the key id.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.algorithm)
        hasher.combine(self.keyID)
    }
}

/// Lower-case hexadecimal, as key ids and digests are written.
public enum Hexadecimal {
    /// Two characters for each byte.
    public static func text(of bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            text.append(Self.digit(byte >> 4))
            text.append(Self.digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + (value - 10)
    }
}
