// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension MigratedPins {
    /// Reads calls of OkHttp's `CertificatePinner.Builder.add(pattern, pins)` out of Kotlin or Java.
    ///
    /// It reads literals and constants of the same file, and runs no code: a pin that the program computes gives a warning,
    /// and so does one that stands in no call which can be read, or in a call that is not always made with those beside it.
    /// OkHttp joins the pins of all patterns that match a host, and so do the entries; `*.` becomes an entry with all
    /// subdomains.
    ///
    /// - Throws: ``MigrationError`` when there is no such call with a literal.
    @_spi(Tools) public init(okHttpSource bytes: [UInt8]) throws(MigrationError) {
        var reader = OkHttpReader(try SourceToken.tokens(of: bytes))
        try reader.read()
        self = try MigratedPins(reader.collector)
    }
}

/// Finds the calls, and converts their patterns to entries.
struct OkHttpReader {
    /// The entries and warnings so far.
    private(set) var collector = MigrationCollector()
    private let tokens: [SourceToken]
    private let constants: SourceConstants
    /// The variables that hold a builder.
    private let builders: Set<String>
    private var patterns = OkHttpPatterns()
    /// The places of the literals that belong to a call that was read.
    private var readLiterals: Set<Int> = []

    /// The maximum number of tokens of lookahead, in all.
    private var lookahead = 4 * MigrationLimits.values

    /// The maximum number of tokens of a call: twice the need of an entry's pins.
    private static let tokensOfACall = 512

    /// Creates a reader at the first token.
    init(_ tokens: [SourceToken]) {
        self.tokens = tokens
        self.constants = SourceConstants(tokens)
        self.builders = Self.builders(tokens)
    }

    /// Reads all calls.
    mutating func read() throws(MigrationError) {
        var isBuilding = false
        // The end of the last call on a variable that holds a builder: another call may follow it.
        var chain: Int?
        var together = CallsTogether()
        var index = 0
        while index < self.tokens.count {
            defer { index += 1 }
            guard case .word(let word) = self.tokens[index] else { continue }
            if word == "CertificatePinner" { isBuilding = true }
            if word == "build" { isBuilding = false }
            guard word == "add", index + 1 < self.tokens.count, self.tokens[index + 1] == .symbol(UInt8(ascii: "("))
            else { continue }
            let (call, end, literals) = self.arguments(from: index + 2)
            self.lookahead -= end - index
            guard self.lookahead > 0 else { throw ConfigurationValue.tooLarge }
            let isOfBuilder = self.isOnBuilder(index, behind: chain)
            if isOfBuilder { chain = end }
            together = CallsTogether(self.tokens, index, behind: together)
            together.end = end
            if self.readCall(call, together.number, isBuilding: isBuilding || isOfBuilder) {
                self.readLiterals.formUnion(literals)
            }
            // Its arguments are read too, because a builder may be an argument of another call.
            index = call.contains { $0 != nil } ? end : index + 1
        }
        self.warnOfUnread()
        try self.patterns.addEntries(to: &self.collector)
    }

    /// Names the pins that belong to no call that was read: their program adds them in another way.
    private mutating func warnOfUnread() {
        let unread = self.tokens.indices.filter { index in
            guard case .literal(let text?) = self.tokens[index], Self.isPin(text) else { return false }
            return !self.readLiterals.contains(index)
        }
        guard let first = unread.first, case .literal(let text?) = self.tokens[first] else { return }
        let others = unread.count == 1 ? "" : ", and \(unread.count - 1) more"
        self.collector.warn(
            nil, "add", .weaker,
            "left out: no call that can be read has \"\(PrintableText.line(text, maximumLength: 64))\"\(others). "
                + "Write pattern and pins out in calls of add and convert again")
    }

    private static func isPin(_ text: String) -> Bool { text.hasPrefix("sha256/") || text.hasPrefix("sha1/") }

    /// The names of variables and parameters that are declared to be a builder, or are set to one.
    private static func builders(_ tokens: [SourceToken]) -> Set<String> {
        var names: Set<String> = []
        for index in tokens.indices.dropLast(3) where tokens[index] == .word("CertificatePinner") {
            guard tokens[index + 1] == .symbol(UInt8(ascii: ".")), tokens[index + 2] == .word("Builder") else {
                continue
            }
            if case .word(let name) = tokens[index + 3] { names.insert(name) }
            let before = index > 0 && tokens[index - 1] == .word("new") ? index - 2 : index - 1
            if before > 0, [.symbol(UInt8(ascii: ":")), .symbol(UInt8(ascii: "="))].contains(tokens[before]),
                case .word(let name) = tokens[before - 1]
            {
                names.insert(name)
            }
        }
        return names
    }

    /// Whether a call is on a variable that holds a builder, or on the result of such a call.
    private func isOnBuilder(_ index: Int, behind chain: Int?) -> Bool {
        guard index >= 2, self.tokens[index - 1] == .symbol(UInt8(ascii: ".")) else { return false }
        if case .word(let name) = self.tokens[index - 2] { return self.builders.contains(name) }
        return chain == index - 2
    }

    /// The arguments up to the closing bracket: each a text, or `nil` for one that is not known before the program
    /// runs; and the places of their literals.
    private func arguments(from start: Int) -> (arguments: [String?], end: Int, literals: [Int]) {
        var arguments: [String?] = []
        var literals: [Int] = []
        var current: String?
        var isKnown = true
        var depth = 0
        var index = start
        func join(_ text: String) {
            // No pattern and no pin is as long; constants could make it so at no cost.
            let length = (current?.utf8.count ?? 0) + text.utf8.count
            guard length <= MigrationLimits.textBytes else { return isKnown = false }
            if current == nil { current = text } else { current?.append(text) }
        }
        func finished() -> [String?] { current == nil && isKnown ? arguments : arguments + [isKnown ? current : nil] }
        while index < self.tokens.count, index - start < Self.tokensOfACall {
            switch self.tokens[index] {
            case .symbol(UInt8(ascii: ")")) where depth == 0: return (finished(), index, literals)
            case .symbol(UInt8(ascii: "(")): depth += 1
            case .symbol(UInt8(ascii: ")")): depth -= 1
            case .symbol(UInt8(ascii: ",")):
                arguments = finished()
                (current, isKnown) = (nil, true)
            case .literal(let text?):
                join(text)
                literals.append(index)
            case .literal(nil): isKnown = false
            // Argument labels, and the spread operator.
            case .word("pattern"), .word("pins"), .word("arrayOf"), .word("listOf"), .symbol(UInt8(ascii: "=")),
                .symbol(UInt8(ascii: "*")), .symbol(UInt8(ascii: "+")):
                break
            case .word(let type) where self.isQualifier(type, at: index):
                // The name of its constant comes next.
                index += 1
            case .word(let name):
                let isBehindType = self.tokens[index - 1] == .symbol(UInt8(ascii: "."))
                guard let constant = self.constants.constant(name, at: isBehindType ? nil : index) else {
                    isKnown = false
                    break
                }
                join(constant.text)
                literals += constant.literals
            default: isKnown = false
            }
            index += 1
        }
        return (finished(), index, literals)
    }

    /// Whether a word and a dot are those before the constant of a type.
    private func isQualifier(_ word: String, at index: Int) -> Bool {
        guard index + 2 < self.tokens.count, self.tokens[index + 1] == .symbol(UInt8(ascii: ".")),
            case .word = self.tokens[index + 2]
        else { return false }
        return self.constants.isType(word)
    }

    /// Reads a call; whether it is one of a builder's.
    private mutating func readCall(_ arguments: [String?], _ together: Int, isBuilding: Bool) -> Bool {
        let isOfPins = arguments.dropFirst().contains { $0.map(Self.isPin) ?? false }
        guard isOfPins || isBuilding else { return false }
        guard let pattern = arguments.first ?? nil else {
            self.collector.warn(
                nil, "add", .weaker, "left out: the pattern of a call is not a literal. Write it out and convert again")
            return true
        }
        var pins: [Pin] = []
        for argument in arguments.dropFirst() {
            guard let text = argument else {
                self.collector.warn(
                    pattern, "add", .stricter, "left out: a pin is not a literal. Write it out and convert again")
                continue
            }
            if text.hasPrefix("sha1/") {
                self.collector.warn(pattern, "add", .stricter, "left out: a SHA-1 pin. Add the SHA-256 of the same key")
            } else if let pin = self.collector.pin(text, of: pattern, "add") {
                pins.append(pin)
            }
        }
        self.patterns.add(pattern, pins, together, &self.collector)
        return true
    }
}

/// Calls of which a program makes all or none: those of one chain, and those of statements that follow each other. One
/// behind a condition, or of another builder, may be made without the others.
private struct CallsTogether {
    /// Their number in the file.
    private(set) var number = 0
    /// The end of the last one.
    var end = -1
    /// What they are called on; `nil` in a block of the builder's own.
    private var receiver: SourceToken?
    /// Whether the first one is a statement that nothing stands before: a condition would be for that one alone.
    private var isStatement = false

    private static let ends = ";{}".utf8.map(SourceToken.symbol)
    private static let newBuilder: [SourceToken] = [
        .word("Builder"), .symbol(UInt8(ascii: "(")), .symbol(UInt8(ascii: ")")),
    ]

    /// Those before the first call.
    init() {}

    /// Those of the call at an index, or of the ones before it.
    init(_ tokens: [SourceToken], _ index: Int, behind last: Self) {
        self = last
        let isOnValue = index > 1 && tokens[index - 1] == .symbol(UInt8(ascii: "."))
        let start = isOnValue ? index - 2 : index
        let receiver = isOnValue ? tokens[start] : nil
        let isBehindSemicolon = start > 0 && tokens[start - 1] == .symbol(UInt8(ascii: ";"))
        let before = isBehindSemicolon ? start - 2 : start - 1
        if isOnValue, start == last.end { return }
        if last.isStatement, receiver == last.receiver, before == last.end { return }
        self.number += 1
        self.receiver = receiver
        self.isStatement =
            start == 0 || Self.ends.contains(tokens[start - 1]) || tokens[..<start].suffix(3) == Self.newBuilder[...]
    }
}
