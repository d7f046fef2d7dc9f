// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// An element of BER (X.690), with definite or indefinite length, and its contents.
///
/// Bounded in size, in depth and in the number of elements, and traps on no input. The extra rules of DER, such as the
/// shortest form of a length, are not checked: other code verifies the signatures of certificates, over the original
/// bytes.
@_spi(Parsers) public struct BERElement: Sendable {
    /// A tag with its class.
    struct Identifier: Hashable, Sendable {
        enum TagClass: UInt8 {
            case universal = 0
            case application, contextSpecific, privateUse
        }

        let tagClass: TagClass
        let number: UInt

        init(_ tagClass: TagClass, _ number: UInt) {
            self.tagClass = tagClass
            self.number = number
        }

        static let integer = Identifier(.universal, 2)
        static let octetString = Identifier(.universal, 4)
        static let objectIdentifier = Identifier(.universal, 6)
        static let sequence = Identifier(.universal, 16)
        static let set = Identifier(.universal, 17)
        fileprivate static let endOfContents = Identifier(.universal, 0)
    }

    /// The defect of bytes that are not BER.
    @_spi(Parsers) public struct ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The explanation, without a full stop.
        public let description: String

        static let truncated = ParsingError(description: "it ends too early")
        static let trailingBytes = ParsingError(description: "bytes follow")
        static let tooLarge = ParsingError(description: "it is too large")
        static let tooDeep = ParsingError(description: "it is too deep")
        static let tooMany = ParsingError(description: "it has too many parts")
        static let identifier = ParsingError(description: "a tag that cannot be read")
        static let length = ParsingError(description: "a length that cannot be read")
    }

    /// The maximum length in bytes. Receipts have about 4,000.
    @_spi(Parsers) public static let maximumLength = 65_536
    /// The maximum nesting of elements. Receipts have twelve with their certificates.
    static let maximumDepth = 24
    /// The maximum number of elements. Receipts have about 400.
    static let maximumCount = 4_096

    let identifier: Identifier

    /// Whether the element is constructed.
    let isConstructed: Bool

    /// The contents; for an indefinite length without the end-of-contents octets.
    @_spi(Parsers) public let contents: ArraySlice<UInt8>

    /// The whole element, its header included.
    let whole: ArraySlice<UInt8>

    /// Whether the length was written before the contents.
    let hasDefiniteLength: Bool

    /// The elements in it; none where it is primitive.
    @_spi(Parsers) public let children: [BERElement]

    /// Reads bytes that are one element and nothing else.
    ///
    /// - Throws: The defect.
    @_spi(Parsers) public static func reading(_ bytes: ArraySlice<UInt8>) throws(ParsingError) -> BERElement {
        guard bytes.count <= Self.maximumLength else { throw .tooLarge }
        var reader = Reader(bytes: bytes, position: bytes.startIndex)
        let element = try reader.element(before: bytes.endIndex, within: 0)
        guard reader.position == bytes.endIndex else { throw .trailingBytes }
        return element
    }

    /// The octets of an OCTET STRING, which may be in several pieces (X.690, section 8.7); `nil` for another element.
    var octets: [UInt8]? {
        guard self.identifier == .octetString else { return nil }
        guard self.isConstructed else { return Array(self.contents) }
        var octets: [UInt8] = []
        for child in self.children {
            guard let piece = child.octets else { return nil }
            octets += piece
        }
        return octets
    }

    /// The value of an INTEGER from zero to 2^31 − 1; `nil` for another one, or another element.
    var smallInteger: Int? {
        guard self.identifier == .integer, !self.isConstructed, (1...4).contains(self.contents.count),
            let first = self.contents.first, first < 0x80
        else { return nil }
        return self.contents.reduce(0) { $0 << 8 | Int($1) }
    }

    private struct Reader {
        let bytes: ArraySlice<UInt8>
        var position: Int
        var count = 0

        mutating func element(before end: Int, within depth: Int) throws(ParsingError) -> BERElement {
            guard depth < BERElement.maximumDepth else { throw .tooDeep }
            self.count += 1
            guard self.count <= BERElement.maximumCount else { throw .tooMany }
            let start = self.position
            let (identifier, isConstructed) = try self.identifier(before: end)
            let length = try self.length(before: end)
            let contentsStart = self.position
            guard let length else {
                // Only a constructed element may have an indefinite length (X.690, section 8.1.3.2).
                guard isConstructed else { throw .length }
                var children: [BERElement] = []
                while true {
                    let last = try self.element(before: end, within: depth + 1)
                    if last.identifier == .endOfContents {
                        guard !last.isConstructed, last.whole.count == 2 else { throw .identifier }
                        return BERElement(
                            identifier: identifier, isConstructed: true,
                            contents: self.bytes[contentsStart..<last.whole.startIndex],
                            whole: self.bytes[start..<self.position], hasDefiniteLength: false, children: children)
                    }
                    children.append(last)
                }
            }
            let contentsEnd = contentsStart + length
            var children: [BERElement] = []
            if isConstructed {
                while self.position < contentsEnd {
                    let child = try self.element(before: contentsEnd, within: depth + 1)
                    guard child.identifier != .endOfContents else { throw .identifier }
                    children.append(child)
                }
            } else {
                self.position = contentsEnd
            }
            return BERElement(
                identifier: identifier, isConstructed: isConstructed, contents: self.bytes[contentsStart..<contentsEnd],
                whole: self.bytes[start..<contentsEnd], hasDefiniteLength: true, children: children)
        }

        private mutating func byte(before end: Int) throws(ParsingError) -> UInt8 {
            guard self.position < end else { throw .truncated }
            defer { self.position += 1 }
            return self.bytes[self.position]
        }

        private mutating func identifier(before end: Int) throws(ParsingError) -> (Identifier, isConstructed: Bool) {
            let first = try self.byte(before: end)
            guard let tagClass = Identifier.TagClass(rawValue: first >> 6) else { throw .identifier }
            var number = UInt(first & 0x1f)
            if number == 0x1f {
                number = 0
                var next: UInt8
                repeat {
                    next = try self.byte(before: end)
                    guard number < 1 << 21, number > 0 || next != 0x80 else { throw .identifier }
                    number = number << 7 | UInt(next & 0x7f)
                } while next & 0x80 != 0
            }
            return (Identifier(tagClass, number), first & 0x20 != 0)
        }

        /// The length, which is checked against the enclosing element; `nil` where it is indefinite.
        private mutating func length(before end: Int) throws(ParsingError) -> Int? {
            let first = try self.byte(before: end)
            guard first != 0x80 else { return nil }
            var length = Int(first)
            if first > 0x80 {
                guard first <= 0x84 else { throw .length }
                length = 0
                for _ in 0..<(first & 0x7f) { length = length << 8 | Int(try self.byte(before: end)) }
            }
            guard length <= end - self.position else { throw .truncated }
            return length
        }
    }
}
#endif
