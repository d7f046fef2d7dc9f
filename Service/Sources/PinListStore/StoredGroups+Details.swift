// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinReportAnalysis

/// The details of a group beyond its figures.
package struct GroupDetails: Sendable {
    /// Reports in the windows of a grid.
    package var counts: [Int64: Int64]
    /// Networks by the day, the newest first.
    package var networks: [(day: Int64, count: Int64)]
    /// Reports by platform, of the newest thousand.
    package var platforms: [(platform: String, count: Int64)]
    /// The bodies that are kept, the newest first.
    package var bodies: [(receivedAt: Timestamp, bytes: [UInt8])]
}

extension StoreTransaction {
    /// Reports of groups in windows of a grid.
    package func groupCounts(_ groups: [Int64], in grid: HourGrid) throws -> [Int64: [Int64: Int64]] {
        var counts: [Int64: [Int64: Int64]] = [:]
        for group in groups {
            for row in try self.connection.rows(
                "SELECT (hour - ?) / ?, SUM(count) FROM group_hour WHERE group_number = ? AND hour >= ? GROUP BY 1",
                [.integer(grid.start), .integer(grid.step), .integer(group), .integer(grid.start)])
            {
                counts[group, default: [:]][try row.integer(0)] = try row.integer(1)
            }
        }
        return counts
    }

    /// The values that groups can be filtered by, in their order. Where there are more, those of listed hosts' groups are
    /// among them.
    package func groupChoices(limit: Int) throws -> (hosts: [String], reasons: [String], versions: [String]) {
        func values(_ column: String) throws -> [String] {
            try self.connection.rows(
                """
                SELECT \(column) FROM report_group WHERE \(column) <> '' GROUP BY \(column)
                ORDER BY MAX(is_listed) DESC, \(column) LIMIT ?
                """, [.integer(Int64(limit))]
            ).map { try $0.text(0) }.sorted()
        }
        return (try values("host"), try values("reason"), try values("app_version"))
    }

    /// Reports in windows of a grid, by kind.
    package func kindCounts(in grid: HourGrid) throws -> [(window: Int64, kind: String, count: Int64)] {
        try self.connection.rows(
            "SELECT (hour - ?) / ?, kind, SUM(count) FROM report_hour WHERE hour >= ? GROUP BY 1, 2",
            [.integer(grid.start), .integer(grid.step), .integer(grid.start)]
        ).map { (try $0.integer(0), try $0.text(1), try $0.integer(2)) }
    }

    /// The details of a group.
    package func details(of group: Int64, in grid: HourGrid) throws -> GroupDetails {
        let networks = try self.connection.rows(
            "SELECT day, MAX(networks) FROM group_network WHERE group_number = ? GROUP BY day ORDER BY day DESC LIMIT 30",
            [.integer(group)]
        ).map { (day: try $0.integer(0), count: try $0.integer(1)) }
        let platforms = try self.connection.rows(
            """
            SELECT platform, COUNT(*) FROM (SELECT platform FROM report WHERE group_number = ? ORDER BY number DESC
                LIMIT 1000) AS newest GROUP BY platform ORDER BY COUNT(*) DESC, platform LIMIT 20
            """, [.integer(group)]
        ).map { (platform: try $0.text(0), count: try $0.integer(1)) }
        let bodies = try self.connection.rows(
            """
            SELECT received_at, body FROM report WHERE group_number = ? AND body IS NOT NULL
            ORDER BY number DESC LIMIT 10
            """, [.integer(group)]
        ).map { (receivedAt: Timestamp(secondsSince1970: try $0.integer(0)), bytes: try $0.blob(1)) }
        return GroupDetails(
            counts: try self.groupCounts([group], in: grid)[group] ?? [:], networks: networks, platforms: platforms,
            bodies: bodies)
    }
}
