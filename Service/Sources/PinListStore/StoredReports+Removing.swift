// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

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

    /// The number of reports that fit into what they may take, by the size of the newest ones; `nil` where the database
    /// gets smaller with each report that goes.
    ///
    /// Files of PostgreSQL do not shrink when rows are deleted, and do not grow while new ones find room in them.
    package func reportCapacity(in room: StoreRoom) throws -> Int64? {
        guard self.connection.hasReportDays else { return nil }
        let sample = """
            SELECT CAST(COALESCE(AVG(pg_column_size(sample.*)), 0) AS BIGINT)
            FROM (SELECT * FROM report ORDER BY number DESC LIMIT \(PostgreSQLLimits.measuredRows)) AS sample
            """
        let width = try self.connection.rows(sample, []).first?.integer(0) ?? 0
        return max((room.sizes["report"] ?? 0) - room.excess, 0) / (width + PostgreSQLLimits.rowOverhead)
    }

    /// Counts reports from a number on, at most so many: one statement does not walk through all of them.
    ///
    /// - Returns: How many there are, and the number of the last one; `nil` when there is none.
    package func countReports(after number: Int64, limit: Int) throws -> (count: Int64, last: Int64)? {
        let row = try self.connection.rows(
            """
            SELECT COUNT(*), MAX(number)
            FROM (SELECT number FROM report WHERE number > ? ORDER BY number LIMIT ?) AS part
            """, [.integer(number), .integer(Int64(limit))]
        ).first
        guard let row, let last = try row.optionalInteger(1) else { return nil }
        return (try row.integer(0), last)
    }

    /// The size of reports and their groups, about.
    ///
    /// SQLite does not tell the pages of a table: there it is the size of some reports, from the oldest to the newest, for
    /// each number between them. Numbers have gaps, so it may be too large, and is at most that of reports and counts
    /// together.
    package func reportBytes(in room: StoreRoom) throws -> Int64 {
        if self.connection.hasReportDays { return room.bytes(of: .reports) }
        let ends = try self.connection.rows(
            "SELECT (SELECT MIN(number) FROM report), (SELECT MAX(number) FROM report)", []
        ).first
        guard let first = try ends?.optionalInteger(0), let last = try ends?.optionalInteger(1) else { return 0 }
        let span = last.subtractingReportingOverflow(first)
        guard !span.overflow, span.partialValue < .max else { return room.forgotten }
        let columns = StoreMove.tables.first { $0.name == "report" }?.columns ?? []
        let width = columns.map { "COALESCE(LENGTH(\($0)), 0)" }.joined(separator: " + ")
        var (bytes, count) = (Int64(0), Int64(0))
        let step = max(Int(clamping: span.partialValue / Self.measuredReports), 1)
        for number in stride(from: first, through: last, by: step) {
            let row = try self.connection.rows(
                "SELECT \(width) FROM report WHERE number >= ? ORDER BY number LIMIT 1", [.integer(number)]
            ).first
            bytes += try row?.integer(0) ?? 0
            count += 1
        }
        let all = (span.partialValue + 1).multipliedReportingOverflow(by: bytes / max(count, 1) + Self.reportOverhead)
        return all.overflow ? room.forgotten : min(all.partialValue, room.forgotten)
    }

    /// The number of reports that are measured, about, to tell how large all of them are.
    private static var measuredReports: Int64 { 100 }
    /// Bytes that a report takes in SQLite beside its values: its header, its place in the page, and its entries in indexes.
    private static var reportOverhead: Int64 { 100 }

    /// Forgets the oldest reports row by row, whatever day they are of.
    package func removeOldestReports(limit: Int) throws -> Int {
        guard self.connection.hasReportDays else {
            return try self.removeReports(before: Timestamp(secondsSince1970: .max), limit: limit)
        }
        // By their numbers: rows of two days may stand at the same place, each in its table.
        let oldest = "SELECT number FROM report ORDER BY number LIMIT ?\(self.connection.rowLocks.free)"
        return try self.connection.execute(
            "DELETE FROM report WHERE number = ANY (ARRAY(\(oldest)))", [.integer(Int64(limit))])
    }

    /// Counts no body of a group whose newest body is older than the oldest report: after reports were removed by size.
    package func countNoRemovedBodies() throws {
        // By its number: PostgreSQL has no index by time.
        let oldest = try self.connection.rows("SELECT received_at FROM report ORDER BY number LIMIT 1", []).first
        try self.countNoBodies(before: Timestamp(secondsSince1970: try oldest?.integer(0) ?? .max))
    }

    /// Counts no body of a group whose newest body came before a time: when that is forgotten none is kept, and of what
    /// still comes bodies are kept again.
    package func countNoBodies(before time: Timestamp) throws {
        let free = self.connection.free(of: "group_count", where: "bodies > 0 AND bodies_at < ?")
        try self.connection.execute(
            "UPDATE group_count SET bodies = 0 WHERE \(free)", [.integer(time.secondsSince1970)])
    }
}
