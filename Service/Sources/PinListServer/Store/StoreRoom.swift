// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Who takes the room of a database, and how much of it reports and counts have to give back.
///
/// They are forgotten for what they take themselves, and never for what something else takes: then that would be full
/// again at once, and the reports gone (docs/decisions/0049).
struct StoreRoom: Hashable, Sendable {
    /// The tables of reports and of what is counted: what senders fill, and what the oldest of goes.
    static let forgotten: Set<String> = [
        "report", "report_group", "group_count", "group_hour", "group_leaf", "group_network", "report_hour",
        "counted_host", "inquiry",
    ]

    /// Bytes by table, about.
    let sizes: [String: Int64]
    /// The bytes that the configuration gives.
    let limit: Int64

    /// What all tables take together.
    var total: Int64 { self.sizes.values.reduce(0, +) }

    /// What reports and counts take.
    var forgotten: Int64 { self.sizes.filter { Self.forgotten.contains($0.key) }.values.reduce(0, +) }

    /// How much of reports and counts has to go: down to what the others leave of the limit, but not below half of it.
    var excess: Int64 { max(self.forgotten - max(self.limit - (self.total - self.forgotten), self.limit / 2), 0) }

    /// What takes the room, the largest first, in words; `nil` while it is enough.
    var complaint: String? {
        guard self.total > self.limit else { return nil }
        let largest = self.sizes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(5)
        let tables = largest.map { "\($0.key) \(Self.megabytes($0.value))" }.joined(separator: ", ")
        return "the database takes \(Self.megabytes(self.total)) of \(Self.megabytes(self.limit)): \(tables)"
    }

    private static func megabytes(_ bytes: Int64) -> String { "\(bytes / 1_000_000) MB" }
}
