// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import X509

/// One certificate revocation list (RFC 5280, section 5), read without an object for each of its entries.
///
/// ``RevocationLists`` verifies its signature, with the issuer's key.
struct RevocationList: Sendable {
    /// The validity of a list without `nextUpdate`, in seconds: seven days.
    static let lifetime: Int64 = 7 * 86_400

    /// The list as it was given.
    let der: [UInt8]

    /// The TBSCertList, its header included: the bytes that are signed.
    let toBeSigned: Range<Int>

    /// The signature, without the octet of a BIT STRING that says how many bits do not count.
    let signature: Range<Int>

    /// The signature algorithm; `nil` for one that is not accepted.
    let algorithm: Certificate.SignatureAlgorithm?

    /// The issuer's Name as it stands.
    var issuer: ArraySlice<UInt8> { self.der[self.issuerRange] }

    /// The time of issue (`thisUpdate`).
    let thisUpdate: Timestamp

    /// The end of its validity (`nextUpdate`).
    let nextUpdate: Timestamp

    /// The scope: the certificates that it covers.
    let scope: RevocationScope

    /// The number of revoked certificates.
    var count: Int { self.index.count }

    private let issuerRange: Range<Int>
    /// The entries by their serial numbers.
    let index: SerialIndex

    /// Reads a list. Time and memory are linear in its length, but for serial numbers that were made to collide.
    ///
    /// - Parameter der: One CertificateList in DER, and nothing else.
    /// - Throws: The defect. Reading is strict: DER alone, each structure filled to its last byte.
    init(_ der: [UInt8]) throws(InvalidCertificateError) {
        guard der.count <= RevocationLists.maximumLength else { throw .tooLarge }
        self = try der.withUnsafeBufferPointer { (buffer) throws(InvalidCertificateError) in
            try RevocationList(der, UnsafeRawBufferPointer(buffer).bytes)
        }
    }

    private init(_ der: [UInt8], _ bytes: RawSpan) throws(InvalidCertificateError) {
        typealias Tag = ElementCursor.Tag
        var input = ElementCursor(0..<bytes.byteCount)
        var whole = ElementCursor(try input.lastElement(Tag.sequence, in: bytes).contents)
        let toBeSigned = try whole.element(Tag.sequence, in: bytes)
        let algorithm = try whole.element(Tag.sequence, in: bytes)
        let signature = try whole.lastElement(Tag.bitString, in: bytes).contents
        guard signature.count > 1, der[signature.lowerBound] == 0 else { throw .unexpectedElement }

        var fields = ElementCursor(toBeSigned.contents)
        let hasExtensions = fields.nextTag(in: bytes) == Tag.integer
        if hasExtensions {
            // Version 1 is not written, and there is none above 2 (section 5.1.2.1).
            let version = try fields.element(in: bytes).contents
            guard der[version].elementsEqual([1]) else { throw .unexpectedElement }
        }
        // Only the algorithm within the signed bytes is authentic: the one outside must be the same (section 5.1.1.2).
        let inner = try fields.element(Tag.sequence, in: bytes)
        guard der[inner.range] == der[algorithm.range] else { throw .unexpectedElement }
        let issuer = try fields.element(Tag.sequence, in: bytes)
        let thisUpdate = try ElementCursor.time(try fields.element(in: bytes), in: bytes)
        var nextUpdate: Timestamp?
        if let tag = fields.nextTag(in: bytes), tag == Tag.utcTime || tag == Tag.generalizedTime {
            nextUpdate = try ElementCursor.time(try fields.element(in: bytes), in: bytes)
        }
        var scope = RevocationScope()
        var entries: Range<Int> = 0..<0
        if fields.nextTag(in: bytes) == Tag.sequence {
            entries = try fields.element(in: bytes).contents
            // A list without revoked certificates has no such member (section 5.1.2.6).
            guard !entries.isEmpty else { throw .unexpectedElement }
        }
        if !fields.isAtEnd {
            guard hasExtensions else { throw .unexpectedElement }
            try scope.read(try fields.lastElement(Tag.extensions, in: bytes).contents, in: bytes)
        }
        self.index = try Self.index(entries, &scope, mayHaveExtensions: hasExtensions, in: bytes)
        self.der = der
        self.toBeSigned = toBeSigned.range
        self.signature = signature.dropFirst()
        self.algorithm = Self.algorithms[Array(der[algorithm.range])]
        self.issuerRange = issuer.range
        self.thisUpdate = thisUpdate
        self.nextUpdate =
            nextUpdate
            ?? Timestamp(
                secondsSince1970: thisUpdate.secondsSince1970.addingReportingOverflow(Self.lifetime).partialValue)
        self.scope = scope
    }

    /// Walks all entries.
    private static func index(
        _ range: Range<Int>, _ scope: inout RevocationScope, mayHaveExtensions: Bool, in bytes: RawSpan
    ) throws(InvalidCertificateError) -> SerialIndex {
        typealias Tag = ElementCursor.Tag
        var builder = SerialIndex.Builder(bytes: range.count)
        var entries = ElementCursor(range)
        while !entries.isAtEnd {
            let entry = try entries.element(Tag.sequence, in: bytes)
            var fields = ElementCursor(entry.contents)
            let serial = try fields.element(Tag.integer, in: bytes).contents
            guard Self.isShortest(serial, in: bytes),
                ElementCursor.hasFormOfTime(try fields.element(in: bytes), in: bytes)
            else { throw .unexpectedElement }
            if !fields.isAtEnd {
                guard mayHaveExtensions else { throw .unexpectedElement }
                try scope.readEntry(try fields.lastElement(Tag.sequence, in: bytes).contents, in: bytes)
            }
            builder.add(entry.start, serial: serial, in: bytes)
        }
        return SerialIndex(builder, in: bytes)
    }

    /// Whether the contents of an INTEGER are the one form that DER has for it.
    @inline(__always)
    private static func isShortest(_ contents: Range<Int>, in bytes: RawSpan) -> Bool {
        guard contents.count > 1 else { return contents.count == 1 }
        let start = UInt16(
            bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: contents.lowerBound, as: UInt16.self))
        return start & 0xff80 != 0 && start & 0xff80 != 0xff80
    }

    /// The AlgorithmIdentifiers of the signatures that are accepted, as for certificates, in the one form that each has.
    private static let algorithms: [[UInt8]: Certificate.SignatureAlgorithm] = {
        func rsa(_ number: UInt8) -> [UInt8] {
            [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, number, 0x05, 0x00]
        }
        func ecdsa(_ number: UInt8) -> [UInt8] {
            [0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, number]
        }
        return [
            rsa(11): .sha256WithRSAEncryption, rsa(12): .sha384WithRSAEncryption, rsa(13): .sha512WithRSAEncryption,
            ecdsa(2): .ecdsaWithSHA256, ecdsa(3): .ecdsaWithSHA384, ecdsa(4): .ecdsaWithSHA512,
            [0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70]: .ed25519,
        ]
    }()

    /// Whether the signature is the issuer's.
    func isSigned(by issuer: CandidateCertificate) -> Bool {
        guard let algorithm else { return false }
        return issuer.certificate.publicKey.isValidSignature(
            self.der[self.signature], for: self.der[self.toBeSigned], signatureAlgorithm: algorithm)
    }

    /// The entry with a serial number; `nil` where there is none.
    ///
    /// - Parameter serial: The content octets, compared as they stand.
    func revocation(of serial: some Collection<UInt8>) -> Revocation? {
        self.der.withUnsafeBufferPointer { buffer in
            let bytes = UnsafeRawBufferPointer(buffer).bytes
            guard let start = self.index.entry(with: serial, in: bytes) else { return nil }
            var cursor = ElementCursor(start..<bytes.byteCount)
            // The entry was walked before; without a date it is revoked all the same.
            guard let entry = try? cursor.element(in: bytes) else { return Revocation(since: nil, reason: nil) }
            var fields = ElementCursor(entry.contents)
            _ = try? fields.element(in: bytes)
            let date = try? fields.element(in: bytes)
            let extensions = fields.isAtEnd ? nil : try? fields.element(in: bytes).contents
            return Revocation(
                since: date.flatMap { try? ElementCursor.time($0, in: bytes) },
                reason: extensions.flatMap { RevocationScope.reason(in: $0, of: bytes) })
        }
    }
}

/// The revocation of a certificate.
public struct Revocation: Hashable, Sendable {
    /// The time of revocation; `nil` where the list gives an impossible date.
    public let since: Timestamp?

    /// The reason code of RFC 5280, section 5.3.1, such as `keyCompromise`; `nil` where the list does not say.
    public let reason: String?
}
#endif
