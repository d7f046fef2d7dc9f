// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinListMetadata
package import PinReportAnalysis

extension StoreTransaction {
    /// Notes what a published list changes of how many installations report.
    ///
    /// A host that no list ever said a number for has no row: all installations report its failures. One that left the
    /// list has the row of ``ReportRate/unlisted``.
    package func noteReportRates(of list: PinList, at time: Timestamp) throws {
        var known: [String: Int64] = [:]
        for row in try self.connection.rows(
            "SELECT host, per_million FROM report_rate WHERE name = ? ORDER BY since", [.text(list.name)])
        {
            known[try row.text(0)] = try row.integer(1)
        }
        var shares = known.mapValues { _ in ReportRate.unlisted }
        for domain in list.domains { shares[domain.entry.domain.description] = list.reportPerMillion(of: domain) }
        for (host, share) in shares.sorted(by: { $0.key < $1.key }) where share != known[host] ?? ReportRate.all {
            try self.connection.execute(
                """
                INSERT INTO report_rate (host, name, since, per_million) VALUES (?, ?, ?, ?)
                ON CONFLICT (host, name, since) DO UPDATE SET per_million = excluded.per_million
                """, [.text(host), .text(list.name), .integer(time.secondsSince1970), .integer(share)])
        }
    }

    /// Forgets numbers that no hour from one on has: those that a newer one of the host and the list replaced until it began.
    package func removeReportRates(before hour: Int64) throws {
        let start = hour.multipliedReportingOverflow(by: 3_600)
        guard !start.overflow else { return }
        try self.connection.execute(
            """
            DELETE FROM report_rate WHERE EXISTS (
                SELECT 1 FROM report_rate AS newer WHERE newer.host = report_rate.host
                    AND newer.name = report_rate.name AND newer.since > report_rate.since AND newer.since <= ?)
            """, [.integer(start.partialValue)])
    }

    /// The sampling rates, by the hosts with reports since an hour that a list said a rate for.
    func reportRates(since hour: Int64) throws -> [String: ReportRate] {
        var changes: [String: [ReportRate.Change]] = [:]
        for row in try self.connection.rows(
            """
            SELECT host, name, since, per_million FROM report_rate WHERE EXISTS (
                SELECT 1 FROM report_hour WHERE report_hour.host = report_rate.host AND report_hour.hour >= ?)
            ORDER BY host, name, since
            """, [.integer(hour)])
        {
            changes[try row.text(0), default: []].append(
                ReportRate.Change(
                    by: try row.text(1), since: Timestamp(secondsSince1970: try row.integer(2)),
                    perMillion: try row.integer(3)))
        }
        return changes.mapValues { ReportRate($0) }
    }

    /// Pin failures in windows of a grid that were not reported, because some installations report for all: what a chart
    /// adds to those that were; and what these were multiplied by.
    package func unreported(in grid: HourGrid) throws -> (windows: [Int64: Double], factors: Set<Double>) {
        var (windows, factors): ([Int64: Double], Set<Double>) = ([:], [])
        for (host, rate) in try self.reportRates(since: grid.start) {
            for (hours, factor) in rate.factors(of: grid.start..<grid.start + grid.step * grid.count) {
                factors.insert(factor)
                guard factor > 1 else { continue }
                for row in try self.connection.rows(
                    """
                    SELECT (hour - ?) / ?, SUM(count) FROM report_hour
                    WHERE host = ? AND hour >= ? AND hour < ? AND kind = ? GROUP BY 1
                    """,
                    [
                        .integer(grid.start), .integer(grid.step), .text(host), .integer(hours.lowerBound),
                        .integer(hours.upperBound), .text(CollectedReport.Kind.pin.rawValue),
                    ])
                {
                    windows[try row.integer(0), default: 0] += (factor - 1) * Double(try row.integer(1))
                }
            }
        }
        return (windows, factors)
    }
}
