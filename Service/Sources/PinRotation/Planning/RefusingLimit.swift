// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The share of the installations that may be refused when a key is switched, in percent: `1%`, `0.5%`.
public struct RefusingLimit: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Thousandths of one percent, from 0 to 100,000. Whole, so that what is written reads back as the same.
    public let thousandths: Int64

    /// One percent, as the gate has it where nothing else is said.
    public static let standard = RefusingLimit(unchecked: 1_000)

    private init(unchecked thousandths: Int64) { self.thousandths = thousandths }

    /// Reads `1%`, `0.5%` or `0.125%`; the sign may be left out.
    ///
    /// - Returns: `nil` for anything else, and for what is not from 0 to 100.
    public init?(_ text: String) {
        var digits = Array(text.utf8.prefix(9))
        guard digits.count == text.utf8.count else { return nil }
        if digits.last == UInt8(ascii: "%") { digits.removeLast() }
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = Self.number(parts[0], maximum: 3) else { return nil }
        var fraction: Int64 = 0
        if parts.count == 2 {
            guard let number = Self.number(parts[1], maximum: 3) else { return nil }
            fraction = number * [100, 10, 1][parts[1].count - 1]
        }
        let thousandths = whole * 1_000 + fraction
        guard thousandths <= 100_000 else { return nil }
        self.thousandths = thousandths
    }

    private static func number(_ digits: ArraySlice<UInt8>, maximum: Int) -> Int64? {
        guard (1...maximum).contains(digits.count) else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    /// The number of percent.
    public var percent: Double { Double(self.thousandths) / 1_000 }

    /// `0.5%`
    public var description: String {
        let (whole, rest) = self.thousandths.quotientAndRemainder(dividingBy: 1_000)
        guard rest > 0 else { return "\(whole)%" }
        var fraction = String(repeating: "0", count: 3 - "\(rest)".count) + "\(rest)"
        while fraction.last == "0" { fraction.removeLast() }
        return "\(whole).\(fraction)%"
    }

    /// By the number of percent.
    public static func < (left: RefusingLimit, right: RefusingLimit) -> Bool { left.thousandths < right.thousandths }
}
