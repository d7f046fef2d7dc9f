// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The failure rate of a host: the last hour against what is usual.
package struct HostRate: Hashable, Sendable {
    /// The noted host; empty for list incidents.
    package let host: String
    /// Reports in the last sixty minutes.
    package let lastHour: Double
    /// Reports in an hour of the week before, in the mean of all its hours: as many as would have come if as many installations had
    /// reported all week as do now (``ReportRate``).
    package let usual: Double
    /// The number of pin failures in the last hour.
    package let pinFailures: Double
    /// Whole hours without a report, up to now: as many as it is at least, for when in its hour the last one came is not
    /// known.
    package let silentHours: Int64
    /// Reports by the hour, the oldest first, of the last week.
    package let hours: [Int64]
    /// The range of ``usual`` while installations still hold lists of this week, by which fewer or more of them report.
    let usualRange: ClosedRange<Double>
    /// The same figures as charts show them.
    package let multiplied: Multiplied

    /// Figures as if all installations reported: reports of a sample, multiplied.
    package struct Multiplied: Hashable, Sendable {
        /// Failures in the last sixty minutes.
        package var lastHour = 0.0
        /// The part of these that are pin failures.
        package var pinFailures = 0.0
        /// Failures in an hour of the week before, in the mean.
        package var usual = 0.0
        /// Failures by the hour, the oldest first, of the last week.
        package var hours: [Double] = []
        /// The factors of the reports of these hours.
        package var factors: Set<Double> = []
    }

    /// Stands for the hosts of groups that there was no room for; no host is called so.
    package static let otherHosts = "*"

    /// A rate as a whole number, for people.
    package static func whole(_ rate: Double) -> Int { Int(exactly: rate.rounded()) ?? 0 }

    /// The number of hours in the week that a rate is compared with.
    package static let week: Int64 = 168
    /// The maximum number of hosts that no list has whose rates are shown: any sender can report a host that does not
    /// exist.
    package static let maximumUnlisted = 200
    /// The minimum number of reports of an hour that an alarm is worth: fewer may be one network.
    static let minimumAlarming = 10.0
    /// The usual rate below which silence says nothing.
    static let minimumUsual = 5.0
    /// The number of hours of silence that are one too many.
    package static let maximumSilence: Int64 = 3

    /// Whether more fail than usual: over four times as many, and beyond what chance does to small numbers.
    ///
    /// Reports are compared as they came. A list that lets fewer or more installations report takes days to reach them,
    /// so for the week after it this is asked of the most that may be usual, and ``isSilent`` of the fewest: a change is
    /// neither a storm nor silence.
    package var isAboveUsual: Bool {
        let usual = self.usualRange.upperBound
        return self.lastHour >= Self.minimumAlarming && self.lastHour > 4 * usual + 3 * usual.squareRoot()
    }

    /// Whether reports stopped coming where there used to be some: an interceptor can swallow them.
    package var isSilent: Bool {
        self.usualRange.lowerBound >= Self.minimumUsual && self.silentHours >= Self.maximumSilence
    }

    /// Adds rates up.
    package init(_ host: String, adding rates: [HostRate]) {
        self.host = host
        self.lastHour = rates.reduce(0) { $0 + $1.lastHour }
        self.usual = rates.reduce(0) { $0 + $1.usual }
        self.pinFailures = rates.reduce(0) { $0 + $1.pinFailures }
        self.silentHours = rates.map(\.silentHours).min() ?? 0
        self.hours = (0..<Int(Self.week)).map { hour in
            rates.reduce(0) { $0 + ($1.hours.indices.contains(hour) ? $1.hours[hour] : 0) }
        }
        self.usualRange =
            rates.reduce(0) { $0 + $1.usualRange.lowerBound }...rates.reduce(0) { $0 + $1.usualRange.upperBound }
        self.multiplied = Multiplied()
    }

    /// Computes a rate.
    ///
    /// - Parameters:
    ///   - counts: Reports by hour and by whether they are pin failures. Those of later hours were counted by a wrong clock, and
    ///     count for nothing.
    ///   - unsampled: Of these, by hour, the pin failures that every installation reports.
    ///   - rate: The share of installations that report.
    ///   - hour: The current hour.
    ///   - part: The part of the hour that has passed, 0 to 1.
    package init(
        _ host: String, _ counts: [Int64: (all: Int64, pins: Int64)], unsampled: [Int64: Int64] = [:],
        rate: ReportRate = ReportRate(), hour: Int64, part: Double
    ) {
        self.host = host
        let counts = counts.filter { $0.key <= hour }
        func count(_ hour: Int64, _ of: ((all: Int64, pins: Int64)) -> Int64) -> Double {
            Double(counts[hour].map(of) ?? 0)
        }
        func multiplied(_ hour: Int64, _ of: ((all: Int64, pins: Int64)) -> Int64) -> Double {
            let whole = Double(unsampled[hour] ?? 0)
            return (count(hour, of) - whole) * rate.factor(of: hour) + whole
        }
        func sliding(_ value: (Int64) -> Double) -> Double { value(hour) + (1 - part) * value(hour - 1) }
        self.lastHour = sliding { count($0, \.all) }
        self.pinFailures = sliding { count($0, \.pins) }
        let week = (hour - Self.week + 1)...hour
        self.hours = week.map { counts[$0]?.all ?? 0 }
        // Hours without a report count, those before the first one too: a stranger who began to report yesterday makes
        // nothing usual by that.
        let before = (hour - Self.week)..<(hour - 1)
        func mean(_ value: (Int64) -> Double) -> Double {
            before.reduce(0) { $0 + value($1) } / Double(before.count)
        }
        let whole = mean { Double(unsampled[$0] ?? 0) }
        let fullRate = mean { multiplied($0, \.all) } - whole
        func usual(_ perMillion: Int64) -> Double { fullRate * Double(perMillion) / Double(ReportRate.all) + whole }
        let shares = rate.perMillion(in: (hour - Self.week)...hour)
        self.usual = usual(rate.perMillion(in: hour))
        self.usualRange = usual(shares.lowerBound)...max(usual(shares.lowerBound), usual(shares.upperBound))
        self.multiplied = Multiplied(
            lastHour: sliding { multiplied($0, \.all) }, pinFailures: sliding { multiplied($0, \.pins) },
            usual: usual(ReportRate.all), hours: week.map { multiplied($0, \.all) },
            factors: Set(rate.factors(of: week.lowerBound..<week.upperBound + 1).map(\.factor)))
        let last = counts.filter { $0.value.all > 0 }.keys.max() ?? (hour - Self.week)
        self.silentHours = max(hour - last - (part < 1 ? 1 : 0), 0)
    }
}
