// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Steps over the elements of DER (X.690) in borrowed bytes: no copy, no allocation, and no trap on any input.
///
/// Every length is checked against what holds it before a byte is touched, in positions that cannot overflow: they are
/// bounded by the length of the input. The cursor holds no bytes: each call is handed the span it was made for, whose
/// reads are checked again by the standard library.
struct DERCursor {
    /// The identifier octets that the frame of a certificate uses (X.690, section 8.1.2).
    enum Tag {
        static let integer: UInt8 = 0x02
        static let bitString: UInt8 = 0x03
        static let objectIdentifier: UInt8 = 0x06
        static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31
        /// `[0] EXPLICIT`: the version of a TBSCertificate.
        static let version: UInt8 = 0xa0
    }

    /// The longest length that is read: three bytes after the first say more than a certificate may hold.
    private static let maximumLengthBytes = 3

    /// Where the next element begins.
    private(set) var position: Int

    private let end: Int

    /// A cursor over the elements in a range of some bytes.
    ///
    /// - Parameter range: Within the bytes: all of them, or what this cursor gave as the contents of an element.
    init(_ range: Range<Int>) {
        self.position = range.lowerBound
        self.end = range.upperBound
    }

    /// Whether everything has been stepped over.
    var isAtEnd: Bool { self.position == self.end }

    /// The identifier octet that comes next, or `nil` at the end.
    func nextTag(in bytes: RawSpan) -> UInt8? {
        self.position < self.end ? bytes.unsafeLoad(fromByteOffset: self.position, as: UInt8.self) : nil
    }

    /// Refuses what is left.
    func finish() throws(CertificateDefect) {
        guard self.isAtEnd else { throw .trailingBytes }
    }

    /// Steps over one element, which must have this identifier octet, and gives the range of its contents.
    @inline(__always)
    mutating func contents(of tag: UInt8, in bytes: RawSpan) throws(CertificateDefect) -> Range<Int> {
        let (found, contents) = try self.element(in: bytes)
        guard found == tag else { throw .unexpectedElement }
        return contents
    }

    /// Steps over one element, which must have this identifier octet, and gives the range of all of it.
    @inline(__always)
    mutating func whole(_ tag: UInt8, in bytes: RawSpan) throws(CertificateDefect) -> Range<Int> {
        let start = self.position
        return start..<(try self.contents(of: tag, in: bytes)).upperBound
    }

    /// Steps over one element, whatever it is.
    @inline(__always)
    mutating func element(in bytes: RawSpan) throws(CertificateDefect) -> (tag: UInt8, contents: Range<Int>) {
        guard self.end - self.position >= 2 else { throw .truncated }
        let tag = bytes.unsafeLoad(fromByteOffset: self.position, as: UInt8.self)
        // Identifiers of more than one octet occur nowhere in a certificate's frame.
        guard tag & 0x1f != 0x1f else { throw .unexpectedElement }
        var length = Int(bytes.unsafeLoad(fromByteOffset: self.position + 1, as: UInt8.self))
        var start = self.position + 2
        if length >= 0x80 {
            let count = length & 0x7f
            guard count > 0, count <= Self.maximumLengthBytes else { throw .lengthNotDER }
            guard self.end - start >= count else { throw .truncated }
            length = 0
            for index in start..<start + count {
                length = length << 8 | Int(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
            }
            // The shortest form is the only one: below 128 in one byte, and no leading zero.
            guard length >= 0x80, length >> (8 * (count - 1)) != 0 else { throw .lengthNotDER }
            start += count
        }
        guard length <= self.end - start else { throw .truncated }
        self.position = start + length
        return (tag, start..<self.position)
    }
}
