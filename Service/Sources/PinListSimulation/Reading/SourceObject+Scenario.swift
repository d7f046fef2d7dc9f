// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListRepository

extension SourceObject {
    /// A length of time, or a moment.
    func span(_ name: String, in range: ClosedRange<Int64>) throws(RepositoryError) -> TimeSpan? {
        guard let text = try self.text(name) else { return nil }
        guard let span = TimeSpan(text.value) else {
            throw text.position.error("\(name) is not a length of time", hint: "write \(TimeSpan.form)")
        }
        guard range.contains(span.seconds) else {
            let (minimum, maximum) = (TimeSpan(seconds: range.lowerBound), TimeSpan(seconds: range.upperBound))
            throw text.position.error("\(name) is not from \(minimum) to \(maximum)")
        }
        return span
    }

    /// A whole number that this machine counts with.
    func count(_ name: String, in range: ClosedRange<Int>) throws(RepositoryError) -> Int? {
        try self.integer(name, in: Int64(range.lowerBound)...Int64(range.upperBound)).flatMap { Int(exactly: $0) }
    }

    /// A number in decimal digits with at most one point: no sign, exponent, infinity or `nan`.
    func decimal(_ name: String, in range: ClosedRange<Double>) throws(RepositoryError) -> Double? {
        guard let (text, isPlain, position) = try self.scalar(name) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let isDecimal = parts.allSatisfy { part in
            (1...12).contains(part.count) && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        guard isPlain, isDecimal, let number = Double(text), range.contains(number) else {
            throw position.error(
                "\(name) is not a number from \(range.lowerBound) to \(range.upperBound)",
                hint: "write it in decimal digits, such as 0.25")
        }
        return number
    }

    /// One of some words.
    func oneOf<Value>(
        _ name: String, _ known: [String: Value], default value: Value
    ) throws(RepositoryError) -> Value {
        guard let text = try self.text(name) else { return value }
        if let found = known[text.value] { return found }
        let words = known.keys.sorted()
        throw text.position.error(
            "\(name) must be one of \(words.joined(separator: ", "))",
            hint: NearestName.of(text.value, among: words).map { "write \($0)" })
    }

    /// A member that has to be there.
    func needed<Value>(_ name: String, _ example: String, _ value: Value?) throws(RepositoryError) -> Value {
        guard let value else { throw self.missing(name, example) }
        return value
    }

    /// The name of a key.
    func keyName(_ name: String) throws(RepositoryError) -> String? {
        guard let text = try self.text(name) else { return nil }
        return try Self.keyName(text, name)
    }

    /// The names of keys, each once.
    func keyNames(_ name: String) throws(RepositoryError) -> [String] {
        var names: [String] = []
        for text in try self.texts(name, maximum: ScenarioLimits.keysOfList) {
            let key = try Self.keyName(text, name)
            guard !names.contains(key) else { throw text.position.error("\(name) names \(key) twice") }
            names.append(key)
        }
        return names
    }

    private static func keyName(_ text: Located<String>, _ name: String) throws(RepositoryError) -> String {
        let isName = text.value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isName, (1...ScenarioLimits.nameLength).contains(text.value.utf8.count) else {
            throw text.position.error(
                "\(name): \(PrintableText.line(text.value, maximumLength: 32)) is not the name of a key",
                hint: "up to \(ScenarioLimits.nameLength) letters, digits, '.', '_' and '-', such as old and new")
        }
        return text.value
    }
}
