// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Where the parts of a DER certificate lie that this library looks at: found by one walk over borrowed bytes.
///
/// The SubjectPublicKeyInfo is sliced out as it stands and never rebuilt from a parsed key, so that a pin equals
/// openssl's for every algorithm, those that no library here knows included. The walk is strict, so that no second
/// parser can find another key in the same bytes: DER lengths alone, each structure filled to its last byte, nothing
/// after the certificate (CVE-2026-87866 was a second parse that differed).
public struct CertificateFields: Hashable, Sendable {
    /// The longest certificate that is read, in bytes. The largest on the public web are below 10,000; TLS itself would
    /// allow 16 MiB.
    public static let maximumCertificateLength = 65_536

    /// The TBSCertificate, its header included: the bytes that are signed.
    public let toBeSigned: Range<Int>

    /// The serial number's contents.
    public let serialNumber: Range<Int>

    /// The AlgorithmIdentifier among the signed bytes, its header included (RFC 5280, section 4.1.2.3).
    public let signature: Range<Int>

    /// The AlgorithmIdentifier beside the signed bytes, its header included (RFC 5280, section 4.1.1.2).
    public let signatureAlgorithm: Range<Int>

    /// The issuer's Name, its header included.
    public let issuer: Range<Int>

    /// The Validity, its header included.
    public let validity: Range<Int>

    /// The subject's Name, its header included.
    public let subject: Range<Int>

    /// The SubjectPublicKeyInfo, its header included.
    public let subjectPublicKeyInfo: Range<Int>

    /// The issuer's and the subject's unique identifiers (RFC 5280, section 4.1.2.8), headers included; mostly empty.
    public let uniqueIdentifiers: Range<Int>

    /// Walks a certificate (RFC 5280, section 4.1). Allocates nothing, and traps on no input.
    ///
    /// A certificate as nearly all are is walked quickly. Any other, and a damaged one, is walked again with care.
    ///
    /// - Parameter bytes: One certificate in DER, and nothing else.
    /// - Throws: What is wrong with it.
    @inline(__always)
    public init(walking bytes: RawSpan) throws(CertificateDefect) {
        guard bytes.byteCount <= Self.maximumCertificateLength else { throw .tooLarge }
        do throws(CertificateDefect) {
            try self.init(walking: bytes, isQuick: true)
        } catch {
            try self.init(walkingWithCare: bytes)
        }
    }

    /// Walks a certificate without the quick way, which must give the same: for holding one against the other.
    ///
    /// - Parameter bytes: One certificate in DER, and nothing else.
    /// - Throws: What is wrong with it.
    @inline(never)
    @_spi(Adapters) public init(walkingWithCare bytes: RawSpan) throws(CertificateDefect) {
        guard bytes.byteCount <= Self.maximumCertificateLength else { throw .tooLarge }
        try self.init(walking: bytes, isQuick: false)
    }

    @inline(__always)
    private init(walking bytes: RawSpan, isQuick: Bool) throws(CertificateDefect) {
        var input = DERCursor(Range(uncheckedBounds: (0, bytes.byteCount)), isQuick: isQuick)
        let whole = try input.lastContents(of: DERCursor.Tag.sequence, in: bytes)

        var certificate = DERCursor(whole, isQuick: isQuick)
        let toBeSigned = try certificate.contents(of: DERCursor.Tag.sequence, in: bytes)
        self.toBeSigned = Range(uncheckedBounds: (whole.lowerBound, toBeSigned.upperBound))
        // The lengths of ECDSA's AlgorithmIdentifiers (RFC 5758), and of RSA's with its NULL (RFC 4055).
        self.signatureAlgorithm = try certificate.whole(DERCursor.Tag.sequence, mostly: 10, 13, in: bytes)
        _ = try certificate.lastContents(of: DERCursor.Tag.bitString, in: bytes)

        var fields = DERCursor(toBeSigned, isQuick: isQuick)
        // A version of one byte, as all certificates with extensions have it: `a0 03 02 01`, and the number.
        if !(try fields.skipsQuickly(0x0102_03a0, in: bytes)) {
            var behind = fields
            let version = try behind.element(in: bytes)
            if version.tag == DERCursor.Tag.version {
                var number = DERCursor(version.contents, isQuick: isQuick)
                _ = try number.lastContents(of: DERCursor.Tag.integer, in: bytes)
                fields = behind
            }
        }
        self.serialNumber = try fields.contents(of: DERCursor.Tag.integer, in: bytes)
        self.signature = try fields.whole(DERCursor.Tag.sequence, mostly: 10, 13, in: bytes)
        self.issuer = try fields.whole(DERCursor.Tag.sequence, in: bytes)
        // Two UTCTimes, or one and a GeneralizedTime.
        self.validity = try fields.whole(DERCursor.Tag.sequence, mostly: 30, 32, in: bytes)
        self.subject = try fields.whole(DERCursor.Tag.sequence, in: bytes)
        let keyStart = fields.position
        // Keys of P-256 and P-384 (RFC 5480), uncompressed.
        let key = try fields.contents(of: DERCursor.Tag.sequence, mostly: 89, 118, in: bytes)
        self.subjectPublicKeyInfo = Range(uncheckedBounds: (keyStart, key.upperBound))
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
        self.uniqueIdentifiers = Range(uncheckedBounds: (key.upperBound, identifiersEnd))

        var keyFields = DERCursor(key, isQuick: isQuick)
        _ = try keyFields.contents(of: DERCursor.Tag.sequence, in: bytes)
        _ = try keyFields.lastContents(of: DERCursor.Tag.bitString, in: bytes)
    }

    /// Walks a certificate held in an array.
    ///
    /// - Throws: What is wrong with it.
    public init(walking bytes: borrowing [UInt8]) throws(CertificateDefect) {
        self = try bytes.withUnsafeBufferPointer { (buffer) throws(CertificateDefect) in
            try CertificateFields(walking: UnsafeRawBufferPointer(buffer).bytes)
        }
    }
}
