// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The value of `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a time.
///
/// The server is not trusted: a client never waits for longer than a day (formats.md, section 7).
public struct RetryAfter: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The maximum wait that a server can ask for, in seconds: a day (formats.md, section 7).
    public static let maximum: Int64 = 86_400

    private enum Moment: Hashable, Sendable {
        case seconds(Int64)
        case time(Timestamp)
        /// A time whose year has two digits: of this century, or, if that is far ahead, of the last.
        case timeOfSomeCentury(Timestamp)
    }

    private let moment: Moment

    private init(_ moment: Moment) { self.moment = moment }

    /// A number of seconds.
    public init(seconds: Int64) { self.moment = .seconds(min(max(seconds, 0), Self.maximum)) }

    /// A number of seconds.
    public init(integerLiteral seconds: Int64) { self.init(seconds: seconds) }

    /// Reads the value of the field: digits, or a date in one of HTTP's three forms (RFC 9110, section 5.6.7).
    ///
    /// - Returns: `nil` for any other text, as if there were no such field.
    public init?(_ field: String) {
        let text = Array(field.utf8)
        if !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) {
            // Any number of digits: a number that does not fit is over a day.
            self.init(seconds: Int64(field) ?? Self.maximum)
        } else if let moment = Self.moment(field) {
            self.init(moment)
        } else {
            return nil
        }
    }

    /// The wait in seconds: 0 for a time in the past, at most ``maximum``.
    public func seconds(at now: Timestamp) -> Int64 {
        switch self.moment {
        case .seconds(let seconds): return seconds
        case .time(let time): return Self.seconds(from: now, to: time)
        case .timeOfSomeCentury(let time):
            let isLastCentury = time.secondsSince1970 - Self.fiftyYears > now.secondsSince1970
            return isLastCentury ? 0 : Self.seconds(from: now, to: time)
        }
    }

    /// 50 years in seconds: a year of two digits is never further ahead (RFC 9110, section 5.6.7).
    private static let fiftyYears: Int64 = 50 * 365 * 86_400 + 12 * 86_400

    private static func seconds(from now: Timestamp, to time: Timestamp) -> Int64 {
        let (wait, isOver) = time.secondsSince1970.subtractingReportingOverflow(now.secondsSince1970)
        guard !isOver else { return time > now ? self.maximum : 0 }
        return min(max(wait, 0), self.maximum)
    }

    // MARK: Dates

    private static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func moment(_ field: String) -> Moment? {
        guard field.utf8.count <= 64, field.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let words = field.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
        let short = self.days.map { String($0.prefix(3)) }
        switch words.count {
        case 6 where words[5] == "GMT" && short.contains { "\($0)," == words[0] }:
            // Sun, 06 Nov 1994 08:49:37 GMT
            return self.time(words[3], words[2], words[1], words[4]).map { .time($0) }
        case 4 where words[3] == "GMT" && self.days.contains { "\($0)," == words[0] }:
            // Sunday, 06-Nov-94 08:49:37 GMT
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
            guard date.count == 3, date[2].utf8.count == 2 else { return nil }
            return self.time("20\(date[2])", date[1], date[0], words[2]).map { .timeOfSomeCentury($0) }
        case 5 where short.contains(words[0]):
            // Sun Nov 16 08:49:37 1994
            return self.time(words[4], words[1], words[2], words[3]).map { .time($0) }
        case 6 where short.contains(words[0]) && words[2].isEmpty && words[3].utf8.count == 1:
            // Sun Nov  6 08:49:37 1994
            return self.time(words[5], words[1], "0\(words[3])", words[4]).map { .time($0) }
        default: return nil
        }
    }

    private static func time(_ year: String, _ month: String, _ day: String, _ time: String) -> Timestamp? {
        guard let month = self.months.firstIndex(of: month) else { return nil }
        // A leap second is the second before it.
        let time = time.hasSuffix(":60") ? "\(time.dropLast(2))59" : time
        return try? Timestamp("\(year)-\(month < 9 ? "0" : "")\(month + 1)-\(day)T\(time)Z")
    }
}
