// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// The use of a database's room, and the part of it that reports and counts have to give back.
///
/// They have all of the limit, and are forgotten for what they take beyond it themselves; never for what something else
/// takes: then that would be full again at once, and the reports gone (docs/decisions/0077).
package struct StoreRoom: Hashable, Sendable {
    /// The tables of reports and of what is counted: what senders fill, and what the oldest of goes.
    package static let forgotten: Set<String> = [
        "report", "report_group", "group_count", "group_hour", "group_leaf", "group_network", "report_hour",
        "counted_host", "inquiry", "attestation_hour", "attested_witness", "sighted_network",
    ]

    /// The purpose of tables, in words for people.
    package enum Part: String, Hashable, Sendable, CaseIterable {
        /// Reports and their groups.
        case reports
        /// The counts by the hour: of reports, and of what clients hold.
        case counts
        /// Roots, lists and what the pages show of them.
        case lists
        /// The audit log with its seals, and evidence.
        case auditLog
        /// Everything else.
        case other

        /// The name of the part on the pages.
        package var words: String { self == .auditLog ? "audit log" : self.rawValue }

        /// The part that a table belongs to.
        package init(of table: String) {
            self =
                switch table {
                case "report", "report_group", "group_count", "group_leaf": .reports
                case "group_hour", "group_network", "report_hour", "counted_host", "inquiry", "attestation_hour",
                    "attested_witness", "sighted_network":
                    .counts
                case "root", "list", "publication", "report_rate": .lists
                case "audit", "audit_seal", "evidence": .auditLog
                default: .other
                }
        }
    }

    /// Bytes by table, about.
    package let sizes: [String: Int64]
    /// The bytes that the configuration gives.
    package let limit: Int64
    /// The time of the measurement.
    package var at: Timestamp

    /// States who takes how much.
    package init(sizes: [String: Int64], limit: Int64, at time: Timestamp = Timestamp(secondsSince1970: 0)) {
        self.sizes = sizes
        self.limit = limit
        self.at = time
    }

    /// The size of each part. Counts are left out where they are not told apart from reports, as on SQLite.
    package var parts: [(part: Part, bytes: Int64)] {
        let sums = self.sizes.reduce(into: [Part: Int64]()) { $0[Part(of: $1.key), default: 0] += $1.value }
        let hasCounts = self.sizes.keys.contains { Self.forgotten.contains($0) && Part(of: $0) == .counts }
        return Part.allCases.filter { $0 != .counts || hasCounts }.map { ($0, sums[$0] ?? 0) }
    }

    /// The size of the tables of a part.
    package func bytes(of part: Part) -> Int64 {
        self.sizes.reduce(0) { Part(of: $1.key) == part ? $0 + $1.value : $0 }
    }

    /// The use of the room, in a sentence.
    package var sentence: String {
        let parts = self.parts.map { part, bytes in
            let words =
                part == .reports && !self.parts.contains { $0.part == .counts } ? "reports and counts" : part.words
            return "\(words) \(Self.megabytes(bytes))"
        }
        return "The database takes \(Self.megabytes(self.total)) of \(Self.megabytes(self.limit)): "
            + parts.joined(separator: ", ") + "."
    }

    /// The size of all tables together.
    package var total: Int64 { self.sizes.values.reduce(0, +) }

    /// The size of reports and counts.
    package var forgotten: Int64 { self.sizes.filter { Self.forgotten.contains($0.key) }.values.reduce(0, +) }

    /// The size of the reports and counts that have to go: what they take beyond the limit, whatever the others take.
    package var excess: Int64 { max(self.forgotten - self.limit, 0) }

    /// Whether counts have to go before reports: they are the larger part, or reach the limit by themselves, and no report
    /// that goes makes room for them. Otherwise those who make counts grow would have the reports deleted.
    ///
    /// - Parameter reports: The size of reports and their groups.
    package func beginsWithCounts(besides reports: Int64) -> Bool {
        // Those of attestation end by themselves after a month, and no size makes them go.
        let counts = self.forgotten - reports - Self.ofAMonth.reduce(0) { $0 + (self.sizes[$1] ?? 0) }
        return counts > 0 && (self.excess >= reports || counts > reports)
    }

    /// The tables of counts that no size is taken from.
    private static let ofAMonth = ["attestation_hour", "attested_witness"]

    /// The number of the oldest of so many reports that have to go. When there are more than were counted it is too small, and
    /// never too large.
    ///
    /// - Parameter capacity: The number that fits; `nil` where the database gets smaller with each report that goes.
    package func surplus(of count: Int64, capacity: Int64?) -> Int64 {
        if let capacity { return max(count - capacity, 0) }
        return self.excess / max(self.forgotten / max(count, 1), 1) + 1
    }

    /// The largest parts first, in words, when there is too little room; `nil` while it is enough. Reports that fill the
    /// limit beside little else are no complaint.
    package var complaint: String? {
        guard self.total > self.limit, self.excess > 0 || self.total - self.forgotten > self.limit / 10 else {
            return nil
        }
        let largest = self.sizes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(5)
        let tables = largest.map { "\($0.key) \(Self.megabytes($0.value))" }.joined(separator: ", ")
        return "the database takes \(Self.megabytes(self.total)) of \(Self.megabytes(self.limit)): \(tables)"
    }

    private static func megabytes(_ bytes: Int64) -> String { "\(bytes / 1_000_000) MB" }
}
