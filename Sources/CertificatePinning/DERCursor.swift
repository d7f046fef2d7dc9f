// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Steps over the elements of DER (X.690) in borrowed bytes: no copy, no allocation, and no trap on any input.
///
/// Every length is checked against what holds it before a byte of its element is used. Positions lie between zero and
/// the length of the input, so their sums cannot overflow and are not checked for it a second time. The cursor holds no
/// bytes: each call is handed the span it was made for.
///
/// It reports what is wrong with an element, and the standard library checks its reads again. The quick walk of
/// ``CertificateFields`` over common certificates does not use it.
package struct DERCursor {
    /// The identifier octets that the frame of a certificate uses (X.690, section 8.1.2).
    package enum Tag {
        package static let boolean: UInt8 = 0x01
        static let integer: UInt8 = 0x02
        static let bitString: UInt8 = 0x03
        package static let octetString: UInt8 = 0x04
        package static let objectIdentifier: UInt8 = 0x06
        package static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31
        /// UTCTime and GeneralizedTime: those of a Validity.
        package static let utcTime: UInt8 = 0x17
        package static let generalizedTime: UInt8 = 0x18
        /// `[0] EXPLICIT`: the version of a TBSCertificate.
        static let version: UInt8 = 0xa0
        /// `[1] IMPLICIT` and `[2] IMPLICIT`: the unique identifiers of a TBSCertificate.
        static let issuerUniqueID: UInt8 = 0x81
        static let subjectUniqueID: UInt8 = 0x82
        /// `[3] EXPLICIT`: the extensions of a TBSCertificate.
        package static let extensions: UInt8 = 0xa3
    }

    /// The position of the next element.
    package private(set) var position: Int

    private let end: Int

    /// A cursor over the elements in a range of some bytes.
    ///
    /// - Parameter range: Within the bytes: all of them, or what this cursor gave as the contents of an element.
    @inline(__always)
    package init(_ range: Range<Int>) {
        self.position = range.lowerBound
        self.end = range.upperBound
    }

    /// Whether everything has been stepped over.
    @inline(__always)
    package var isAtEnd: Bool { self.position == self.end }

    /// Refuses bytes that are left.
    @inline(__always)
    func finish() throws(InvalidCertificateError) {
        guard self.isAtEnd else { throw .trailingBytes }
    }

    /// Steps over one element, which must have this identifier octet, and gives the range of its contents.
    @inline(__always)
    package mutating func contents(of tag: UInt8, in bytes: RawSpan) throws(InvalidCertificateError) -> Range<Int> {
        let (found, contents) = try self.step(in: bytes)
        guard found == tag else { throw .unexpectedElement }
        return contents
    }

    /// Steps over one element, which must have this identifier octet and be the last, and gives its contents' range.
    @inline(__always)
    package mutating func lastContents(of tag: UInt8, in bytes: RawSpan) throws(InvalidCertificateError) -> Range<Int> {
        let contents = try self.contents(of: tag, in: bytes)
        try self.finish()
        return contents
    }

    /// Steps over one element of any type.
    @inline(__always)
    package mutating func element(in bytes: RawSpan) throws(InvalidCertificateError) -> (
        tag: UInt8, contents: Range<Int>
    ) {
        let (tag, contents) = try self.step(in: bytes)
        // Identifiers of more than one octet occur nowhere in a certificate's frame.
        guard tag & 0x1f != 0x1f else { throw .unexpectedElement }
        return (tag, contents)
    }

    @inline(__always)
    private mutating func step(in bytes: RawSpan) throws(InvalidCertificateError) -> (tag: UInt8, contents: Range<Int>)
    {
        let available = self.end &- self.position
        guard available >= 2 else { throw .truncated }
        // Tag and first length byte in one checked load: each element's place depends on the length before it, so what
        // is done for one element is done fourteen times in a row for a certificate.
        let header = UInt16(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: self.position, as: UInt16.self))
        var length = Int(header >> 8)
        var headerLength = 2
        if length >= 0x80 {
            // The shortest form is the only one (X.690, section 10.1). Three length bytes would say more than a
            // certificate may hold.
            headerLength = 2 &+ (length & 0x7f)
            guard headerLength == 3 || headerLength == 4 else { throw .lengthNotDER }
            guard available >= headerLength else { throw .truncated }
            length = Int(bytes.unsafeLoad(fromByteOffset: self.position &+ 2, as: UInt8.self))
            if headerLength == 4 {
                length = length << 8 | Int(bytes.unsafeLoad(fromByteOffset: self.position &+ 3, as: UInt8.self))
            }
            guard length >= (headerLength == 3 ? 0x80 : 0x100) else { throw .lengthNotDER }
        }
        guard length <= available &- headerLength else { throw .truncated }
        let start = self.position &+ headerLength
        self.position = start &+ length
        return (UInt8(truncatingIfNeeded: header), Range(uncheckedBounds: (start, self.position)))
    }
}
