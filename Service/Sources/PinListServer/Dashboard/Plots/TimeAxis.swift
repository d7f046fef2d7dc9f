// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// A time axis in UTC: ticks on whole hours, days, Mondays or months, whichever gives about as many as fit.
struct TimeAxis: Hashable, Sendable {
    /// One tick.
    struct Tick: Hashable, Sendable {
        /// The time.
        let time: Timestamp
        /// The label: `18:00`, `21 Nov`, `Nov 2026`.
        let label: String
    }

    /// The ticks within the axis.
    let ticks: [Tick]

    /// The maximum number of ticks that are made: more labels would lie over each other.
    private static let maximumTicks = 12

    private static let steps: [Int64] = [
        60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 2 * 86_400, 7 * 86_400, 14 * 86_400,
    ]

    /// An axis.
    ///
    /// - Parameters:
    ///   - start: The beginning of the axis.
    ///   - end: The end of the axis: an axis that ends before it begins has no ticks.
    ///   - about: The most ticks.
    init(from start: Timestamp, to end: Timestamp, about: Int = 8) {
        let (length, overflow) = end.secondsSince1970.subtractingReportingOverflow(start.secondsSince1970)
        let maximum = min(max(about, 1), Self.maximumTicks)
        // Times outside the years that can be written have no ticks.
        guard length > 0, !overflow, start.secondsSince1970.magnitude < 253_402_300_799 else {
            self.ticks = []
            return
        }
        if let step = Self.steps.first(where: { length / $0 <= Int64(maximum) }) {
            // Day 4 was the first Monday of 1970.
            let offset: Int64 = step >= 7 * 86_400 ? 4 * 86_400 : 0
            let first = Self.roundedUp(start.secondsSince1970 - offset, to: step) + offset
            self.ticks = stride(from: first, through: end.secondsSince1970, by: Int(step)).map { seconds in
                let time = Timestamp(secondsSince1970: Int64(seconds))
                let isDay = step >= 86_400 || Int64(seconds) % 86_400 == 0
                return Tick(
                    time: time,
                    label: isDay ? TimeText.day(time) : String(time.description.dropFirst(11).prefix(5)))
            }
        } else {
            self.ticks = Self.months(from: start, to: end, about: maximum)
        }
    }

    private static func roundedUp(_ seconds: Int64, to step: Int64) -> Int64 {
        let remainder = ((seconds % step) + step) % step
        return remainder == 0 ? seconds : seconds + step - remainder
    }

    private static func months(from start: Timestamp, to end: Timestamp, about: Int) -> [Tick] {
        let first = self.month(of: start)
        let last = self.month(of: end)
        let steps = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 2_400]
        let step = steps.first { (last - first) / $0 < about } ?? 12_000
        let begin = (first + step - 1) / step * step
        return stride(from: begin, through: last, by: step).compactMap { month in
            let (year, number) = (month / 12, month % 12 + 1)
            let digits = String(repeating: "0", count: max(0, 4 - String(year).count)) + String(year)
            guard let time = try? Timestamp("\(digits)-\(number < 10 ? "0" : "")\(number)-01T00:00:00Z"),
                time >= start, time <= end
            else { return nil }
            return Tick(time: time, label: "\(TimeText.month(number)) \(year)")
        }
    }

    private static func month(of time: Timestamp) -> Int {
        let text = time.description
        return (Int(text.prefix(4)) ?? 0) * 12 + (Int(text.dropFirst(5).prefix(2)) ?? 1) - 1
    }
}
