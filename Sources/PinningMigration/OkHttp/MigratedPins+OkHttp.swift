// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension MigratedPins {
    /// Reads calls of OkHttp's `CertificatePinner.Builder.add(pattern, pins)` out of Kotlin or Java.
    ///
    /// It reads literals, and runs no code: a pin that the program computes gives a warning. OkHttp joins the pins of
    /// all patterns that match a host, and so do the entries; `*.` becomes an entry with all subdomains.
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
    private var patterns = OkHttpPatterns()

    /// The maximum number of tokens of lookahead, in all.
    private var lookahead = 4 * MigrationLimits.values

    /// The maximum number of tokens of a call: twice the need of an entry's pins.
    private static let tokensOfACall = 512

    /// Creates a reader at the first token.
    init(_ tokens: [SourceToken]) { self.tokens = tokens }

    /// Reads all calls.
    mutating func read() throws(MigrationError) {
        var isBuilding = false
        var index = 0
        while index < self.tokens.count {
            defer { index += 1 }
            guard case .word(let word) = self.tokens[index] else { continue }
            if word == "CertificatePinner" { isBuilding = true }
            if word == "build" { isBuilding = false }
            guard word == "add", index + 1 < self.tokens.count, self.tokens[index + 1] == .symbol(UInt8(ascii: "("))
            else { continue }
            let (call, end) = self.arguments(from: index + 2)
            self.lookahead -= end - index
            guard self.lookahead > 0 else { throw ConfigurationValue.tooLarge }
            self.readCall(call, isBuilding: isBuilding)
            // Its arguments are read too, because a builder may be an argument of another call.
            index = call.contains { $0 != nil } ? end : index + 1
        }
        try self.patterns.addEntries(to: &self.collector)
    }

    /// The arguments up to the closing bracket: each a text, or `nil` for one that is not known before the program
    /// runs.
    private func arguments(from start: Int) -> (arguments: [String?], end: Int) {
        var arguments: [String?] = []
        var current: String?
        var isKnown = true
        var depth = 0
        var index = start
        func finished() -> [String?] { current == nil && isKnown ? arguments : arguments + [isKnown ? current : nil] }
        while index < self.tokens.count, index - start < Self.tokensOfACall {
            switch self.tokens[index] {
            case .symbol(UInt8(ascii: ")")) where depth == 0: return (finished(), index)
            case .symbol(UInt8(ascii: "(")): depth += 1
            case .symbol(UInt8(ascii: ")")): depth -= 1
            case .symbol(UInt8(ascii: ",")):
                arguments = finished()
                (current, isKnown) = (nil, true)
            case .literal(let text?): current = (current ?? "") + text
            case .literal(nil): isKnown = false
            // Argument labels, and the spread operator.
            case .word("pattern"), .word("pins"), .word("arrayOf"), .word("listOf"), .symbol(UInt8(ascii: "=")),
                .symbol(UInt8(ascii: "*")), .symbol(UInt8(ascii: "+")):
                break
            default: isKnown = false
            }
            index += 1
        }
        return (finished(), index)
    }

    private mutating func readCall(_ arguments: [String?], isBuilding: Bool) {
        let isOfPins = arguments.dropFirst().contains {
            $0?.hasPrefix("sha256/") == true || $0?.hasPrefix("sha1/") == true
        }
        guard isOfPins || isBuilding else { return }
        guard let pattern = arguments.first ?? nil else {
            self.collector.warn(
                nil, "add", .weaker, "left out: the pattern of a call is not a literal. Write it out and convert again")
            return
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
        self.patterns.add(pattern, pins, &self.collector)
    }
}
