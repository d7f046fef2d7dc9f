// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// A strict reader of CBOR (RFC 8949): definite lengths alone, no key twice, bounded in size and depth. Traps on no input,
/// and allocates no memory for a length before that many bytes were seen.
@_spi(Parsers) public struct CBORReader: Sendable {
    /// The maximum length in bytes: an attestation has about 6,000.
    @_spi(Parsers) public static let maximumLength = 65_536

    /// The maximum nesting of arrays and maps. An attestation has three.
    @_spi(Parsers) public static let maximumDepth = 8

    private let bytes: ArraySlice<UInt8>

    /// The position of the next item.
    @_spi(Parsers) public private(set) var position: Int

    /// Creates a reader at the beginning of some bytes.
    ///
    /// - Throws: ``CBORError/tooLarge`` for more than ``maximumLength``.
    @_spi(Parsers) public init(_ bytes: ArraySlice<UInt8>) throws(CBORError) {
        guard bytes.count <= Self.maximumLength else { throw .tooLarge }
        self.bytes = bytes
        self.position = bytes.startIndex
    }

    /// Reads bytes that are one item and nothing else.
    ///
    /// - Throws: The defect.
    @_spi(Parsers) public static func value(of bytes: ArraySlice<UInt8>) throws(CBORError) -> CBORValue {
        var reader = try CBORReader(bytes)
        let value = try reader.next()
        guard reader.position == bytes.endIndex else { throw .trailingBytes }
        return value
    }

    /// Reads the next item; later bytes stay unread.
    ///
    /// - Throws: The defect.
    @_spi(Parsers) public mutating func next() throws(CBORError) -> CBORValue { try self.item(within: 0) }

    private mutating func item(within depth: Int) throws(CBORError) -> CBORValue {
        let initial = try self.take(1)
        guard let first = initial.first else { throw .truncated }
        let (major, information) = (first >> 5, first & 0x1f)
        switch major {
        case 0: return .unsigned(try self.argument(information))
        case 1: return .negative(try self.argument(information))
        case 2: return .bytes(Array(try self.string(information)))
        case 3:
            let bytes = try self.string(information)
            // Bytes that are not UTF-8 become other bytes.
            guard String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes) else { throw .notUTF8 }
            return .text(Array(bytes))
        case 4: return try self.array(information, within: depth)
        case 5: return try self.map(information, within: depth)
        case 6:
            _ = try self.argument(information)
            throw .tag
        default: return try Self.simple(information)
        }
    }

    private mutating func array(_ information: UInt8, within depth: Int) throws(CBORError) -> CBORValue {
        let count = try self.count(information, ofItems: 1)
        guard depth < Self.maximumDepth else { throw .tooDeep }
        var items: [CBORValue] = []
        for _ in 0..<count { items.append(try self.item(within: depth + 1)) }
        return .array(items)
    }

    private mutating func map(_ information: UInt8, within depth: Int) throws(CBORError) -> CBORValue {
        let count = try self.count(information, ofItems: 2)
        guard depth < Self.maximumDepth else { throw .tooDeep }
        var members: [CBORValue: CBORValue] = [:]
        for _ in 0..<count {
            let key = try self.item(within: depth + 1)
            guard members.updateValue(try self.item(within: depth + 1), forKey: key) == nil else {
                throw .duplicateKey
            }
        }
        return .map(members)
    }

    /// Reads the number of entries of an array or a map, each of a minimum size: a number that does not fit into the
    /// remaining bytes is refused before memory is allocated.
    private mutating func count(_ information: UInt8, ofItems size: UInt64) throws(CBORError) -> Int {
        let count = try self.argument(information)
        guard count <= UInt64(self.bytes.endIndex - self.position) / size else { throw .truncated }
        return Int(count)
    }

    private mutating func string(_ information: UInt8) throws(CBORError) -> ArraySlice<UInt8> {
        let length = try self.argument(information)
        guard length <= UInt64(self.bytes.endIndex - self.position) else { throw .truncated }
        return try self.take(Int(length))
    }

    /// The number in or after an initial byte (RFC 8949, section 3). A longer form than is needed is allowed.
    private mutating func argument(_ information: UInt8) throws(CBORError) -> UInt64 {
        switch information {
        case ..<24: return UInt64(information)
        case 24...27: return try self.take(1 << Int(information - 24)).reduce(0) { $0 << 8 | UInt64($1) }
        case 31: throw .indefiniteLength
        default: throw .reserved
        }
    }

    private static func simple(_ information: UInt8) throws(CBORError) -> CBORValue {
        switch information {
        case 20: return .boolean(false)
        case 21: return .boolean(true)
        case 22: return .null
        case 25...27: throw .floatingPoint
        case 28...30: throw .reserved
        case 31: throw .indefiniteLength
        default: throw .simpleValue
        }
    }

    private mutating func take(_ count: Int) throws(CBORError) -> ArraySlice<UInt8> {
        guard count <= self.bytes.endIndex - self.position else { throw .truncated }
        let end = self.position + count
        defer { self.position = end }
        return self.bytes[self.position..<end]
    }
}

/// A data item of CBOR (RFC 8949), of the subset that App Attest uses: no tags, no floating-point numbers, no simple
/// values but booleans and null.
@_spi(Parsers) public enum CBORValue: Hashable, Sendable {
    /// An unsigned integer: major type 0.
    case unsigned(UInt64)
    /// The negative integer −1 − n: major type 1.
    case negative(UInt64)
    /// A byte string: major type 2.
    case bytes([UInt8])
    /// A text as its UTF-8: major type 3. Not a `String`, which can equal a text with other bytes.
    case text([UInt8])
    /// An array: major type 4.
    case array([CBORValue])
    /// A map, each key once: major type 5.
    case map([CBORValue: CBORValue])
    /// False or true.
    case boolean(Bool)
    /// Null.
    case null

    /// The member of a map with a text as its key; `nil` where there is none, or this is not a map.
    @_spi(Parsers) public subscript(_ key: String) -> CBORValue? {
        guard case .map(let members) = self else { return nil }
        return members[.text(Array(key.utf8))]
    }

    /// The bytes of a byte string.
    var asBytes: [UInt8]? {
        guard case .bytes(let bytes) = self else { return nil }
        return bytes
    }

    /// The text of a text.
    var asText: String? {
        guard case .text(let text) = self else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The defect of bytes that are not accepted CBOR. The rules are those of the strict reader of App Attest; the texts
/// are for people.
@_spi(Parsers) public struct CBORError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The explanation, without a full stop.
    public let description: String

    /// The bytes end before the item does.
    @_spi(Parsers) public static let truncated = CBORError(description: "it ends too early")
    /// There are bytes after the item.
    @_spi(Parsers) public static let trailingBytes = CBORError(description: "bytes follow")
    /// There are more bytes than ``CBORReader/maximumLength``.
    @_spi(Parsers) public static let tooLarge = CBORError(description: "it is too large")
    /// Items are nested deeper than ``CBORReader/maximumDepth``.
    @_spi(Parsers) public static let tooDeep = CBORError(description: "it is too deep")
    /// An item of indefinite length, or a break.
    @_spi(Parsers) public static let indefiniteLength = CBORError(description: "an item of indefinite length")
    /// An initial byte that has no meaning (RFC 8949, section 3).
    @_spi(Parsers) public static let reserved = CBORError(description: "an initial byte that is reserved")
    /// A tag.
    @_spi(Parsers) public static let tag = CBORError(description: "a tag")
    /// A floating-point number.
    @_spi(Parsers) public static let floatingPoint = CBORError(description: "a floating-point number")
    /// A simple value that is neither a boolean nor null.
    @_spi(Parsers) public static let simpleValue = CBORError(description: "an unknown simple value")
    /// A text that is not UTF-8.
    @_spi(Parsers) public static let notUTF8 = CBORError(description: "a text that is not UTF-8")
    /// A map that has a key twice.
    @_spi(Parsers) public static let duplicateKey = CBORError(description: "a repeated key in a map")
}
#endif
