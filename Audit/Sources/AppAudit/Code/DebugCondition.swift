// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The branches of one `#if`: which of them are compiled with DEBUG alone.
struct DebugBranches {
    /// Whether a branch before is compiled whenever DEBUG is not defined.
    private var isTaken = false
    /// Whether the branch that was entered last is compiled with DEBUG alone.
    private(set) var isDebug = false

    /// Enters the next branch.
    ///
    /// - Parameter condition: Whether it holds without DEBUG; `nil` where that is not known, and for `#else`.
    mutating func enter(_ condition: Bool?) {
        self.isDebug = self.isTaken || condition == false
        if condition == true { self.isTaken = true }
    }
}

/// A condition of `#if`, in Swift or for the preprocessor of C, as it is where DEBUG is not defined.
///
/// Everything else is unknown: another flag, the system, a version. What may be compiled for a release is taken to be.
struct DebugCondition {
    private enum Limits {
        static let bytes = 2_000
        static let depth = 64
    }

    /// A part of a condition: a number, where it is one, and whether it holds.
    private struct Term {
        var number: Int?
        var holds: Bool?
    }

    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    /// Whether a condition holds without DEBUG; `nil` where that is not known.
    static func holdsInRelease(_ text: String) -> Bool? {
        guard text.utf8.count <= Limits.bytes else { return nil }
        var reader = DebugCondition(bytes: Array(text.utf8))
        let holds = reader.any()
        reader.skipBlanks()
        return reader.index == reader.bytes.count ? holds : nil
    }

    /// Whether a name is defined without DEBUG: NDEBUG is what release builds of C define.
    static func isDefined(_ name: String) -> Bool? { name == "DEBUG" ? false : name == "NDEBUG" ? true : nil }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func any() -> Bool? {
        var holds = self.all()
        while self.take("||") {
            let other = self.all()
            holds = holds == true || other == true ? true : holds == false && other == false ? false : nil
        }
        return holds
    }

    private mutating func all() -> Bool? {
        var holds = self.compared()
        while self.take("&&") {
            let other = self.compared()
            holds = holds == false || other == false ? false : holds == true && other == true ? true : nil
        }
        return holds
    }

    private mutating func compared() -> Bool? {
        let left = self.term()
        for (sign, compare) in Self.comparisons where self.take(sign) {
            guard let left = left.number, let right = self.term().number else { return nil }
            return compare(left, right)
        }
        return left.holds
    }

    private static let comparisons: [(sign: String, compare: @Sendable (Int, Int) -> Bool)] = [
        ("==", { $0 == $1 }), ("!=", { $0 != $1 }), (">=", { $0 >= $1 }), ("<=", { $0 <= $1 }), (">", { $0 > $1 }),
        ("<", { $0 < $1 }),
    ]

    private mutating func term() -> Term {
        self.depth += 1
        defer { self.depth -= 1 }
        guard self.depth <= Limits.depth else {
            self.index = self.bytes.count
            return Term()
        }
        if self.take("!") { return Term(holds: self.term().holds.map { !$0 }) }
        if self.take("(") {
            let holds = self.any()
            _ = self.take(")")
            return Term(number: holds == false ? 0 : nil, holds: holds)
        }
        let word = self.word()
        if word == "defined" {
            let isOpen = self.take("(")
            let holds = Self.isDefined(self.word())
            if isOpen { _ = self.take(")") }
            return Term(holds: holds)
        }
        // `canImport(X)` and the like.
        if self.take("(") {
            self.skipArguments()
            return Term()
        }
        if let number = Int(word) { return Term(number: number) }
        let holds = Self.isDefined(word)
        return Term(number: holds == false ? 0 : nil, holds: holds)
    }

    private mutating func word() -> String {
        self.skipBlanks()
        let start = self.index
        while self.index < self.bytes.count {
            switch self.bytes[self.index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
                self.index += 1
                continue
            default: break
            }
            break
        }
        return String(decoding: self.bytes[start..<self.index], as: UTF8.self)
    }

    private mutating func skipArguments() {
        var open = 1
        while open > 0, self.index < self.bytes.count {
            if self.bytes[self.index] == UInt8(ascii: "(") { open += 1 }
            if self.bytes[self.index] == UInt8(ascii: ")") { open -= 1 }
            self.index += 1
        }
    }

    /// Passes over blanks, and comments.
    private mutating func skipBlanks() {
        while self.index < self.bytes.count {
            if self.bytes[self.index] <= 0x20 {
                self.index += 1
            } else if self.has("//") {
                while self.index < self.bytes.count, self.bytes[self.index] != UInt8(ascii: "\n") { self.index += 1 }
            } else if self.has("/*") {
                while self.index < self.bytes.count, !self.has("*/") { self.index += 1 }
                self.index = min(self.bytes.count, self.index + 2)
            } else {
                return
            }
        }
    }

    private func has(_ sign: String) -> Bool { self.bytes[self.index...].starts(with: sign.utf8) }

    private mutating func take(_ sign: String) -> Bool {
        self.skipBlanks()
        guard self.has(sign) else { return false }
        // `!` alone is another sign than `!=`.
        if sign == "!", self.bytes[self.index...].starts(with: "!=".utf8) { return false }
        self.index += sign.utf8.count
        return true
    }
}
