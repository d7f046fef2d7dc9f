// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// A table of what is counted by the hour or by the day, whose oldest rows are forgotten.
package enum CountTable: String, CaseIterable, Sendable {
    case groupHour = "group_hour"
    case groupNetwork = "group_network"
    case reportHour = "report_hour"
    case inquiry
    case countedHost = "counted_host"
    case sightedNetwork = "sighted_network"

    /// Whether its rows are of a day, and not of an hour.
    var isByDay: Bool { [.groupNetwork, .countedHost, .sightedNetwork].contains(self) }
}

extension StoreTransaction {
    /// Forgets the oldest rows of what was counted of hours before one, of groups that still fail, too.
    ///
    /// - Parameter limit: The maximum number of rows.
    /// - Returns: The number of rows.
    package func remove(_ table: CountTable, before hour: Int64, limit: Int) throws -> Int {
        try self.connection.removeFirst(
            limit, of: table.rawValue, by: table.isByDay ? "day" : "hour", before: table.isByDay ? hour / 24 : hour)
    }

    /// The end of the oldest tenth of the days that were counted, one at least, as an hour; `nil` when nothing was counted
    /// before today.
    package func endOfOldestCounts(before today: Int64) throws -> Int64? {
        let oldest = try [CountTable.reportHour, .groupHour, .inquiry].compactMap { table in
            try self.connection.rows("SELECT MIN(hour) FROM \(table.rawValue)", []).first?.optionalInteger(0)
        }.min()
        guard let oldest, oldest / 24 < today else { return nil }
        return (oldest / 24 + max((today - oldest / 24) / 10, 1)) * 24
    }

    /// The maximum number of groups that one transaction removes: the rest goes in the next one.
    private static var maximumGroupsRemoved: Int { 100 }

    /// Forgets groups whose last report is older than a time, with all that is known of them.
    ///
    /// - Parameter limit: The maximum number of reports that are forgotten with them.
    /// - Returns: The number of reports and groups that were forgotten, and of counts whose group was gone.
    package func removeGroups(before time: Timestamp, limit: Int) throws -> Int {
        let seconds = time.secondsSince1970
        let old = try self.connection.rows(
            """
            SELECT group_number FROM group_count GROUP BY group_number HAVING MAX(last_at) < ?
            ORDER BY group_number LIMIT ?
            """, [.integer(seconds), .integer(Int64(Self.maximumGroupsRemoved))]
        ).map { try $0.integer(0) }
        var removed = 0
        for group in old where removed < limit {
            // Before its reports: a batch in which groups leave has them in another order, and would wait for the reports.
            guard try self.takeGroup(group) else {
                // No group has its number again, and what is left of one that is gone would stay in front for ever.
                removed += try self.connection.execute(
                    """
                    DELETE FROM group_count WHERE group_number = ?
                        AND NOT EXISTS (SELECT 1 FROM report_group WHERE number = ?)
                    """, [.integer(group), .integer(group)])
                continue
            }
            removed += try self.removeReports(of: group, before: seconds, limit: limit - removed)
            guard removed < limit else { break }
            if try self.removeGroup(group, if: { _, lastAt in lastAt < seconds }) { removed += 1 }
        }
        return removed
    }

    /// Forgets the oldest reports of a group: of one that was long a storm there are more than one statement can delete.
    private func removeReports(of group: Int64, before seconds: Int64, limit: Int) throws -> Int {
        let (group, time) = (SQLValue.integer(group), SQLValue.integer(seconds))
        let first = try self.connection.rows(
            "SELECT number FROM report WHERE group_number = ? AND received_at < ? ORDER BY number LIMIT 1 OFFSET ?",
            [group, time, .integer(Int64(limit))]
        ).first?.integer(0)
        return try self.connection.execute(
            "DELETE FROM report WHERE group_number = ? AND received_at < ? AND number < ?",
            [group, time, .integer(first ?? .max)])
    }

    /// Forgets alarms that ended before a time.
    package func removeAlarms(endedBefore time: Timestamp) throws {
        let free = self.connection.free(of: "alarm", where: "ended_at < ?")
        try self.connection.execute("DELETE FROM alarm WHERE \(free)", [.integer(time.secondsSince1970)])
    }
}
