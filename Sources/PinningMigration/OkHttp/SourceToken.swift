// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A token of Kotlin or Java, as far as needed for calls with literals.
enum SourceToken: Hashable, Sendable {
    /// A name or a number.
    case word(String)
    /// A string literal; `nil` when its value is only known at run time.
    case literal(String?)
    /// Any other character.
    case symbol(UInt8)

    /// Splits a text into tokens, without comments and blanks.
    ///
    /// - Throws: ``MigrationError`` when a limit is exceeded.
    static func tokens(of bytes: [UInt8]) throws(MigrationError) -> [SourceToken] {
        guard bytes.count <= MigrationLimits.bytes else { throw ConfigurationValue.tooLarge }
        var reader = SourceTokenReader(bytes: bytes)
        var tokens: [SourceToken] = []
        while let token = reader.next() {
            guard tokens.count < MigrationLimits.values else { throw ConfigurationValue.tooLarge }
            tokens.append(token)
        }
        return tokens
    }
}

/// Splits a text into tokens, in one pass.
private struct SourceTokenReader {
    /// The text.
    let bytes: [UInt8]
    /// The position of the reader.
    var index = 0

    /// Creates a reader at the beginning of the text.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The next token, or `nil` at the end.
    mutating func next() -> SourceToken? {
        while self.index < self.bytes.count {
            let byte = self.bytes[self.index]
            if self.starts("//") {
                self.index = self.bytes[self.index...].firstIndex(of: UInt8(ascii: "\n")) ?? self.bytes.count
            } else if self.starts("/*") {
                self.index += 2
                while self.index < self.bytes.count, !self.starts("*/") { self.index += 1 }
                self.index += 2
            } else if self.starts("\"\"\"") {
                return self.rawLiteral()
            } else if byte == UInt8(ascii: "\"") {
                return self.literal()
            } else if byte == UInt8(ascii: "'") {
                self.skipCharacter()
            } else if Self.isWord(byte) {
                let end = self.bytes[self.index...].firstIndex { !Self.isWord($0) } ?? self.bytes.count
                defer { self.index = end }
                return .word(String(decoding: self.bytes[self.index..<min(end, self.index + 256)], as: UTF8.self))
            } else {
                self.index += 1
                if byte > 0x20 { return .symbol(byte) }
            }
        }
        return nil
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    private func starts(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { self.bytes[self.index...].starts(with: $0) }
    }

    /// `'x'`, so that `'"'` begins no literal; one that does not end on its line is skipped alone.
    private mutating func skipCharacter() {
        var end = self.index + 1
        while end < self.bytes.count, end < self.index + 10, self.bytes[end] != UInt8(ascii: "\n") {
            if self.bytes[end] == UInt8(ascii: "'") { return self.index = end + 1 }
            end += self.bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        self.index += 1
    }

    private mutating func rawLiteral() -> SourceToken {
        self.index += 3
        let start = self.index
        while self.index < self.bytes.count, !self.starts("\"\"\"") { self.index += 1 }
        let text = self.bytes[start..<min(self.index, self.bytes.count)]
        self.index += 3
        return self.token(Array(text), isKnown: !text.contains(UInt8(ascii: "$")))
    }

    private mutating func literal() -> SourceToken {
        self.index += 1
        var text: [UInt8] = []
        var isKnown = true
        while self.index < self.bytes.count {
            let byte = self.bytes[self.index]
            self.index += 1
            switch byte {
            case UInt8(ascii: "\""): return self.token(text, isKnown: isKnown)
            case UInt8(ascii: "\n"): return .literal(nil)
            case UInt8(ascii: "$"):
                // A template of Kotlin; no pin and no pattern has this character.
                isKnown = false
            case UInt8(ascii: "\\"):
                guard self.index < self.bytes.count else { return .literal(nil) }
                let escaped = self.bytes[self.index]
                self.index += 1
                // `\/` is not an escape of either language, but is often copied from JSON.
                if "\"\\/'".utf8.contains(escaped) { text.append(escaped) } else { isKnown = false }
            default: text.append(byte)
            }
        }
        return .literal(nil)
    }

    private func token(_ text: [UInt8], isKnown: Bool) -> SourceToken {
        guard isKnown, text.count <= MigrationLimits.textBytes else { return .literal(nil) }
        return .literal(String(decoding: text, as: UTF8.self))
    }
}
