// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Crypto

#if NIO
internal import CryptoExtras
#endif

/// A log's public key, which verifies its signatures: P-256 with SHA-256, and with the trait `NIO` RSA of at least
/// 2,048 bits.
///
/// Each key has one written form. Any other form is a key that is not supported: a log's id is the digest of that form,
/// and one key with two ids would be two logs.
struct LogKey: Hashable, Sendable {
    /// HashAlgorithm `sha256`, then SignatureAlgorithm `ecdsa` (RFC 5246, section 7.4.1.4.1).
    static let ecdsaWithSHA256: [UInt8] = [4, 3]

    /// HashAlgorithm `sha256`, then SignatureAlgorithm `rsa`.
    static let rsaWithSHA256: [UInt8] = [4, 1]

    /// The form of a P-256 key before its coordinates: a named curve, uncompressed (RFC 5480).
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    private enum Verifier: Sendable {
        case p256(P256.Signing.PublicKey)
        #if NIO
        case rsa(_RSA.Signing.PublicKey)
        #endif
    }

    /// The DER SubjectPublicKeyInfo.
    let subjectPublicKeyInfo: [UInt8]

    private let verifier: Verifier?

    /// Creates a key from any bytes; an unsupported key verifies nothing.
    init(subjectPublicKeyInfo der: [UInt8]) {
        self.subjectPublicKeyInfo = der
        self.verifier = Self.verifier(of: der)
    }

    private static func verifier(of der: [UInt8]) -> Verifier? {
        if der.starts(with: self.p256Prefix) {
            guard der.count == self.p256Prefix.count + 64 else { return nil }
            return (try? P256.Signing.PublicKey(x963Representation: der.suffix(65))).map { .p256($0) }
        }
        #if NIO
        guard let key = try? _RSA.Signing.PublicKey(derRepresentation: der), key.keySizeInBits >= 2_048,
            key.derRepresentation.elementsEqual(der)
        else { return nil }
        return .rsa(key)
        #else
        return nil
        #endif
    }

    /// The result of verifying a signature.
    enum Answer {
        case holds
        case doesNotHold
        /// The algorithm of the key or of the signature is not supported here, or they do not match.
        case unsupported
    }

    /// Verifies a signature.
    ///
    /// - Parameters:
    ///   - signature: The signature as in a timestamp: DER for ECDSA.
    ///   - algorithm: HashAlgorithm and SignatureAlgorithm, two bytes.
    ///   - message: The signed message. Not computed where the algorithm is not supported.
    func verify(_ signature: [UInt8], algorithm: [UInt8], over message: () -> [UInt8]) -> Answer {
        switch self.verifier {
        case .p256(let key) where algorithm == Self.ecdsaWithSHA256:
            guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else {
                return .doesNotHold
            }
            return key.isValidSignature(signature, for: message()) ? .holds : .doesNotHold
        #if NIO
        case .rsa(let key) where algorithm == Self.rsaWithSHA256:
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return key.isValidSignature(signature, for: message(), padding: .insecurePKCS1v1_5)
                ? .holds : .doesNotHold
        #endif
        default: return .unsupported
        }
    }

    /// Equal when the bytes are.
    static func == (left: LogKey, right: LogKey) -> Bool { left.subjectPublicKeyInfo == right.subjectPublicKeyInfo }

    /// Feeds the bytes.
    func hash(into hasher: inout Hasher) { hasher.combine(self.subjectPublicKeyInfo) }
}

/// The id of a log: the SHA-256 of its SubjectPublicKeyInfo (RFC 6962, section 3.2).
public struct LogID: Hashable, Sendable, CustomStringConvertible {
    /// The length of an id, in bytes.
    static let length = 32

    /// The 32 bytes.
    public let bytes: [UInt8]

    /// The id with these bytes; `nil` when they are not 32.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = Array(bytes)
    }

    /// The id of the log with a key.
    ///
    /// - Parameter key: The DER SubjectPublicKeyInfo, as it stands in a log list.
    public init(ofKey key: [UInt8]) { self.bytes = Array(SHA256.hash(data: key)) }

    /// Base64, as log lists write it.
    public var description: String { Base64.encode(self.bytes) }

    /// Logs whose private keys are public, put into the list that Chrome's publisher serves to libraries so that enforcing
    /// with it proves nothing (GoogleChrome/CertificateTransparency, `mimics/`, of February 2026). They count as
    /// unknown logs, even where a list names them.
    public static let traps: Set<LogID> = Set(
        [
            "9EGV1vAOLbVUNcrdV3iS5T4VrUFwWPh44U/2uRh0FYk=", "si9+3rWvav5QPeBAgbLXTBJThJL+3yyypSZQPO9TztI=",
        ].compactMap { Base64.decode($0.utf8).flatMap { LogID($0) } })
}
