// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The answer of a simulation (formats.md, section 11). Its members are those of the JSON.
public struct SimulationAnswer: Hashable, Sendable, Encodable {
    /// The hour in which most installations were refused.
    public struct Peak: Hashable, Sendable, Encodable {
        /// The time at which the step begins.
        public let at: String
        /// The number of installations that were refused in it.
        public let refused: Int
        /// Their share of those that were open in it, from 0 to 1.
        public let share: Double
    }

    /// The spread of the first published list at a time.
    public struct Reached: Hashable, Sendable, Encodable {
        /// The time.
        public let at: String
        /// The share of all installations that holds it or a newer one, from 0 to 1.
        public let share: Double
    }

    /// An hour.
    public struct Step: Hashable, Sendable, Encodable {
        /// The time at which the day begins.
        public let at: String
        /// The number of installations that were open at some moment of it.
        public let opened: Int
        /// The numbers of installations that hold each list when it begins, by version; all that are published by then.
        public let holding: [String: Int]
        /// The number of installations of which a connection was refused in it.
        public let refused: Int
        /// The number that got through in it because pinning was suspended.
        public let suspended: Int
    }

    /// The load on the host of the lists and the collector of reports.
    public struct Publisher: Hashable, Sendable, Encodable {
        /// Requests for roots and lists.
        public struct RequestsPerSecond: Hashable, Sendable, Encodable {
            /// Over all of the time.
            public let mean: Double
            /// The minute that is as busy as or busier than 99 of 100.
            public let p99: Double
        }

        /// Requests for roots and lists.
        public let requestsPerSecond: RequestsPerSecond
        /// Reports of failures.
        public let reports: Int
    }

    /// The number of installations.
    public let clients: Int
    /// The number of simulated days.
    public let days: Int
    /// The seed of all random numbers.
    public let seed: UInt64
    /// The worst hour.
    public let peak: Peak
    /// The hours in which an installation was refused, of all installations together.
    public let refusedClientHours: Int
    /// The installations that were refused when they were last opened, and would be at the end.
    public let neverRecovered: Int
    /// The spread of the first published list after 1, 7, 14, 30 and 60 days, and at the end.
    public let reached: [Reached]
    /// Each hour.
    public let series: [Step]
    /// The load on the publisher.
    public let publisher: Publisher
}

extension Simulation {
    /// The days after which it is said how far the first published list has spread.
    private static let reachedDays = [1, 7, 14, 30, 60]

    /// Puts the answer together.
    ///
    /// - Parameter tally: The counts of all installations.
    public func answer(from tally: SimulationTally) -> SimulationAnswer {
        let opened = tally.opened.counts
        let refused = tally.refused.counts
        let suspended = tally.suspended.counts
        let holding = tally.holding.map(\.counts)
        var series: [SimulationAnswer.Step] = []
        series.reserveCapacity(opened.count)
        for step in opened.indices {
            let begin = Int64(step) * SimulationTally.stepSeconds
            var held: [String: Int] = [:]
            for list in holding.indices where self.timeline.lists[list].publishedAt <= begin {
                held["\(list + 1)"] = holding[list][step] + (list == 0 ? tally.clients : 0)
            }
            series.append(
                SimulationAnswer.Step(
                    at: TimeSpan(seconds: begin).description, opened: opened[step], holding: held,
                    refused: refused[step], suspended: suspended[step]))
        }
        // The first of equals.
        let worst = refused.indices.max { (refused[$0], $1) < (refused[$1], $0) } ?? 0
        let days = self.scenario.simulatedDays
        return SimulationAnswer(
            clients: tally.clients, days: days, seed: self.seed,
            peak: SimulationAnswer.Peak(
                at: series[worst].at, refused: refused[worst], share: Self.share(refused[worst], of: opened[worst])),
            refusedClientHours: refused.reduce(0, +), neverRecovered: tally.neverRecovered,
            reached: Self.reachedDays.filter { $0 < days }.map { day in
                SimulationAnswer.Reached(
                    at: "\(day)d", share: Self.share(-holding[0][day * 24], of: tally.clients))
            } + [
                SimulationAnswer.Reached(
                    at: "\(days)d", share: Self.share(tally.clients - tally.finally[0], of: tally.clients))
            ],
            series: series,
            publisher: SimulationAnswer.Publisher(
                requestsPerSecond: Self.requestsPerSecond(tally.requests), reports: tally.reports))
    }

    private static func share(_ part: Int, of all: Int) -> Double {
        all == 0 ? 0 : self.rounded(Double(part) / Double(all), 1_000_000)
    }

    private static func requestsPerSecond(_ requests: [Int]) -> SimulationAnswer.Publisher.RequestsPerSecond {
        let sorted = requests.sorted()
        let minute = Double(SimulationTally.requestSeconds)
        let sum = Double(requests.reduce(0, +))
        let busy = sorted.isEmpty ? 0 : sorted[min(sorted.count * 99 / 100, sorted.count - 1)]
        return SimulationAnswer.Publisher.RequestsPerSecond(
            mean: self.rounded(sum / (minute * Double(max(sorted.count, 1))), 1_000),
            p99: self.rounded(Double(busy) / minute, 1_000))
    }

    private static func rounded(_ number: Double, _ parts: Double) -> Double { (number * parts).rounded() / parts }
}

extension SimulationAnswer {
    /// The main results for people, a sentence a line.
    public var lines: [String] {
        var lines = ["\(Self.grouped(self.clients)) installations over \(self.days) days, seed \(self.seed)"]
        if self.peak.refused == 0 {
            lines.append("no connection is refused")
        } else {
            lines.append(
                "worst hour: from \(self.peak.at) on \(Self.grouped(self.peak.refused)) are refused, "
                    + "\(Self.percent(self.peak.share)) of those that are open")
            lines.append("refused in all: \(Self.grouped(self.refusedClientHours)) hours of installations")
            lines.append("never recovered: \(Self.grouped(self.neverRecovered))")
        }
        let reached = self.reached.map { "\($0.at) \(Self.percent($0.share))" }.joined(separator: ", ")
        lines.append("hold the first published list or a newer one: \(reached)")
        let requests = self.publisher.requestsPerSecond
        lines.append("the host of the lists: \(requests.mean) requests a second, \(requests.p99) in busy minutes (p99)")
        lines.append("reports of failures: \(Self.grouped(self.publisher.reports))")
        return lines
    }

    /// A share in percent, with one digit behind the point.
    static func percent(_ share: Double) -> String { "\((share * 1_000).rounded() / 10) %" }

    /// A number with commas.
    static func grouped(_ number: Int) -> String {
        var text = ""
        for (index, digit) in "\(number)".reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
