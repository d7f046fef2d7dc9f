// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The positions of the parts of a DER certificate that this library reads, found by one walk over borrowed bytes.
///
/// The SubjectPublicKeyInfo is sliced out as it stands and never rebuilt from a parsed key, so that a pin equals
/// openssl's for every algorithm, also for algorithms that no library here supports. The walk is strict, so that no
/// second parser can find another key in the same bytes: DER lengths alone, each structure filled to its last byte,
/// nothing after the certificate (CVE-2026-87866 was a second parse that differed).
public struct CertificateFields: Hashable, Sendable {
    /// The maximum length of a certificate in bytes. The largest on the public web are below 10,000; TLS itself would
    /// allow 16 MiB.
    public static let maximumCertificateLength = 65_536

    /// The TBSCertificate, its header included: the bytes that are signed.
    public var toBeSigned: Range<Int> { Self.range(self.toBeSignedStart, self.toBeSignedEnd) }

    /// The serial number's contents.
    public var serialNumber: Range<Int> { Self.range(self.serialNumberStart, self.signatureStart) }

    /// The AlgorithmIdentifier among the signed bytes, its header included (RFC 5280, section 4.1.2.3).
    public var signature: Range<Int> { Self.range(self.signatureStart, self.issuerStart) }

    /// The AlgorithmIdentifier beside the signed bytes, its header included (RFC 5280, section 4.1.1.2).
    public var signatureAlgorithm: Range<Int> { Self.range(self.toBeSignedEnd, self.signatureAlgorithmEnd) }

    /// The issuer's Name, its header included.
    public var issuer: Range<Int> { Self.range(self.issuerStart, self.validityStart) }

    /// The Validity, its header included.
    public var validity: Range<Int> { Self.range(self.validityStart, self.subjectStart) }

    /// The subject's Name, its header included.
    public var subject: Range<Int> { Self.range(self.subjectStart, self.keyStart) }

    /// The SubjectPublicKeyInfo, its header included.
    public var subjectPublicKeyInfo: Range<Int> { Self.range(self.keyStart, self.keyEnd) }

    /// The issuer's and the subject's unique identifiers (RFC 5280, section 4.1.2.8), headers included; mostly empty.
    public var uniqueIdentifiers: Range<Int> { Self.range(self.keyEnd, self.identifiersEnd) }

    // The elements follow one another, so that where one ends the next begins. Eleven numbers of 32 bits are kept, and
    // not nine ranges: the processor holds most of them in registers while it walks.
    let toBeSignedStart: UInt32
    let toBeSignedEnd: UInt32
    let signatureAlgorithmEnd: UInt32
    let serialNumberStart: UInt32
    let signatureStart: UInt32
    let issuerStart: UInt32
    let validityStart: UInt32
    let subjectStart: UInt32
    let keyStart: UInt32
    let keyEnd: UInt32
    let identifiersEnd: UInt32

    @inline(__always)
    private static func range(_ start: UInt32, _ end: UInt32) -> Range<Int> {
        Range(uncheckedBounds: (Int(start), Int(end)))
    }

    /// Walks a certificate (RFC 5280, section 4.1). Allocates nothing, and traps on no input.
    ///
    /// A certificate of the common form is walked quickly. Any other, and a damaged one, is walked again with care.
    ///
    /// - Parameter bytes: One certificate in DER, and nothing else.
    /// - Throws: The defect.
    @inline(__always)
    public init(walking bytes: RawSpan) throws(InvalidCertificateError) {
        guard bytes.byteCount <= Self.maximumCertificateLength else { throw .tooLarge }
        if let fields = CertificateFields(quicklyWalking: bytes) {
            self = fields
        } else {
            try self.init(walkingWithCare: bytes)
        }
    }

    /// Walks a certificate with care: this walk decides on all unusual certificates, and tests compare the quick walk
    /// with it.
    ///
    /// - Parameter bytes: One certificate in DER, and nothing else.
    /// - Throws: The defect.
    @inline(never)
    @_spi(Adapters) public init(walkingWithCare bytes: RawSpan) throws(InvalidCertificateError) {
        guard bytes.byteCount <= Self.maximumCertificateLength else { throw .tooLarge }
        var input = DERCursor(Range(uncheckedBounds: (0, bytes.byteCount)))
        let whole = try input.lastContents(of: DERCursor.Tag.sequence, in: bytes)

        var certificate = DERCursor(whole)
        let toBeSigned = try certificate.contents(of: DERCursor.Tag.sequence, in: bytes)
        _ = try certificate.contents(of: DERCursor.Tag.sequence, in: bytes)
        let signatureAlgorithmEnd = certificate.position
        _ = try certificate.lastContents(of: DERCursor.Tag.bitString, in: bytes)

        var fields = DERCursor(toBeSigned)
        var behind = fields
        let version = try behind.element(in: bytes)
        if version.tag == DERCursor.Tag.version {
            var number = DERCursor(version.contents)
            _ = try number.lastContents(of: DERCursor.Tag.integer, in: bytes)
            fields = behind
        }
        let serialNumber = try fields.contents(of: DERCursor.Tag.integer, in: bytes)
        _ = try fields.contents(of: DERCursor.Tag.sequence, in: bytes)
        let issuerStart = fields.position
        _ = try fields.contents(of: DERCursor.Tag.sequence, in: bytes)
        let validityStart = fields.position
        _ = try fields.contents(of: DERCursor.Tag.sequence, in: bytes)
        let subjectStart = fields.position
        _ = try fields.contents(of: DERCursor.Tag.sequence, in: bytes)
        let keyStart = fields.position
        let key = try fields.contents(of: DERCursor.Tag.sequence, in: bytes)
        // Unique identifiers and extensions: framed, not read.
        var identifiersEnd = key.upperBound
        var newest = DERCursor.Tag.issuerUniqueID &- 1
        while !fields.isAtEnd {
            let start = fields.position
            let tag = try fields.element(in: bytes).tag
            if start == identifiersEnd, tag > newest, tag <= DERCursor.Tag.subjectUniqueID {
                newest = tag
                identifiersEnd = fields.position
            }
        }

        var keyFields = DERCursor(key)
        _ = try keyFields.contents(of: DERCursor.Tag.sequence, in: bytes)
        _ = try keyFields.lastContents(of: DERCursor.Tag.bitString, in: bytes)

        self.toBeSignedStart = UInt32(truncatingIfNeeded: whole.lowerBound)
        self.toBeSignedEnd = UInt32(truncatingIfNeeded: toBeSigned.upperBound)
        self.signatureAlgorithmEnd = UInt32(truncatingIfNeeded: signatureAlgorithmEnd)
        self.serialNumberStart = UInt32(truncatingIfNeeded: serialNumber.lowerBound)
        self.signatureStart = UInt32(truncatingIfNeeded: serialNumber.upperBound)
        self.issuerStart = UInt32(truncatingIfNeeded: issuerStart)
        self.validityStart = UInt32(truncatingIfNeeded: validityStart)
        self.subjectStart = UInt32(truncatingIfNeeded: subjectStart)
        self.keyStart = UInt32(truncatingIfNeeded: keyStart)
        self.keyEnd = UInt32(truncatingIfNeeded: key.upperBound)
        self.identifiersEnd = UInt32(truncatingIfNeeded: identifiersEnd)
    }

    /// Walks a certificate held in an array.
    ///
    /// Always inlined because the compiler would otherwise split it in two, and the outer half copies the result while
    /// its bytes are still on their way to memory: that took as long as the walk.
    ///
    /// - Throws: The defect.
    @inline(__always)
    public init(walking bytes: borrowing [UInt8]) throws(InvalidCertificateError) {
        self = try bytes.withUnsafeBufferPointer { (buffer) throws(InvalidCertificateError) in
            try CertificateFields(walking: UnsafeRawBufferPointer(buffer).bytes)
        }
    }
}

/// The defect of a certificate that cannot be read.
///
/// One byte, so that a typed throw costs nothing on the way of a handshake.
public struct InvalidCertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    private let code: UInt8

    /// The certificate is longer than ``CertificateFields/maximumCertificateLength``.
    public static let tooLarge = InvalidCertificateError(code: 1)
    /// An element reaches beyond the one that holds it, or beyond the input.
    public static let truncated = InvalidCertificateError(code: 2)
    /// An indefinite length, or a length written with more bytes than it needs (X.690, section 10.1).
    public static let lengthNotDER = InvalidCertificateError(code: 3)
    /// An element of another type than RFC 5280, section 4.1, puts in its place.
    public static let unexpectedElement = InvalidCertificateError(code: 4)
    /// Bytes after the end of the certificate, or of a structure in it.
    public static let trailingBytes = InvalidCertificateError(code: 5)

    /// The defect as a sentence for people.
    public var description: String {
        switch self {
        case .tooLarge: "over \(CertificateFields.maximumCertificateLength) bytes"
        case .truncated: "an element reaches beyond its end"
        case .lengthNotDER: "a length is not DER"
        case .unexpectedElement: "not the structure of an X.509 certificate"
        default: "bytes after the end"
        }
    }
}
