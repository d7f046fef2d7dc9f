// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Whether a Swift file has the shape of one that a person or a generator wrote.
///
/// The parser of swift-syntax takes a time that grows with the square of how deep brackets nest, and of how often modifiers
/// and the like repeat. A file that was made to be slow is refused before it is parsed.
struct SourceShape {
    /// The deepest that brackets, interpolations and `#if` may nest. Written code stays below 40.
    static let depth = 200
    /// The number of tokens that may come again a few tokens later, one after the other. A comma ends that: tables of
    /// zeros are real.
    static let repetition = 2_000
    /// The number of tokens between repetitions.
    static let period = 8

    private enum Mode {
        case bracket
        /// Code within a text with so many `#`, of one line or several.
        case interpolation(hashes: Int, isLong: Bool)
    }

    private let bytes: [UInt8]
    private var index = 0
    private var open: [Mode] = []
    private var conditions = 0
    private var last = [UInt64](repeating: 0, count: Self.period)
    private var next = 0
    private var runs = [Int](repeating: 0, count: Self.period)
    private var maximum = 0

    /// The reason for which a file is not parsed; `nil` for those that are.
    static func defect(of bytes: [UInt8]) -> String? {
        var shape = SourceShape(bytes: bytes)
        return shape.defect()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func has(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { wanted in
            guard self.bytes.count - self.index >= wanted.count else { return false }
            for offset in 0..<wanted.count where self.bytes[self.index + offset] != wanted[offset] { return false }
            return true
        }
    }

    private mutating func defect() -> String? {
        while self.index < self.bytes.count {
            let byte = self.bytes[self.index]
            switch byte {
            case 0...0x20: self.index += 1
            case UInt8(ascii: "/") where self.has("//"):
                while self.index < self.bytes.count, self.bytes[self.index] != UInt8(ascii: "\n") { self.index += 1 }
            case UInt8(ascii: "/") where self.has("/*"): self.skipComment()
            case UInt8(ascii: "\""): self.skipText(hashes: 0)
            case UInt8(ascii: "#"): self.hash()
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
                self.open.append(.bracket)
                self.sign(byte)
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): self.close(byte)
            default: self.token()
            }
            if self.open.count + self.conditions > Self.depth { return "it nests over \(Self.depth) deep" }
            if self.maximum > Self.repetition { return "the same few words repeat over \(Self.repetition) times" }
        }
        return nil
    }

    /// Counts how often the tokens before come again.
    private mutating func count(_ token: UInt64) {
        for offset in 0..<Self.period {
            let isSame = self.last[offset] == token
            // Counted by the place in the ring, which is the same for tokens of one distance.
            let distance = (self.next - offset + Self.period) % Self.period
            self.runs[distance] = isSame ? self.runs[distance] + 1 : 0
            self.maximum = max(self.maximum, self.runs[distance])
        }
        self.last[self.next] = token
        self.next = (self.next + 1) % Self.period
    }

    private mutating func sign(_ byte: UInt8) {
        self.index += 1
        guard byte == UInt8(ascii: ",") else { return self.count(UInt64(byte)) }
        for distance in self.runs.indices { self.runs[distance] = 0 }
    }

    private mutating func token() {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        let start = self.index
        while self.index < self.bytes.count {
            let byte = self.bytes[self.index]
            let isWord =
                byte >= 0x80 || byte == UInt8(ascii: "_") || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
                || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
            guard isWord else { break }
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            self.index += 1
        }
        if self.index == start { self.sign(self.bytes[start]) } else { self.count(hash) }
    }

    private mutating func skipComment() {
        var depth = 0
        while self.index < self.bytes.count {
            if self.has("/*") {
                depth += 1
                self.index += 2
            } else if self.has("*/") {
                depth -= 1
                self.index += 2
                if depth == 0 { return }
            } else {
                self.index += 1
            }
        }
    }

    /// `#if` and its end, or the beginning of a raw text.
    private mutating func hash() {
        let start = self.index
        while self.index < self.bytes.count, self.bytes[self.index] == UInt8(ascii: "#") { self.index += 1 }
        if self.index < self.bytes.count, self.bytes[self.index] == UInt8(ascii: "\"") {
            return self.skipText(hashes: self.index - start)
        }
        if self.has("if") {
            self.conditions += 1
        } else if self.has("endif") {
            self.conditions = max(0, self.conditions - 1)
        }
        self.count(UInt64(UInt8(ascii: "#")))
    }

    private mutating func close(_ byte: UInt8) {
        self.index += 1
        let mode = self.open.popLast()
        self.count(UInt64(byte))
        if case .interpolation(let hashes, let isLong)? = mode { self.skipRest(hashes: hashes, isLong: isLong) }
    }

    private mutating func skipText(hashes: Int) {
        let isLong = self.has("\"\"\"")
        self.index += isLong ? 3 : 1
        self.count(UInt64(UInt8(ascii: "\"")))
        self.skipRest(hashes: hashes, isLong: isLong)
    }

    /// To the end of a text, or to code within it.
    private mutating func skipRest(hashes: Int, isLong: Bool) {
        while self.index < self.bytes.count {
            let byte = self.bytes[self.index]
            if byte == UInt8(ascii: "\n"), !isLong { return }
            if byte == UInt8(ascii: "\\") {
                self.index += 1
                var found = 0
                while found < hashes, self.index < self.bytes.count, self.bytes[self.index] == UInt8(ascii: "#") {
                    found += 1
                    self.index += 1
                }
                guard found == hashes, self.index < self.bytes.count else { continue }
                let isCode = self.bytes[self.index] == UInt8(ascii: "(")
                self.index += 1
                guard isCode else { continue }
                self.open.append(.interpolation(hashes: hashes, isLong: isLong))
                return
            }
            let quotes = isLong ? 3 : 1
            guard byte == UInt8(ascii: "\""), !isLong || self.has("\"\"\"") else {
                self.index += 1
                continue
            }
            self.index += quotes
            var found = 0
            while found < hashes, self.index < self.bytes.count, self.bytes[self.index] == UInt8(ascii: "#") {
                found += 1
                self.index += 1
            }
            if found == hashes { return }
        }
    }
}
