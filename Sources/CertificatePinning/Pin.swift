// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The SHA-256 of a DER SubjectPublicKeyInfo, exactly as it stands in a certificate (RFC 7469, section 2.4), or of a
/// whole certificate.
///
/// A value of 33 bytes without a heap object: two pins are compared by four words.
public struct Pin: Hashable, Sendable {
    /// The hashed part: the public key or the whole certificate.
    public enum Kind: Hashable, Sendable {
        /// The SubjectPublicKeyInfo: the pin survives the renewal of a certificate with the same key.
        case publicKey
        /// The whole certificate: the pin ends when the certificate is renewed. Only where nothing else works; the
        /// linter warns about it.
        case certificate
    }

    /// The hashed part: the public key or the whole certificate.
    public let kind: Kind

    // The digest as four big-endian words: an array would cost an allocation for each pin that is seen.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// The length of a digest, in bytes.
    public static let digestLength = 32

    /// The pin with this digest.
    ///
    /// - Parameters:
    ///   - kind: The hashed part.
    ///   - digest: 32 bytes, else the result is `nil`.
    public init?(kind: Kind, digest: [UInt8]) {
        guard digest.count == Self.digestLength else { return nil }
        self.kind = kind
        self.words = digest.withUnsafeBytes { Self.words(of: $0) }
    }

    /// The pin of some bytes: a SubjectPublicKeyInfo or a certificate, as `kind` says.
    ///
    /// The bytes are hashed as they are and not parsed.
    ///
    /// Always inlined because the compiler would otherwise split it in two, and the outer half copies the pin while its
    /// bytes are still on their way to memory.
    @inline(__always)
    public init(kind: Kind, hashing bytes: UnsafeRawBufferPointer) {
        var hash = SHA256()
        hash.update(bufferPointer: bytes)
        self.kind = kind
        self.words = Self.words(of: hash.finalize())
    }

    /// The pin of some bytes: a SubjectPublicKeyInfo or a certificate, as `kind` says.
    @inline(__always)
    public init(kind: Kind, hashing bytes: borrowing [UInt8]) {
        self = bytes.withUnsafeBytes { Pin(kind: kind, hashing: $0) }
    }

    /// The 32 bytes of the hash.
    public var digest: [UInt8] {
        [self.words.0, self.words.1, self.words.2, self.words.3].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
    }

    @inline(__always)
    private static func words(of digest: SHA256Digest) -> (UInt64, UInt64, UInt64, UInt64) {
        #if os(Linux)
        // swift-crypto's digest is its 32 bytes and nothing else. Its own accessor hands out this very memory, through
        // generic code that is not specialised across modules and costs a third of the walk over a certificate.
        if MemoryLayout<SHA256Digest>.size == self.digestLength {
            // No pointer to it, because the function that makes a pin would then put the digest into memory and guard
            // its stack.
            let words = unsafeBitCast(digest, to: (UInt64, UInt64, UInt64, UInt64).self)
            return (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        }
        #endif
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        digest.withUnsafeBytes { words = self.words(of: $0) }
        return words
    }

    @inline(__always)
    private static func words(of digest: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
        }
        return (word(0), word(1), word(2), word(3))
    }

    /// Equal when kind and digest are. Pins are public, so the time that this takes is no secret.
    public static func == (left: Pin, right: Pin) -> Bool {
        left.kind == right.kind && left.words == right.words
    }

    /// Feeds the first word of the digest: a digest is evenly distributed already.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.words.0) }
}

/// Pins of certificates.
extension Pin {
    /// The pin of a certificate's public key: the SHA-256 of its SubjectPublicKeyInfo as it stands.
    ///
    /// The walk borrows the bytes and allocates nothing. It equals
    /// `openssl x509 -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256` for every key type.
    ///
    /// - Parameter certificate: One certificate in DER, and nothing else.
    /// - Throws: The defect of the certificate.
    @inline(__always)
    public init(publicKeyOf certificate: UnsafeRawBufferPointer) throws(InvalidCertificateError) {
        let fields = try CertificateFields(walking: certificate.bytes)
        // The walk has checked that the range lies within the buffer.
        self.init(kind: .publicKey, hashing: UnsafeRawBufferPointer(rebasing: certificate[fields.subjectPublicKeyInfo]))
    }

    /// The pin of a certificate's public key; the certificate is held in an array.
    ///
    /// - Throws: The defect of the certificate.
    @inline(__always)
    public init(publicKeyOf certificate: borrowing [UInt8]) throws(InvalidCertificateError) {
        self = try certificate.withUnsafeBufferPointer { (buffer) throws(InvalidCertificateError) in
            try Pin(publicKeyOf: UnsafeRawBufferPointer(buffer))
        }
    }
}
