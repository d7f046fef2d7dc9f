// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Steps over the elements of DER (X.690) in borrowed bytes: no copy, no allocation, and no trap on any input.
///
/// Every length is checked against what holds it before a byte of its element is used. Positions lie between zero and
/// the length of the input, so their sums cannot overflow and are not checked for it a second time. The cursor holds no
/// bytes: each call is handed the span it was made for.
///
/// A careful cursor says what is wrong with an element, and its reads are checked again by the standard library. A
/// quick one takes a header with one load of four bytes and one check of bounds. It accepts nothing that a careful one
/// refuses, and gives the same ranges. It refuses lengths of three bytes and more and elements that begin within the
/// last three bytes; its error says only that a careful cursor has to decide.
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

    /// Where the next element begins.
    package private(set) var position: Int

    private let end: Int

    /// Whether an element that is not common is refused unread.
    let isQuick: Bool

    /// A cursor over the elements in a range of some bytes.
    ///
    /// - Parameters:
    ///   - range: Within the bytes: all of them, or what this cursor gave as the contents of an element.
    ///   - isQuick: Whether an element that is not common is refused unread.
    @inline(__always)
    package init(_ range: Range<Int>, isQuick: Bool = false) {
        self.position = range.lowerBound
        self.end = range.upperBound
        self.isQuick = isQuick
    }

    /// Whether everything has been stepped over.
    @inline(__always)
    package var isAtEnd: Bool { self.position == self.end }

    /// Refuses what is left.
    @inline(__always)
    func finish() throws(CertificateDefect) {
        guard self.isAtEnd else { throw .trailingBytes }
    }

    /// Steps over one element, which must have this identifier octet, and gives the range of its contents.
    @inline(__always)
    package mutating func contents(of tag: UInt8, in bytes: RawSpan) throws(CertificateDefect) -> Range<Int> {
        if self.isQuick { return try self.quickStep(overTag: tag, mask: 0xff, in: bytes).contents }
        let (found, contents) = try self.step(in: bytes)
        guard found == tag else { throw .unexpectedElement }
        return contents
    }

    /// Steps over one element, which must have this identifier octet and be the last, and gives its contents' range.
    @inline(__always)
    package mutating func lastContents(of tag: UInt8, in bytes: RawSpan) throws(CertificateDefect) -> Range<Int> {
        let contents = try self.contents(of: tag, in: bytes)
        try self.finish()
        return contents
    }

    /// Steps over one element, which must have this identifier octet, and gives the range of all of it.
    @inline(__always)
    mutating func whole(_ tag: UInt8, in bytes: RawSpan) throws(CertificateDefect) -> Range<Int> {
        let start = self.position
        return Range(uncheckedBounds: (start, try self.contents(of: tag, in: bytes).upperBound))
    }

    /// The same for an element whose contents mostly have one of two lengths below 128: those are compared before any is
    /// read, so that the processor goes on with the next element without waiting for this one's header.
    @inline(__always)
    mutating func contents(
        of tag: UInt8, mostly first: UInt8, _ second: UInt8, in bytes: RawSpan
    ) throws(CertificateDefect) -> Range<Int> {
        guard self.isQuick else { return try self.contents(of: tag, in: bytes) }
        let header = try self.fourBytes(in: bytes) & 0xffff
        let start = self.position &+ 2
        if header == UInt32(tag) | UInt32(first) << 8 {
            self.position = start &+ Int(first)
        } else if header == UInt32(tag) | UInt32(second) << 8 {
            self.position = start &+ Int(second)
        } else {
            return try self.contents(of: tag, in: bytes)
        }
        guard self.position <= self.end else { throw .truncated }
        return Range(uncheckedBounds: (start, self.position))
    }

    /// The same, with the range of all of it.
    @inline(__always)
    mutating func whole(
        _ tag: UInt8, mostly first: UInt8, _ second: UInt8, in bytes: RawSpan
    ) throws(CertificateDefect) -> Range<Int> {
        let start = self.position
        return Range(
            uncheckedBounds: (start, try self.contents(of: tag, mostly: first, second, in: bytes).upperBound))
    }

    /// Steps over one element, whatever it is.
    @inline(__always)
    package mutating func element(in bytes: RawSpan) throws(CertificateDefect) -> (tag: UInt8, contents: Range<Int>) {
        let (tag, contents) =
            try self.isQuick ? self.quickStep(overTag: 0, mask: 0, in: bytes) : self.step(in: bytes)
        // Identifiers of more than one octet occur nowhere in a certificate's frame.
        guard tag & 0x1f != 0x1f else { throw .unexpectedElement }
        return (tag, contents)
    }

    /// Steps over four known bytes and one that may be any; `false` in a careful cursor, which reads on instead.
    @inline(__always)
    mutating func skipsQuickly(_ known: UInt32, in bytes: RawSpan) throws(CertificateDefect) -> Bool {
        guard self.isQuick else { return false }
        guard try self.fourBytes(in: bytes) == known, self.position &+ 5 <= self.end else { throw .unexpectedElement }
        self.position &+= 5
        return true
    }

    /// The next four bytes, the first of them lowest.
    @inline(__always)
    private func fourBytes(in bytes: RawSpan) throws(CertificateDefect) -> UInt32 {
        guard self.position <= bytes.byteCount &- 4 else { throw .truncated }
        // The line above is the check of bounds.
        return UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: self.position, as: UInt32.self))
    }

    /// Steps over one element whose identifier octet has these bits under the mask.
    ///
    /// The next element's place depends on the length in this one's header. All else is compared beside that.
    @inline(__always)
    private mutating func quickStep(
        overTag tag: UInt8, mask: UInt32, in bytes: RawSpan
    ) throws(CertificateDefect) -> (tag: UInt8, contents: Range<Int>) {
        let header = try self.fourBytes(in: bytes)
        let start: Int
        let length: UInt32
        if header & (0x8000 | mask) == UInt32(tag) {
            start = self.position &+ 2
            length = header >> 8 & 0xff
        } else if header & (0xff00 | mask) == 0x8200 | UInt32(tag) {
            start = self.position &+ 4
            length = header.byteSwapped & 0xffff
            guard length >= 0x100 else { throw .lengthNotDER }
        } else if header & (0xff00 | mask) == 0x8100 | UInt32(tag) {
            start = self.position &+ 3
            length = header >> 16 & 0xff
            guard length >= 0x80 else { throw .lengthNotDER }
        } else {
            throw .unexpectedElement
        }
        let next = start &+ Int(truncatingIfNeeded: length)
        guard next <= self.end else { throw .truncated }
        self.position = next
        return (UInt8(truncatingIfNeeded: header), Range(uncheckedBounds: (start, next)))
    }

    @inline(__always)
    private mutating func step(in bytes: RawSpan) throws(CertificateDefect) -> (tag: UInt8, contents: Range<Int>) {
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
