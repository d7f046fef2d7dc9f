// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinReportAnalysis

extension StoreTransaction {
    /// Forgets the oldest reports: those of whole days (UTC), where each day has a table of its own.
    ///
    /// - Parameter limit: The most that are forgotten row by row.
    /// - Returns: The numbers of rows and of days.
    package func removeReports(before time: Timestamp, limit: Int) throws -> Int {
        if self.connection.hasReportDays {
            let days: [SQLValue] = [.integer(time.secondsSince1970 / 86_400), .integer(Int64(limit))]
            return Int(clamping: try self.connection.rows("SELECT report_days_end(?, ?)", days).first?.integer(0) ?? 0)
        }
        let oldest = "SELECT number FROM report WHERE received_at < ? ORDER BY received_at, number LIMIT ?"
        return try self.connection.execute(
            "DELETE FROM report WHERE number IN (\(oldest))",
            [.integer(time.secondsSince1970), .integer(Int64(limit))])
    }

    /// Forgets the oldest days until so many bytes are free, where each day has a table of its own. Never today's, which
    /// others are adding to: of that ``removeOldestReports(limit:)`` takes rows.
    ///
    /// - Returns: The number of days; 0 where days have no tables.
    package func removeReportDays(of bytes: Int64, before today: Int64) throws -> Int {
        guard self.connection.hasReportDays else { return 0 }
        let days = try self.connection.rows(
            """
            SELECT end_day, pg_total_relation_size(quote_ident(part)::regclass) FROM report_day_parts()
            WHERE end_day <= ? ORDER BY end_day
            """, [.integer(today)])
        var (freed, last) = (Int64(0), nil as Int64?)
        for day in days where freed < bytes {
            freed += try day.integer(1)
            last = try day.integer(0)
        }
        guard let last else { return 0 }
        return Int(
            clamping: try self.connection.rows("SELECT report_days_end(?, 0)", [.integer(last)]).first?.integer(0) ?? 0)
    }

    /// The number of the oldest reports that have to go so that there is room; `nil` when there is none left.
    ///
    /// For where no day can go as a whole: they are all of today then, or days have no tables. Counted one by one, and only
    /// when there is too much: numbers have gaps where groups left, and a count that is too high would forget more than
    /// is needed.
    package func surplusReports(in room: StoreRoom) throws -> Int64? {
        let count = try self.connection.rows("SELECT COUNT(*) FROM report", []).first?.integer(0) ?? 0
        guard count > 0 else { return nil }
        guard self.connection.hasReportDays else { return room.excess / max(room.forgotten / count, 1) + 1 }
        // Their files do not shrink when rows are deleted, and do not grow while new ones find room in them: what is left
        // has to fit into what reports may take.
        let sample = """
            SELECT CAST(COALESCE(AVG(pg_column_size(sample.*)), 0) AS BIGINT)
            FROM (SELECT * FROM report ORDER BY number DESC LIMIT \(PostgreSQLLimits.measuredRows)) AS sample
            """
        let width = try self.connection.rows(sample, []).first?.integer(0) ?? 0
        let allowed = max((room.sizes["report"] ?? 0) - room.excess, 0)
        return max(count - allowed / (width + PostgreSQLLimits.rowOverhead), 0)
    }

    /// Forgets the oldest reports row by row, whatever day they are of.
    package func removeOldestReports(limit: Int) throws -> Int {
        guard self.connection.hasReportDays else {
            return try self.removeReports(before: Timestamp(secondsSince1970: .max), limit: limit)
        }
        return try self.connection.execute(
            "DELETE FROM report WHERE number IN (SELECT number FROM report ORDER BY number LIMIT ?)",
            [.integer(Int64(limit))])
    }

    /// Counts no body of a group whose newest body is older than the oldest report: after reports were removed by size.
    package func countNoRemovedBodies() throws {
        // By its number: PostgreSQL has no index by time.
        let oldest = try self.connection.rows("SELECT received_at FROM report ORDER BY number LIMIT 1", []).first
        try self.countNoBodies(before: try oldest?.integer(0) ?? .max)
    }

    /// When the newest body is forgotten none is kept, and of what still comes bodies are kept again.
    private func countNoBodies(before seconds: Int64) throws {
        try self.connection.execute(
            "UPDATE group_count SET bodies = 0 WHERE bodies > 0 AND bodies_at < ?", [.integer(seconds)])
    }

    /// Forgets what was counted, and groups and alarms that nothing is known of any more.
    package func removeCounts(before time: Timestamp) throws {
        let seconds = SQLValue.integer(time.secondsSince1970)
        let old = try self.connection.rows(
            "SELECT group_number FROM group_count GROUP BY group_number HAVING MAX(last_at) < ? LIMIT ?",
            [seconds, .integer(Int64(Self.maximumGroupsRemoved))]
        ).map { try $0.integer(0) }
        for group in old {
            _ = try self.removeGroup(group, if: { _, lastAt in lastAt < time.secondsSince1970 })
        }
        try self.countNoBodies(before: time.secondsSince1970)
        try self.removeHours(before: time.hour)
        try self.connection.execute("DELETE FROM alarm WHERE ended_at < ?", [seconds])
    }

    /// The maximum number of groups that one transaction removes: the rest goes the next time.
    private static var maximumGroupsRemoved: Int { 500 }

    /// Forgets what was counted of hours before one.
    func removeHours(before hour: Int64) throws {
        // Of groups that still fail, too.
        try self.connection.execute("DELETE FROM group_hour WHERE hour < ?", [.integer(hour)])
        try self.connection.execute("DELETE FROM group_network WHERE day < ?", [.integer(hour / 24)])
        try self.connection.execute("DELETE FROM report_hour WHERE hour < ?", [.integer(hour)])
        try self.connection.execute("DELETE FROM inquiry WHERE hour < ?", [.integer(hour)])
        try self.connection.execute("DELETE FROM counted_host WHERE day < ?", [.integer(hour / 24)])
    }

    /// Forgets the oldest tenth of the days that were counted, one at least, and never today.
    package func removeOldestCounts(before today: Int64) throws {
        let oldest = try ["report_hour", "inquiry"].compactMap { table in
            try self.connection.rows("SELECT MIN(hour) FROM \(table)", []).first?.optionalInteger(0)
        }.min()
        guard let oldest, oldest / 24 < today else { return }
        let days = max((today - oldest / 24) / 10, 1)
        try self.removeHours(before: (oldest / 24 + days) * 24)
    }
}
