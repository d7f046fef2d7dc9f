// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata

/// The sampling rate of a host's failures over time: what charts multiply reports by.
///
/// An hour has the number that was published when it began. Installations follow as they get the list, so a chart is
/// wrong by up to the factor for as long as many hold the list before. Where several lists name a host, the number of the
/// most installations counts, so that no chart shows more failures than there were.
///
/// Source: formats.md, section 7.
package struct ReportRate: Hashable, Sendable {
    /// A published list that changed the number.
    package struct Change: Hashable, Sendable {
        /// The list's name.
        package let by: String
        /// The time of publication.
        package let since: Timestamp
        /// The number of installations of a million that report from then on.
        package let perMillion: Int64

        /// States a change.
        package init(by: String, since: Timestamp, perMillion: Int64) {
            self.by = by
            self.since = since
            self.perMillion = perMillion
        }

        /// The first hour that begins with it.
        fileprivate var firstHour: Int64 {
            let (hours, rest) = self.since.secondsSince1970.quotientAndRemainder(dividingBy: 3_600)
            return rest > 0 ? hours + 1 : hours
        }
    }

    /// The number that report where no list says one: all of a million.
    package static let all = MetadataLimits.reportPerMillion.upperBound

    /// Stands for the number of a list that the host left: others that have it say the number, or none does.
    package static let unlisted: Int64 = 0

    private let changes: [String: [Change]]

    /// The changes of a host, in any order; without one all installations report.
    package init(_ changes: [Change] = []) {
        self.changes = Dictionary(grouping: changes, by: \.by).mapValues { $0.sorted { $0.since < $1.since } }
    }

    /// The number of installations of a million that report in an hour.
    package func perMillion(in hour: Int64) -> Int64 { self.perMillion(in: hour) { _ in true } }

    private func perMillion(in hour: Int64, where counts: (Change) -> Bool) -> Int64 {
        guard !self.changes.isEmpty else { return Self.all }
        let numbers = self.changes.values.map { changes in
            changes.last { $0.firstHour <= hour && counts($0) }?.perMillion ?? Self.all
        }
        return min(numbers.filter { $0 > Self.unlisted }.max() ?? Self.all, Self.all)
    }

    /// The factor of the reports of an hour.
    func factor(of hour: Int64) -> Double { Double(Self.all) / Double(self.perMillion(in: hour)) }

    /// The fewest and the most installations of a million that report in some hours, the next one's beginning included. For
    /// what is usual a host that left a list has its number on: those who hold that list report as before.
    package func perMillion(in hours: ClosedRange<Int64>) -> ClosedRange<Int64> {
        let numbers = self.beginnings(in: hours.lowerBound..<hours.upperBound + 2).map { hour in
            self.perMillion(in: hour) { $0.perMillion > Self.unlisted }
        }
        return (numbers.min() ?? Self.all)...(numbers.max() ?? Self.all)
    }

    /// The factors of hours, from one change to the next.
    package func factors(of hours: Range<Int64>) -> [(hours: Range<Int64>, factor: Double)] {
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
}
