// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A length of time as people write it: `90s`, `5m`, `12h`, `30d` (formats.md, section 9).
public enum SourceDuration {
    /// The maximum time that is read, in days: a hundred years. No sum with it overflows.
    public static let maximumDays: Int64 = 36_525

    private static let units: [(letter: UInt8, seconds: Int64)] = [
        (UInt8(ascii: "d"), 86_400), (UInt8(ascii: "h"), 3_600), (UInt8(ascii: "m"), 60), (UInt8(ascii: "s"), 1),
    ]

    /// The right form, for errors.
    public static let form = "a whole number and s, m, h or d, such as 90s, 5m, 12h or 30d"

    /// The seconds of a text, or `nil` when it is none or not above zero.
    public static func seconds(of text: String) -> Int64? {
        guard let letter = text.utf8.last, let unit = self.units.first(where: { $0.letter == letter }) else {
            return nil
        }
        let digits = text.utf8.dropLast()
        guard (1...12).contains(digits.count), digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(String(decoding: Array(digits), as: UTF8.self))
        else { return nil }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: unit.seconds)
        return overflow || seconds > self.maximumDays * 86_400 ? nil : seconds
    }

    /// A length of time in its largest whole unit: `14d`, `90s`.
    public static func text(_ seconds: Int64) -> String {
        for unit in self.units where seconds != 0 && seconds % unit.seconds == 0 {
            return "\(seconds / unit.seconds)\(String(decoding: [unit.letter], as: UTF8.self))"
        }
        return "\(seconds)s"
    }

    /// A length of time for people, in whole units cut off: `3 d`, `5 h`.
    public static func rough(_ seconds: Int64) -> String {
        for unit in self.units where abs(seconds) >= unit.seconds {
            return "\(seconds / unit.seconds) \(String(decoding: [unit.letter], as: UTF8.self))"
        }
        return "0 s"
    }
}
