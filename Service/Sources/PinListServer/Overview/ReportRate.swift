// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// How many installations report a host's failures, over time: what charts multiply reports by.
///
/// An hour has the number that was published when it began. Installations follow as they get the list, so a chart is
/// wrong by up to the factor for as long as many hold the list before. Where several lists name a host, the number of the
/// most installations counts, so that no chart shows more failures than there were.
///
/// Source: formats.md, section 7.
struct ReportRate: Hashable, Sendable {
    /// A published list that changed the number.
    struct Change: Hashable, Sendable {
        /// The list's name.
        let by: String
        /// When it was published.
        let since: Timestamp
        /// How many of a million installations report from then on.
        let perMillion: Int64

        /// The first hour that begins with it.
        fileprivate var firstHour: Int64 {
            let (hours, rest) = self.since.secondsSince1970.quotientAndRemainder(dividingBy: 3_600)
            return rest > 0 ? hours + 1 : hours
        }
    }

    /// How many report where no list says a number: all of a million.
    static let all = MetadataLimits.reportPerMillion.upperBound

    private let changes: [String: [Change]]

    /// The changes of a host, in any order; without one all installations report.
    init(_ changes: [Change] = []) {
        self.changes = Dictionary(grouping: changes, by: \.by).mapValues { $0.sorted { $0.since < $1.since } }
    }

    /// How many of a million installations report in an hour.
    func perMillion(in hour: Int64) -> Int64 {
        guard !self.changes.isEmpty else { return Self.all }
        let numbers = self.changes.values.map { changes in
            changes.last { $0.firstHour <= hour }?.perMillion ?? Self.all
        }
        return min(max(numbers.max() ?? Self.all, 1), Self.all)
    }

    /// What reports of an hour are multiplied by.
    func factor(of hour: Int64) -> Double { Double(Self.all) / Double(self.perMillion(in: hour)) }

    /// The fewest and the most installations of a million that report in some hours, the next one's beginning included.
    func perMillion(in hours: ClosedRange<Int64>) -> ClosedRange<Int64> {
        let numbers = self.beginnings(in: hours.lowerBound..<hours.upperBound + 2).map { self.perMillion(in: $0) }
        return (numbers.min() ?? Self.all)...(numbers.max() ?? Self.all)
    }

    /// What hours are multiplied by, from one change to the next.
    func factors(of hours: Range<Int64>) -> [(hours: Range<Int64>, factor: Double)] {
        let beginnings = self.beginnings(in: hours)
        return zip(beginnings, beginnings.dropFirst() + [hours.upperBound]).map { first, next in
            (first..<next, self.factor(of: first))
        }
    }

    /// The first of some hours, and those in which something changes.
    private func beginnings(in hours: Range<Int64>) -> [Int64] {
        let changed = self.changes.values.joined().map(\.firstHour).filter { hours.contains($0) }
        return Set(changed + [hours.lowerBound]).sorted()
    }

    /// What a chart says of what it was multiplied by; empty where all installations reported.
    static func caption(_ factors: Set<Double>) -> String {
        guard let most = factors.max(), most > 1 else { return "" }
        let number = NumberText.decimal(most, places: 1)
        return factors.count == 1
            ? "Multiplied by \(number), for one in \(number) installations reports."
            : "Multiplied by up to \(number), for as few as one in \(number) installations reports."
    }

    /// How many installations report, in words; empty where all do.
    static func words(_ perMillion: Int64) -> String {
        guard perMillion < Self.all, perMillion > 0 else { return "" }
        return "one in \(NumberText.decimal(Double(Self.all) / Double(perMillion), places: 1)) installations reports"
    }
}
