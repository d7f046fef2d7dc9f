// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A point in time: whole seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// Written as RFC 3339 in UTC with whole seconds and `Z` alone, so that each platform reads what another wrote. Our
/// own, because this module links no Foundation.
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Seconds since 1970-01-01T00:00:00Z.
    public let secondsSince1970: Int64

    /// The time so many seconds after 1970-01-01T00:00:00Z.
    public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    /// The second that a moment lies in; the first or the last `Timestamp` for a moment out of range.
    ///
    /// - Parameter secondsSince1970: The seconds since then, with their fraction, as Foundation's `Date` has them. NaN
    ///   gives the last time: everything has expired then.
    public init(roundingDown secondsSince1970: Double) {
        let whole = secondsSince1970.rounded(.down)
        self.init(secondsSince1970: Int64(exactly: whole) ?? (whole < 0 ? .min : .max))
    }

    /// Reads `2026-11-21T00:00:00Z`: 20 characters, years 0000 to 9999.
    ///
    /// - Throws: ``InputError/Code/timestamp`` for anything else, a day that its month does not have included.
    public init(_ text: String) throws(InputError) {
        let characters = Array(text.utf8.prefix(21))
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for character in characters[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
                value = value * 10 + Int(character - UInt8(ascii: "0"))
            }
            return value
        }
        let separators: [(Int, UInt8)] = [
            (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: "T")),
            (13, UInt8(ascii: ":")), (16, UInt8(ascii: ":")), (19, UInt8(ascii: "Z")),
        ]
        guard characters.count == 20, separators.allSatisfy({ characters[$0.0] == $0.1 }),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let time = Timestamp(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else {
            throw InputError(.timestamp, "a time is written like 2026-11-21T00:00:00Z: UTC, whole seconds, with Z")
        }
        self = time
    }

    /// The second of a date in the Gregorian calendar, in UTC; `nil` for a day that its month does not have, a leap second, or
    /// a year outside of 0 to 9999.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (0...9_999).contains(year), (1...12).contains(month),
            (1...Self.days(inMonth: month, of: year)).contains(day),
            (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second)
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        self.secondsSince1970 = Int64(days) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
    }

    /// `2026-11-21T00:00:00Z`; times outside the years 0000 to 9999 are written as the nearest one within.
    public var description: String {
        let first: Int64 = -62_167_219_200
        let last: Int64 = 253_402_300_799
        let clamped = min(max(self.secondsSince1970, first), last)
        let seconds = Int((clamped - first) % 86_400)
        var days = Int((clamped - first) / 86_400)
        var year = days / 146_097 * 400
        days %= 146_097
        while days >= Self.days(inYear: year) {
            days -= Self.days(inYear: year)
            year += 1
        }
        var month = 1
        while days >= Self.days(inMonth: month, of: year) {
            days -= Self.days(inMonth: month, of: year)
            month += 1
        }
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(days + 1, 2))"
        return "\(date)T\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))Z"
    }

    /// Earlier comes first.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.secondsSince1970 < right.secondsSince1970
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func days(inYear year: Int) -> Int { self.isLeap(year) ? 366 : 365 }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: self.isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        // Years begin in March here, so that the leap day is the last day of a year.
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
