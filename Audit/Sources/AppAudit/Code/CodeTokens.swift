// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Tokens of a language with braces: Objective-C, Java, Kotlin.
///
/// Enough to tell code from comments and texts, and a word from another one. What does not end is taken to end with the
/// file.
struct CodeTokens {
    /// A token.
    struct Token {
        /// The kind of token.
        enum Kind {
            case word
            case text
            case sign
        }

        let kind: Kind
        /// The word, the sign, or the text without quotation marks.
        let value: String
        let line: Int
        /// Whether it is compiled with DEBUG alone.
        let isDebug: Bool
    }

    /// The tokens.
    private(set) var all: [Token] = []

    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    /// The open `#if`, and whether what stands in each is compiled with DEBUG alone.
    private var conditions: [(branches: DebugBranches, isDebug: Bool)] = []
    /// For a sign that opens, the place of the one that closes it; 0 for all else.
    private var closing: [Int] = []

    /// Reads a file.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        self.run()
        self.pair()
    }

    private var isDebug: Bool { self.conditions.last?.isDebug ?? false }

    private func byte(_ offset: Int) -> UInt8? {
        let place = self.index + offset
        return place < self.bytes.count ? self.bytes[place] : nil
    }

    private mutating func run() {
        while let byte = self.byte(0) {
            switch byte {
            case UInt8(ascii: "\n"): self.step()
            case 0...0x20: self.index += 1
            case UInt8(ascii: "/") where self.byte(1) == UInt8(ascii: "/"): self.skipLine()
            case UInt8(ascii: "/") where self.byte(1) == UInt8(ascii: "*"): self.skipComment()
            case UInt8(ascii: "#"): self.directive()
            case UInt8(ascii: "\""), UInt8(ascii: "'"): self.quoted(byte)
            case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...:
                self.word()
            case UInt8(ascii: "0")...UInt8(ascii: "9"): self.word()
            default:
                self.add(.sign, String(UnicodeScalar(byte)), self.line)
                self.index += 1
            }
        }
    }

    private mutating func add(_ kind: Token.Kind, _ value: String, _ line: Int) {
        self.all.append(Token(kind: kind, value: value, line: line, isDebug: self.isDebug))
    }

    private mutating func step() {
        if self.byte(0) == UInt8(ascii: "\n") { self.line += 1 }
        self.index += 1
    }

    private mutating func skipLine() {
        while let byte = self.byte(0), byte != UInt8(ascii: "\n") { self.index += 1 }
    }

    private mutating func skipComment() {
        self.index += 2
        while self.byte(0) != nil {
            if self.byte(0) == UInt8(ascii: "*"), self.byte(1) == UInt8(ascii: "/") {
                self.index += 2
                return
            }
            self.step()
        }
    }

    private mutating func word() {
        let start = self.index
        while let byte = self.byte(0) {
            switch byte {
            case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
                self.index += 1
            default:
                self.add(.word, String(decoding: self.bytes[start..<self.index], as: UTF8.self), self.line)
                return
            }
        }
        self.add(.word, String(decoding: self.bytes[start..<self.index], as: UTF8.self), self.line)
    }

    private mutating func quoted(_ quote: UInt8) {
        let line = self.line
        // Kotlin's and Java's texts of several lines.
        if quote == UInt8(ascii: "\""), self.byte(1) == quote, self.byte(2) == quote {
            self.index += 3
            let start = self.index
            while self.byte(0) != nil, !(self.byte(0) == quote && self.byte(1) == quote && self.byte(2) == quote) {
                self.step()
            }
            self.add(.text, String(decoding: self.bytes[start..<self.index], as: UTF8.self), line)
            self.index += 3
            return
        }
        self.index += 1
        let start = self.index
        while let byte = self.byte(0), byte != quote, byte != UInt8(ascii: "\n") {
            self.index += byte == UInt8(ascii: "\\") && self.byte(1) != UInt8(ascii: "\n") ? 2 : 1
        }
        let end = min(self.index, self.bytes.count)
        self.add(.text, String(decoding: self.bytes[start..<end], as: UTF8.self), line)
        if self.byte(0) == quote { self.index += 1 }
    }

    /// Keeps account of `#if DEBUG`; `#import` and `#define` are read on as code.
    private mutating func directive() {
        let start = self.index
        self.index += 1
        while let byte = self.byte(0), byte == 0x20 || byte == 0x09 { self.index += 1 }
        let nameStart = self.index
        while let byte = self.byte(0), (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) { self.index += 1 }
        let name = String(decoding: self.bytes[nameStart..<self.index], as: UTF8.self)
        guard ["if", "ifdef", "ifndef", "else", "elif", "endif"].contains(name) else {
            if self.index == start + 1 { self.add(.sign, "#", self.line) }
            return
        }
        let conditionStart = self.index
        self.skipLine()
        let condition = String(decoding: self.bytes[conditionStart..<self.index], as: UTF8.self)
        if name == "endif" {
            _ = self.conditions.popLast()
            return
        }
        var branches =
            name.hasPrefix("if") ? DebugBranches() : self.conditions.popLast()?.branches ?? DebugBranches()
        // The name of `#ifdef` is a condition, too: it holds where it is defined.
        let holds = name == "else" ? nil : DebugCondition.holdsInRelease(condition)
        branches.enter(name == "ifndef" ? holds.map { !$0 } : holds)
        self.conditions.append((branches, self.isDebug || branches.isDebug))
    }

    /// Finds the ends of all groups at once: looked for one by one, those without an end would each cost a walk.
    private mutating func pair() {
        self.closing = [Int](repeating: 0, count: self.all.count)
        let pairs = [")": "(", "]": "[", "}": "{"]
        var open: [String: [Int]] = ["(": [], "[": [], "{": []]
        for (place, token) in self.all.enumerated() where token.kind == .sign {
            if open[token.value] != nil {
                open[token.value]?.append(place)
            } else if let start = pairs[token.value].flatMap({ open[$0]?.popLast() }) {
                self.closing[start] = place
            }
        }
    }

    // MARK: Asking

    /// Whether values stand one after the other from an index on.
    func has(_ values: [String], at index: Int) -> Bool {
        guard index >= 0, index + values.count <= self.all.count else { return false }
        for (offset, value) in values.enumerated() where self.all[index + offset].value != value { return false }
        return true
    }

    /// From an opening sign to the one that closes it, both included; up to a number of tokens.
    func group(at index: Int, maximum: Int = 20_000) -> Range<Int>? {
        guard self.closing.indices.contains(index) else { return nil }
        let end = self.closing[index]
        return end > index && end - index < maximum ? index..<end + 1 : nil
    }

    /// The next place of a sign.
    func next(_ sign: String, from index: Int, maximum: Int = 200) -> Int? {
        guard index < self.all.count else { return nil }
        return (index..<min(self.all.count, index + maximum)).first {
            self.all[$0].kind == .sign && self.all[$0].value == sign
        }
    }

    /// The words in a range.
    func words(in range: Range<Int>) -> Set<String> {
        Set(self.all[range].lazy.filter { $0.kind == .word }.map(\.value))
    }
}
