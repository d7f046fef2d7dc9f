// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning

/// Steps over the elements of DER (X.690) in borrowed bytes, with lengths of up to four octets: a revocation list is
/// larger than a certificate may be. No copy, no allocation, and no trap on any input.
struct ElementCursor {
    /// The identifier octets of a CertificateList (RFC 5280, section 5.1).
    enum Tag {
        static let boolean: UInt8 = 0x01
        static let integer: UInt8 = 0x02
        static let bitString: UInt8 = 0x03
        static let octetString: UInt8 = 0x04
        static let objectIdentifier: UInt8 = 0x06
        static let enumerated: UInt8 = 0x0a
        static let utcTime: UInt8 = 0x17
        static let generalizedTime: UInt8 = 0x18
        static let sequence: UInt8 = 0x30
        /// `[0]` with elements in it: the extensions of a TBSCertList.
        static let extensions: UInt8 = 0xa0
    }

    /// One element.
    struct Element {
        let tag: UInt8
        /// The position of its header.
        let start: Int
        let contents: Range<Int>

        /// The whole element, its header included.
        var range: Range<Int> { self.start..<self.contents.upperBound }
    }

    /// The position of the next element.
    private(set) var position: Int
    private let end: Int

    /// A cursor over the elements in a range of some bytes: all of them, or the contents of an element.
    init(_ range: Range<Int>) {
        self.position = range.lowerBound
        self.end = range.upperBound
    }

    /// Whether everything has been stepped over.
    var isAtEnd: Bool { self.position == self.end }

    /// The identifier octet of the next element; `nil` at the end.
    func nextTag(in bytes: RawSpan) -> UInt8? {
        self.isAtEnd ? nil : bytes.unsafeLoad(fromByteOffset: self.position, as: UInt8.self)
    }

    /// Steps over one element of any type.
    @inline(__always)
    mutating func element(in bytes: RawSpan) throws(InvalidCertificateError) -> Element {
        let start = self.position
        let available = self.end &- start
        guard available >= 2 else { throw .truncated }
        let tag = bytes.unsafeLoad(fromByteOffset: start, as: UInt8.self)
        // Identifiers of more than one octet occur nowhere in the frame of a list.
        guard tag & 0x1f != 0x1f else { throw .unexpectedElement }
        var length = Int(bytes.unsafeLoad(fromByteOffset: start &+ 1, as: UInt8.self))
        var header = 2
        if length >= 0x80 {
            let octets = length & 0x7f
            // An indefinite length, or more than an Int of 32 bits could hold: no list is so long.
            guard (1...4).contains(octets) else { throw .lengthNotDER }
            header = 2 &+ octets
            guard available >= header else { throw .truncated }
            length = 0
            for offset in 2..<header {
                length = length << 8 | Int(bytes.unsafeLoad(fromByteOffset: start &+ offset, as: UInt8.self))
            }
            // The shortest form is the only one (X.690, section 10.1).
            guard length >= (octets == 1 ? 0x80 : 1 << (8 * (octets - 1))) else { throw .lengthNotDER }
        }
        guard length <= available &- header else { throw .truncated }
        self.position = start &+ header &+ length
        return Element(tag: tag, start: start, contents: (start &+ header)..<self.position)
    }

    /// Steps over one element, which must have this identifier octet.
    @inline(__always)
    mutating func element(_ tag: UInt8, in bytes: RawSpan) throws(InvalidCertificateError) -> Element {
        let element = try self.element(in: bytes)
        guard element.tag == tag else { throw .unexpectedElement }
        return element
    }

    /// Steps over one element, which must have this identifier octet and be the last.
    mutating func lastElement(_ tag: UInt8, in bytes: RawSpan) throws(InvalidCertificateError) -> Element {
        let element = try self.element(tag, in: bytes)
        try self.finish()
        return element
    }

    /// Refuses bytes that are left.
    func finish() throws(InvalidCertificateError) {
        guard self.isAtEnd else { throw .trailingBytes }
    }

    /// Whether an element is a time of RFC 5280, section 4.1.2.5, by its form alone: digits and a `Z`.
    @inline(__always)
    static func hasFormOfTime(_ element: Element, in bytes: RawSpan) -> Bool {
        let count = element.contents.count
        guard element.tag == Tag.utcTime && count == 13 || element.tag == Tag.generalizedTime && count == 15 else {
            return false
        }
        // Eight digits at once: all upper halves are 3, and no lower half is above 9.
        func areDigits(at position: Int) -> Bool {
            let word = bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self)
            return word & 0xf0f0_f0f0_f0f0_f0f0 == 0x3030_3030_3030_3030
                && (word &+ 0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0 == 0x3030_3030_3030_3030
        }
        let last = element.contents.upperBound &- 1
        return areDigits(at: element.contents.lowerBound) && areDigits(at: last &- 8)
            && bytes.unsafeLoad(fromByteOffset: last, as: UInt8.self) == UInt8(ascii: "Z")
    }

    /// The time that an element holds.
    ///
    /// - Throws: `unexpectedElement` for a value that is not a time.
    static func time(_ element: Element, in bytes: RawSpan) throws(InvalidCertificateError) -> Timestamp {
        guard let time = Timestamp(tag: element.tag, contents: element.contents, in: bytes) else {
            throw .unexpectedElement
        }
        return time
    }
}
#endif
