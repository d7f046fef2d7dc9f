// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinReportAnalysis

extension StoreTransaction {
    /// The failure rates of hosts in the last week: those of listed hosts first, of each kind the most in the last hour.
    ///
    /// - Parameter listed: The hosts of the lists. Of others, which any sender can make up, only those with the most
    ///   reports are told, up to ``HostRate/maximumUnlisted``.
    package func hostRates(listed: Set<String>, at now: Timestamp) throws -> [HostRate] {
        let since = SQLValue.integer(now.hour - HostRate.week)
        let failed = try self.connection.rows(
            // Grouped by an expression: SQLite would walk through an index of all hours to have the hosts in order.
            """
            SELECT host || '' AS name FROM report_hour WHERE hour >= ? GROUP BY host || ''
            ORDER BY SUM(count) DESC, host || ''
            """, [since]
        ).map { try $0.text(0) }
        let isListed = { (host: String) in host.isEmpty || listed.contains(host) }
        let hosts = failed.filter(isListed) + failed.lazy.filter { !isListed($0) }.prefix(HostRate.maximumUnlisted)
        let rates = try self.reportRates(since: now.hour - HostRate.week)
        let urgentFirst = try hosts.map { host in
            var counts: [Int64: (all: Int64, pins: Int64)] = [:]
            var unsampled: [Int64: Int64] = [:]
            for row in try self.connection.rows(
                "SELECT hour, kind, SUM(count) FROM report_hour WHERE host = ? AND hour >= ? GROUP BY hour, kind",
                [.text(host), since])
            {
                let (hour, count) = (try row.integer(0), try row.integer(2))
                counts[hour, default: (0, 0)].all += count
                let kind = try row.text(1)
                if CountedKind.isPinFailure(kind) { counts[hour, default: (0, 0)].pins += count }
                if kind == CountedKind.deniedKey { unsampled[hour, default: 0] += count }
            }
            return HostRate(
                host, counts, unsampled: unsampled, rate: rates[host] ?? ReportRate(), hour: now.hour,
                part: now.partOfHour)
        }
        .sorted { ($1.lastHour, $1.usual, $0.host) < ($0.lastHour, $0.usual, $1.host) }
        return urgentFirst.filter { isListed($0.host) } + urgentFirst.filter { !isListed($0.host) }
    }

    /// The time of the first publication of a version.
    package func publicationTime(of version: Int64, name: String) throws -> Timestamp? {
        try self.connection.rows(
            "SELECT published_at FROM publication WHERE name = ? AND version = ? ORDER BY number LIMIT 1",
            [.text(name), .integer(version)]
        ).first.map { Timestamp(secondsSince1970: try $0.integer(0)) }
    }

    /// Entries of the audit log with certain actions, since a time.
    package func auditEntries(of actions: [String], since time: Timestamp) throws -> [AuditEntry] {
        let marks = actions.map { _ in "?" }.joined(separator: ", ")
        return try self.connection.rows(
            "SELECT \(Self.auditColumns) FROM audit WHERE time >= ? AND action IN (\(marks)) ORDER BY number",
            [.integer(time.secondsSince1970)] + actions.map { .text($0) }
        ).map(Self.entry)
    }
}
