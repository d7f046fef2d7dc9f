// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How often a host fails: the last hour against what is usual.
public struct HostRate: Hashable, Sendable {
    /// The noted host; empty for list incidents.
    public let host: String
    /// Reports in the last sixty minutes.
    public let lastHour: Double
    /// Reports in an hour of the week before, in the mean.
    public let usual: Double
    /// Of the last hour, those of pin failures.
    public let pinFailures: Double
    /// Hours in a row without a report, up to now.
    public let silentHours: Int64
    /// Reports by the hour, the oldest first, of the last week.
    public let hours: [Int64]

    /// Stands for the hosts of groups that there was no room for; no host is called so.
    static let otherHosts = "*"

    /// A rate as a whole number, for people.
    static func whole(_ rate: Double) -> Int { Int(exactly: rate.rounded()) ?? 0 }

    /// How many hours are the week that a rate is compared with.
    static let week: Int64 = 168
    /// The most hosts that no list has whose rates are told: anybody can report a host that there is not.
    static let mostUnlisted = 200
    /// The fewest reports of an hour that an alarm is worth.
    static let leastAlarming = 10.0
    /// The usual rate below which silence says nothing.
    static let leastUsual = 5.0
    /// How many hours of silence are one too many.
    static let longestSilence: Int64 = 3

    /// Whether more fail than usual: over four times as many, and beyond what chance does to small numbers.
    public var isAboveUsual: Bool {
        self.lastHour >= Self.leastAlarming && self.lastHour > 4 * self.usual + 3 * self.usual.squareRoot()
    }

    /// Whether reports stopped coming where there used to be some: an interceptor can swallow them.
    public var isSilent: Bool { self.usual >= Self.leastUsual && self.silentHours >= Self.longestSilence }

    /// Adds rates up.
    init(_ host: String, adding rates: [HostRate]) {
        self.host = host
        self.lastHour = rates.reduce(0) { $0 + $1.lastHour }
        self.usual = rates.reduce(0) { $0 + $1.usual }
        self.pinFailures = rates.reduce(0) { $0 + $1.pinFailures }
        self.silentHours = rates.map(\.silentHours).min() ?? 0
        self.hours = (0..<Int(Self.week)).map { hour in
            rates.reduce(0) { $0 + ($1.hours.indices.contains(hour) ? $1.hours[hour] : 0) }
        }
    }

    /// Computes a rate.
    ///
    /// - Parameters:
    ///   - counts: Reports by hour and by whether they are pin failures.
    ///   - hour: The current hour.
    ///   - part: How much of it has passed, 0 to 1.
    init(_ host: String, _ counts: [Int64: (all: Int64, pins: Int64)], hour: Int64, part: Double) {
        self.host = host
        func sliding(_ of: ((all: Int64, pins: Int64)) -> Int64) -> Double {
            Double(counts[hour].map(of) ?? 0) + (1 - part) * Double(counts[hour - 1].map(of) ?? 0)
        }
        self.lastHour = sliding(\.all)
        self.pinFailures = sliding(\.pins)
        self.hours = ((hour - Self.week + 1)...hour).map { counts[$0]?.all ?? 0 }
        // Of the hours since there is anything: a host that was added yesterday has no week.
        let first = max(counts.keys.min() ?? hour, hour - Self.week)
        let before = (first..<max(first, hour - 1))
        let sum = before.reduce(Int64(0)) { $0 + (counts[$1]?.all ?? 0) }
        self.usual = before.isEmpty ? 0 : Double(sum) / Double(before.count)
        let last = counts.filter { $0.value.all > 0 }.keys.max() ?? (hour - Self.week)
        self.silentHours = hour - last
    }
}
