// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A strict reader of property lists in XML, as signatures and provisioning profiles have them.
///
/// It accepts the output of Apple's tools: no attributes but those of the root, no declarations, and only the five
/// predefined entities of XML. Bytes, depth and values are bounded; dates, numbers and data are skipped.
struct PropertyListText {
    /// A value.
    enum Value: Hashable, Sendable {
        case text(String)
        case boolean(Bool)
        case list([Value])
        case dictionary([String: Value])
        /// A date, a number or data.
        case other

        /// The value under a key of a dictionary.
        subscript(key: String) -> Value? {
            guard case .dictionary(let members) = self else { return nil }
            return members[key]
        }

        /// The text.
        var text: String? {
            guard case .text(let text) = self else { return nil }
            return text
        }

        /// The members of a list; `nil` for any other text.
        var members: [Value]? {
            guard case .list(let members) = self else { return nil }
            return members
        }
    }

    /// A token of the text: a tag by its name, or the text between two tags.
    private enum Piece: Equatable {
        case open(String)
        case close(String)
        case empty(String)
    }

    private let bytes: [UInt8]
    private var index = 0
    private var values = 0

    /// Reads a property list whose root is a dictionary.
    ///
    /// - Parameter bytes: The text in UTF-8; the caller limits its length.
    static func read(_ bytes: [UInt8]) throws(ImageError) -> Value {
        var reader = PropertyListText(bytes: bytes)
        guard try reader.tag() == .open("plist") else { throw Self.malformed("it does not begin as one") }
        let value = try reader.value(reader.tag(), depth: 0)
        guard case .dictionary = value, try reader.tag() == .close("plist"), reader.isAtEnd else {
            throw Self.malformed("it is not a single dictionary")
        }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private static func malformed(_ reason: String) -> ImageError {
        ImageError(.malformed, "a property list is not understood: \(reason)")
    }

    /// Whether only blanks follow, and the zero byte that some tools write.
    private var isAtEnd: Bool { self.bytes[self.index...].allSatisfy { Self.isBlank($0) || $0 == 0 } }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private mutating func value(_ piece: Piece, depth: Int) throws(ImageError) -> Value {
        self.values += 1
        guard depth <= SignatureLimits.depth, self.values <= SignatureLimits.elements else {
            throw ImageError(.tooLarge, "a property list is over a limit of depth or values")
        }
        switch piece {
        case .empty("true"): return .boolean(true)
        case .empty("false"): return .boolean(false)
        case .empty("dict"): return .dictionary([:])
        case .empty("array"): return .list([])
        case .empty("string"): return .text("")
        case .empty("data"): return .other
        case .open("dict"): return .dictionary(try self.dictionary(depth: depth))
        case .open("array"):
            var members: [Value] = []
            while true {
                let next = try self.tag()
                if next == .close("array") { return .list(members) }
                members.append(try self.value(next, depth: depth + 1))
            }
        case .open("string"): return .text(try self.text(endingIn: "string"))
        case .open(let name) where ["date", "data", "integer", "real"].contains(name):
            try self.skip(past: Array("</\(name)>".utf8))
            return .other
        default: throw Self.malformed("an unknown tag")
        }
    }

    private mutating func dictionary(depth: Int) throws(ImageError) -> [String: Value] {
        var members: [String: Value] = [:]
        while true {
            let next = try self.tag()
            if next == .close("dict") { return members }
            guard next == .open("key") else { throw Self.malformed("a value without a key") }
            let key = try self.text(endingIn: "key")
            let value = try self.value(self.tag(), depth: depth + 1)
            guard members.updateValue(value, forKey: key) == nil else { throw Self.malformed("a repeated key") }
        }
    }

    /// The next tag, after blanks, comments, the declaration of XML and that of the document's type.
    private mutating func tag() throws(ImageError) -> Piece {
        while true {
            while self.index < self.bytes.count, Self.isBlank(self.bytes[self.index]) { self.index += 1 }
            if self.skips("<!--") {
                try self.skip(past: Array("-->".utf8))
            } else if self.skips("<?") {
                try self.skip(past: Array("?>".utf8))
            } else if self.skips("<!DOCTYPE") {
                let start = self.index
                try self.skip(past: [0x3E])
                // Declarations of its own would stand in brackets.
                guard !self.bytes[start..<self.index].contains(0x5B) else { throw Self.malformed("declarations") }
            } else {
                break
            }
        }
        guard self.skips("<") else { throw Self.malformed("a tag is missing") }
        let start = self.index
        try self.skip(past: [0x3E])
        let inner = self.bytes[start..<self.index - 1]
        let name = String(decoding: inner.drop { $0 == 0x2F }.prefix { !Self.isBlank($0) && $0 != 0x2F }, as: UTF8.self)
        guard !name.isEmpty else { throw Self.malformed("a tag without a name") }
        if inner.first == 0x2F { return .close(name) }
        return inner.last == 0x2F ? .empty(name) : .open(name)
    }

    /// The text up to an end tag.
    private mutating func text(endingIn name: String) throws(ImageError) -> String {
        let start = self.index
        while self.index < self.bytes.count, self.bytes[self.index] != 0x3C { self.index += 1 }
        let raw = self.bytes[start..<self.index]
        guard try self.tag() == .close(name) else { throw Self.malformed("a text with a tag inside") }
        guard raw.contains(0x26) else { return String(decoding: raw, as: UTF8.self) }
        var parts = raw.split(separator: 0x26, omittingEmptySubsequences: false)[...]
        var text = Array(parts.removeFirst())
        for part in parts {
            guard let end = part.firstIndex(of: 0x3B),
                let character = Self.entities[String(decoding: part[..<end], as: UTF8.self)]
            else { throw Self.malformed("an unknown entity") }
            text.append(character)
            text += part[part.index(after: end)...]
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let entities: [String: UInt8] = ["amp": 0x26, "lt": 0x3C, "gt": 0x3E, "quot": 0x22, "apos": 0x27]

    private mutating func skips(_ text: String) -> Bool {
        guard self.bytes[self.index...].starts(with: text.utf8) else { return false }
        self.index += text.utf8.count
        return true
    }

    private mutating func skip(past end: [UInt8]) throws(ImageError) {
        while self.index < self.bytes.count {
            if self.bytes[self.index...].starts(with: end) {
                self.index += end.count
                return
            }
            self.index += 1
        }
        throw Self.malformed("it is cut")
    }
}
