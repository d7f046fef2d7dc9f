// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A length of time, or a moment of a scenario counted from its beginning, in whole seconds: `300s`, `2.6d`, `14d2h`.
public struct TimeSpan: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The seconds, from 0 to ``maximum``.
    public let seconds: Int64

    /// The maximum span, in seconds: a hundred years. No sum of two overflows.
    public static let maximum: Int64 = 36_525 * 86_400

    /// The maximum number of digits behind the point: a part of a day to less than a second.
    private static let fractionDigits = 6

    /// The right form, for errors.
    public static let form = "numbers with s, m, h or d, such as 300s, 2.6d or 14d2h"

    private static let units: [(letter: UInt8, seconds: Int64)] = [
        (UInt8(ascii: "d"), 86_400), (UInt8(ascii: "h"), 3_600), (UInt8(ascii: "m"), 60), (UInt8(ascii: "s"), 1),
    ]

    /// So many seconds; below 0 it is 0, and above ``maximum`` that.
    public init(seconds: Int64) { self.seconds = min(max(seconds, 0), Self.maximum) }

    /// So many whole days.
    public init(days: Int) { self.init(seconds: Int64(min(max(days, 0), 36_525)) * 86_400) }

    /// Reads a text: one or more decimal numbers, each with its unit, the larger unit first and each unit once.
    ///
    /// - Returns: `nil` for any other text, and for more than ``maximum``.
    public init?(_ text: String) {
        var seconds: Int64 = 0
        var rest = Array(text.utf8)[...]
        var units = Self.units[...]
        guard (2...64).contains(rest.count) else { return nil }
        while !rest.isEmpty {
            guard let end = rest.firstIndex(where: { byte in units.contains { $0.letter == byte } }),
                let unit = units.firstIndex(where: { $0.letter == rest[end] }),
                let part = Self.seconds(rest[..<end], in: units[unit].seconds)
            else { return nil }
            seconds += part
            guard seconds <= Self.maximum else { return nil }
            rest = rest[(end + 1)...]
            units = units[(unit + 1)...]
        }
        self.seconds = seconds
    }

    /// A decimal number of a unit, in seconds, rounded to the nearest.
    private static func seconds(_ text: ArraySlice<UInt8>, in unit: Int64) -> Int64? {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = self.number(parts.first ?? [], digits: 10), whole <= self.maximum / unit else { return nil }
        guard parts.count == 2 else { return whole * unit }
        guard let fraction = self.number(parts[1], digits: self.fractionDigits) else { return nil }
        let scale = parts[1].reduce(Int64(1)) { scale, _ in scale * 10 }
        return whole * unit + (fraction * unit * 2 + scale) / (2 * scale)
    }

    private static func number(_ digits: ArraySlice<UInt8>, digits maximum: Int) -> Int64? {
        guard (1...maximum).contains(digits.count) else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    /// `14d2h`: whole units, the largest first; `0d` for none.
    public var description: String {
        var rest = self.seconds
        var text = ""
        for unit in Self.units where rest >= unit.seconds {
            text += "\(rest / unit.seconds)\(Character(Unicode.Scalar(unit.letter)))"
            rest %= unit.seconds
        }
        return text.isEmpty ? "0d" : text
    }

    /// Shorter, or earlier, comes first.
    public static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.seconds < right.seconds }
}
