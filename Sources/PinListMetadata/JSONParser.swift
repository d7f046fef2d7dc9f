// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Reads the bytes of one JSON text from left to right. Every access is bounds-checked.
struct JSONParser {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    private var valuesLeft: Int
    private let numbers: JSONValue.Numbers

    init(_ bytes: [UInt8], maximumValues: Int, numbers: JSONValue.Numbers) {
        self.bytes = bytes
        self.valuesLeft = maximumValues
        self.numbers = numbers
    }

    mutating func document() throws(JSONValue.ParsingError) -> JSONValue {
        guard Self.isUTF8(self.bytes) else { throw self.defect("bytes that are not UTF-8") }
        let value = try self.value()
        self.skipWhiteSpace()
        guard self.position == self.bytes.count else { throw self.defect("bytes after the value") }
        return value
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool {
        // Nearly all metadata is ASCII, which is quick to check.
        if bytes.withUnsafeBufferPointer({ $0.reduce(UInt8(0)) { $0 | $1 } }) < 0x80 { return true }
        // Decoding repairs what is not UTF-8, and so changes it: bytes that come back as they were are UTF-8.
        var text = String(decoding: bytes, as: UTF8.self)
        return text.withUTF8 { decoded in
            decoded.count == bytes.count && zip(decoded, bytes).allSatisfy { $0 == $1 }
        }
    }

    private func defect(_ reason: String) -> JSONValue.ParsingError {
        JSONValue.ParsingError(reason: reason, offset: self.position)
    }

    private var next: UInt8? { self.position < self.bytes.count ? self.bytes[self.position] : nil }

    private mutating func skipWhiteSpace() {
        while let byte = self.next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { self.position += 1 }
    }

    /// Takes the next byte when it is this one.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard self.next == UInt8(ascii: character) else { return false }
        self.position += 1
        return true
    }

    private mutating func value() throws(JSONValue.ParsingError) -> JSONValue {
        self.skipWhiteSpace()
        guard let first = self.next else { throw self.defect("a value is missing") }
        guard self.valuesLeft > 0 else { throw self.defect("too many values") }
        self.valuesLeft -= 1
        switch first {
        case UInt8(ascii: "{"): return try self.nested { parser throws(JSONValue.ParsingError) in try parser.object() }
        case UInt8(ascii: "["): return try self.nested { parser throws(JSONValue.ParsingError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try self.string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try self.number()
        case UInt8(ascii: "t"): return try self.word("true", .bool(true))
        case UInt8(ascii: "f"): return try self.word("false", .bool(false))
        case UInt8(ascii: "n"): return try self.word("null", .null)
        default: throw self.defect("not the beginning of a value")
        }
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(JSONValue.ParsingError) -> JSONValue
    ) throws(JSONValue.ParsingError) -> JSONValue {
        guard self.depth < JSONValue.maximumDepth else { throw self.defect("too many levels") }
        self.depth += 1
        self.position += 1
        let value = try body(&self)
        self.depth -= 1
        return value
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(JSONValue.ParsingError) -> JSONValue {
        guard self.bytes[self.position...].starts(with: word.utf8) else {
            throw self.defect("not the word \(word)")
        }
        self.position += word.utf8.count
        return value
    }

    private mutating func array() throws(JSONValue.ParsingError) -> JSONValue {
        self.skipWhiteSpace()
        if self.take("]") { return .array([]) }
        var values: [JSONValue] = []
        repeat {
            values.append(try self.value())
            self.skipWhiteSpace()
        } while self.take(",")
        guard self.take("]") else { throw self.defect("an array without a comma or an end") }
        return .array(values)
    }

    private mutating func object() throws(JSONValue.ParsingError) -> JSONValue {
        self.skipWhiteSpace()
        if self.take("}") { return .object([]) }
        var members: [JSONValue.Member] = []
        var names = SeenNames()
        repeat {
            self.skipWhiteSpace()
            guard self.next == UInt8(ascii: "\"") else { throw self.defect("a member without a name") }
            let name = try self.string()
            guard names.insert(name, among: members) else { throw self.defect("a repeated member") }
            self.skipWhiteSpace()
            guard self.take(":") else { throw self.defect("a name without a colon") }
            members.append(JSONValue.Member(name, try self.value()))
            self.skipWhiteSpace()
        } while self.take(",")
        guard self.take("}") else { throw self.defect("an object without a comma or an end") }
        return .object(members)
    }

    /// RFC 8259, section 6.
    private mutating func number() throws(JSONValue.ParsingError) -> JSONValue {
        let written = self.position
        let isNegative = self.take("-")
        let start = self.position
        // Counted downwards, because there is one more negative number than positive ones.
        var value: Int64 = 0
        var isBeyond = false
        while let digit = self.digit() {
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (difference, isOver) = product.subtractingReportingOverflow(digit)
            isBeyond = isBeyond || isTooLarge || isOver
            value = difference
        }
        guard self.position > start else { throw self.defect("a number without digits") }
        guard self.bytes[start] != UInt8(ascii: "0") || self.position == start + 1 else {
            throw self.defect("a number with a leading zero")
        }
        let end = self.position
        let isScaled = try self.skipFractionAndExponent()
        isBeyond = isBeyond || (!isNegative && value == .min)
        if self.numbers == .written, isBeyond || self.position > end {
            return .string(String(decoding: self.bytes[written..<self.position], as: UTF8.self))
        }
        if self.numbers == .truncated, isScaled || isBeyond { return .null }
        guard !isBeyond else { throw self.defect("a number beyond 64 bits") }
        return .integer(isNegative ? value : -value)
    }

    /// Takes the next byte when it is a digit.
    private mutating func digit() -> Int64? {
        guard let byte = self.next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        self.position += 1
        return Int64(byte - UInt8(ascii: "0"))
    }

    /// Reads past a fraction and an exponent, where ``JSONValue/Numbers`` allows them.
    ///
    /// - Returns: Whether there is an exponent: the whole part alone does not say what the number is.
    private mutating func skipFractionAndExponent() throws(JSONValue.ParsingError) -> Bool {
        guard let byte = self.next, [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(byte) else {
            return false
        }
        guard self.numbers != .whole else { throw self.defect("a number with a fraction or an exponent") }
        if self.take(".") { try self.skipDigits() }
        guard self.take("e") || self.take("E") else { return false }
        if !self.take("-") { _ = self.take("+") }
        try self.skipDigits()
        return true
    }

    private mutating func skipDigits() throws(JSONValue.ParsingError) {
        guard self.digit() != nil else { throw self.defect("a number without digits") }
        while self.digit() != nil {}
    }

    private mutating func string() throws(JSONValue.ParsingError) -> String {
        self.position += 1
        let start = self.position
        // Nearly every string has no escape: it is read where it lies.
        while let byte = self.next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
            guard byte >= 0x20 else { throw self.defect("a control character in a string") }
            self.position += 1
        }
        if self.take("\"") { return String(decoding: self.bytes[start..<(self.position - 1)], as: UTF8.self) }
        var text = Array(self.bytes[start..<self.position])
        while let byte = self.next {
            let run = self.position
            self.position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                let scalar = try self.escaped()
                if scalar.isASCII {
                    text.append(UInt8(truncatingIfNeeded: scalar.value))
                } else {
                    text += String(scalar).utf8
                }
            case 0..<0x20: throw self.defect("a control character in a string")
            default:
                // A run without an escape is copied at once.
                while let byte = self.next, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                    self.position += 1
                }
                text += self.bytes[run..<self.position]
            }
        }
        throw self.defect("a string without an end")
    }

    /// Reads an escape after its backslash.
    private mutating func escaped() throws(JSONValue.ParsingError) -> Unicode.Scalar {
        let character = self.next
        self.position += 1
        switch character {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw self.defect("an unknown escape")
        }
        let first = try self.codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), self.take("\\"), self.take("u") else {
            throw self.defect("half a surrogate pair")
        }
        let second = try self.codeUnit()
        guard UTF16.isTrailSurrogate(second) else { throw self.defect("half a surrogate pair") }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private mutating func codeUnit() throws(JSONValue.ParsingError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = self.next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw self.defect("an escape without four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            self.position += 1
        }
        return unit
    }
}

/// The names of an object so far. A few are compared one by one. Many are hashed, so that a peer cannot choose the
/// work.
private struct SeenNames {
    private static let maximumCompared = 16
    private var hashed: Set<[UInt8]> = []

    /// Whether a name is new among the members.
    mutating func insert(_ name: String, among members: [JSONValue.Member]) -> Bool {
        if members.count < Self.maximumCompared {
            let count = name.utf8.count
            return !members.contains { $0.name.utf8.count == count && $0.name.utf8.elementsEqual(name.utf8) }
        }
        if members.count == Self.maximumCompared {
            for member in members { self.hashed.insert(Array(member.name.utf8)) }
        }
        return self.hashed.insert(Array(name.utf8)).inserted
    }
}
