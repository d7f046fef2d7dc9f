// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinReportAnalysis

/// A group of reports with what is known of it.
package struct GroupSummary: Sendable {
    /// Its number in the store.
    package let number: Int64
    /// The group's id.
    package let id: String
    /// The kind of failure.
    package let kind: String
    /// The reason of the failure.
    package let reason: String
    /// The noted host.
    package let host: String
    /// The app and its version.
    package let app: String
    package let appVersion: String
    /// The list and its version.
    package let listName: String
    package let listVersion: Int64?
    /// The issuer of the leaf.
    package let issuer: String
    /// Whether its reports are attested.
    package let attestation: AttestationState
    /// The number of reports.
    package let count: Int64
    /// The times of the first and the last report.
    package let seen: ClosedRange<Timestamp>
    /// The number of networks, on the day with the most.
    package let networks: BoundedCount?
    /// The number of leaves.
    let leaves: BoundedCount
    /// The pin of the leaf, where there is one alone.
    package let leafPin: String?
    /// The probable cause.
    package let cause: LikelyCause
}

/// A filter for groups. What is empty does not choose.
package struct GroupFilter: Hashable, Sendable {
    package var host: String
    package var reason: String
    package var appVersion: String
    /// Reports since.
    package var since: Timestamp
    /// Reports that were counted in one of these hours, since 1970; `nil` does not choose.
    package var hours: ClosedRange<Int64>?
    /// Attested reports alone.
    package var isAttested: Bool
    /// The maximum number of groups.
    package var limit: Int

    /// States what is chosen; what is left out does not choose.
    package init(
        host: String = "", reason: String = "", appVersion: String = "",
        since: Timestamp = Timestamp(secondsSince1970: 0), hours: ClosedRange<Int64>? = nil, isAttested: Bool = false,
        limit: Int = 100
    ) {
        self.host = host
        self.reason = reason
        self.appVersion = appVersion
        self.since = since
        self.hours = hours
        self.isAttested = isAttested
        self.limit = limit
    }
}

extension StoreTransaction {
    private static var groupColumns: String {
        """
        number, id, kind, reason, host, app, app_version, list_name, list_version, issuer, issuer_pin, is_public,
        is_validated, first_at, last_at, count, attestation
        """
    }

    /// Groups with what all instances counted of them.
    private static func countedGroups(_ condition: String, having: String = "") -> String {
        """
        SELECT report_group.*, MIN(group_count.first_at) AS first_at, MAX(group_count.last_at) AS last_at,
            SUM(group_count.count) AS count
        FROM report_group JOIN group_count ON group_count.group_number = report_group.number
        \(condition) GROUP BY report_group.number \(having)
        """
    }

    /// Groups, the first ones first to be looked at.
    ///
    /// Attested groups, groups of listed hosts and others take turns, as they share the quota (``GroupQuota``). Of each,
    /// hosts take turns, and of a host its newest groups and those with the most reports, of the hours of the filter or of
    /// this hour and the one before. So groups that a stranger makes up do not push out a storm by being newer, many, or of a listed host.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - newest: The newest version of each list.
    ///   - now: The time; `nil` where no list can have been dated ahead, and reports of all time are the most.
    ///   - isWanted: Whether the groups of a host are wanted; `nil` for those of all hosts.
    package func groups(
        _ filter: GroupFilter, newest: [String: Int64], at now: Timestamp? = nil,
        ofHosts isWanted: ((String) -> Bool)? = nil
    ) throws -> [GroupSummary] {
        var conditions = filter.isAttested ? ["attestation = 'attested'"] : []
        var values: [SQLValue] = []
        for (column, value) in [("host", filter.host), ("reason", filter.reason), ("app_version", filter.appVersion)]
        where !value.isEmpty {
            conditions.append("\(column) = ?")
            values.append(.text(value))
        }
        let condition = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        let hours = filter.hours ?? now.map { Self.recentHours(at: $0) }
        let recent = (first: hours?.lowerBound ?? 1, last: hours?.upperBound ?? 0)
        let limit = isWanted == nil ? filter.limit : .max
        let rows = try self.connection.rows(
            """
            WITH counted AS (\(Self.countedGroups(condition, having: "HAVING MAX(group_count.last_at) >= ?"))),
            recent AS (
                SELECT group_number, SUM(count) AS weight FROM group_hour WHERE hour >= ? AND hour <= ?
                GROUP BY group_number),
            weighed AS (
                SELECT counted.*, COALESCE(recent.weight, 0) AS weight,
                    CASE WHEN kind = 'incident' THEN list_name ELSE '' END AS list,
                    CASE WHEN attestation = 'attested' THEN 0 WHEN is_listed <> 0 THEN 1 ELSE 2 END AS part
                FROM counted \(filter.hours == nil ? "LEFT " : "")JOIN recent ON group_number = number),
            turns AS (
                SELECT weighed.*,
                    ROW_NUMBER() OVER (PARTITION BY part, host, list ORDER BY last_at DESC, number) AS newest,
                    ROW_NUMBER() OVER (PARTITION BY part, host, list ORDER BY weight DESC, count DESC, number) AS most
                FROM weighed),
            places AS (
                SELECT turns.*, ROW_NUMBER() OVER (PARTITION BY part ORDER BY newest, last_at DESC, number) AS by_time,
                    ROW_NUMBER() OVER (PARTITION BY part ORDER BY most, weight DESC, count DESC, number) AS by_weight
                FROM turns)
            SELECT \(Self.groupColumns) FROM places
            ORDER BY CASE WHEN by_time < by_weight THEN by_time ELSE by_weight END, part, by_time LIMIT ?
            """,
            values + [filter.since.secondsSince1970, recent.first, recent.last, Int64(limit)].map { .integer($0) })
        var lookups = Lookups(now: now)
        return try rows.filter { row in try isWanted?(row.text(4)) != false }.prefix(filter.limit)
            .compactMap { try self.summary($0, newest, &lookups) }
    }

    /// The earlier look-ups for groups: of many groups of a host, or of an issuer, the result is the same.
    private struct Lookups {
        let now: Timestamp?
        var hosts: [[String]: [String]] = [:]
        var counts: [[String]: Int64] = [:]
        var probes: [StoredProbe]?
    }

    /// One group.
    package func group(id: String, newest: [String: Int64], at now: Timestamp? = nil) throws -> GroupSummary? {
        var lookups = Lookups(now: now)
        return try self.connection.rows(
            "SELECT \(Self.groupColumns) FROM (\(Self.countedGroups("WHERE id = ?"))) AS counted", [.text(id)]
        ).first.flatMap { try self.summary($0, newest, &lookups) }
    }

    private func summary(_ row: SQLRow, _ newest: [String: Int64], _ lookups: inout Lookups) throws -> GroupSummary? {
        guard let group = try Self.reportGroup(row) else { return nil }
        let number = try row.integer(0)
        let (first, last) = (try row.integer(13), try row.integer(14))
        let seen = Timestamp(secondsSince1970: min(first, last))...Timestamp(secondsSince1970: last)
        var facts = GroupFacts(group: group, count: try row.integer(15), seen: seen)
        facts.networks = try self.networks(of: number)
        let leaves = try self.leaves(of: number)
        facts.leaves = leaves.count
        facts.leafValidity = leaves.newest
        if let probe = try self.probe(of: group, &lookups) {
            facts.probed = ProbedKeys(probe, leaves: leaves.pins, issuer: group.issuerPin)
            // Probes hold hosts against the newest list.
            if facts.probed?.hasLeaf == true, probe.isOK { facts.newestListAllows = true }
        }
        facts.issuerIsPublicCA = try row.optionalInteger(11).map { $0 != 0 }
        facts.isChainValidated = try row.integer(12) != 0
        if newest[group.listName] != nil {
            facts.newestListVersion = try self.newestVersion(
                of: group.listName, at: seen.upperBound, lookups.now)
        }
        facts.clockSkew = try self.clockSkew(of: number, until: seen.upperBound)
        facts.otherHosts = try self.otherHosts(of: group, &lookups)
        facts.appVersionPercent = try self.appVersionPercent(of: group, count: facts.count, &lookups)
        return GroupSummary(
            number: number, id: group.id, kind: group.kind.rawValue, reason: group.reason, host: group.notedHostname,
            app: group.appID, appVersion: group.appVersion, listName: group.listName, listVersion: group.listVersion,
            issuer: group.issuer, attestation: group.attestation, count: facts.count, seen: seen,
            networks: facts.networks, leaves: facts.leaves,
            leafPin: leaves.pins.count == 1 ? leaves.pins.first : nil, cause: LikelyCause(of: facts))
    }

    private static func reportGroup(_ row: SQLRow) throws -> ReportGroup? {
        guard let kind = CollectedReport.Kind(rawValue: try row.text(2)) else { return nil }
        return ReportGroup(
            id: try row.text(1), kind: kind, reason: try row.text(3), notedHostname: try row.text(4),
            appID: try row.text(5), appVersion: try row.text(6), listName: try row.text(7),
            listVersion: try row.optionalInteger(8), issuer: try row.text(9),
            issuerPin: try row.optionalText(10).flatMap { try? Pin($0) },
            attestation: AttestationState(rawValue: try row.text(16)) ?? .unattested)
    }

    /// The newest version when the last report came. A list that was published since, perhaps because of these reports,
    /// does not make stale clients of those who sent them. A list that is dated over half a day ahead was dated by a wrong
    /// clock, and counts as published a day ago.
    private func newestVersion(of name: String, at time: Timestamp, _ now: Timestamp?) throws -> Int64? {
        let isOfToday = now.map { time >= $0.before(86_400) } ?? false
        let ahead = isOfToday ? now?.before(-BelievedTime.step).secondsSince1970 : nil
        return try self.connection.rows(
            """
            SELECT version FROM publication WHERE name = ? AND (published_at <= ? OR published_at > ?)
            ORDER BY number DESC LIMIT 1
            """, [.text(name), .integer(time.secondsSince1970), .integer(ahead ?? .max)]
        ).first?.integer(0)
    }

    /// The number of networks, on the day with the most: instances are not added up, for they count the same ones.
    private func networks(of group: Int64) throws -> BoundedCount? {
        try self.connection.rows(
            "SELECT networks, is_more FROM group_network WHERE group_number = ? ORDER BY networks DESC LIMIT 1",
            [.integer(group)]
        ).first.map { BoundedCount(Int(try $0.integer(0)), isMore: try $0.integer(1) != 0) }
    }

    /// The last probe of the host.
    private func probe(of group: ReportGroup, _ lookups: inout Lookups) throws -> StoredProbe? {
        let probes = try lookups.probes ?? self.probes()
        lookups.probes = probes
        return probes.filter { $0.host == group.notedHostname }.max { $0.at < $1.at }
    }

    private func leaves(of group: Int64) throws -> (
        count: BoundedCount, newest: ClosedRange<Timestamp>?, pins: Set<String>
    ) {
        let rows = try self.connection.rows(
            """
            SELECT MAX(not_before), MAX(not_after), pin FROM group_leaf WHERE group_number = ? GROUP BY pin
            ORDER BY MAX(not_before) DESC
            """, [.integer(group)])
        let count = BoundedCount(min(rows.count, DistinctLeaves.maximum), isMore: rows.count > DistinctLeaves.maximum)
        let pins = Set(try rows.map { try $0.text(2) })
        guard let row = rows.first, let from = try row.optionalInteger(0), let to = try row.optionalInteger(1),
            from <= to
        else { return (count, nil, pins) }
        return (count, Timestamp(secondsSince1970: from)...Timestamp(secondsSince1970: to), pins)
    }

    /// The offset of senders' clocks ahead of ours, the median of the newest reports of the group's last day. PostgreSQL has
    /// a table for each day: without the time it would look into all of them, for each group of a page.
    private func clockSkew(of group: Int64, until last: Timestamp) throws -> Int64? {
        let skews = try self.connection.rows(
            """
            SELECT claimed_at, received_at FROM (SELECT claimed_at, received_at FROM report
                WHERE group_number = ? AND received_at >= ? AND received_at <= ? ORDER BY number DESC LIMIT 50) AS newest
            WHERE claimed_at IS NOT NULL
            """,
            [.integer(group), .integer(last.before(86_400).secondsSince1970), .integer(last.secondsSince1970)]
        ).map { try $0.integer(0).subtractingReportingOverflow(try $0.integer(1)).partialValue }.sorted()
        return skews.isEmpty ? nil : skews[skews.count / 2]
    }

    /// Other listed hosts for which the same issuer was reported, by installations that are as well known: of a host that
    /// no list has, or unattested, anybody can report any issuer.
    private func otherHosts(of group: ReportGroup, _ lookups: inout Lookups) throws -> Set<String> {
        guard !group.issuer.isEmpty else { return [] }
        let key = [group.issuer, group.attestation.rawValue]
        let hosts =
            try lookups.hosts[key]
            ?? self.connection.rows(
                """
                SELECT DISTINCT host FROM report_group WHERE issuer = ? AND attestation = ? AND is_listed <> 0
                ORDER BY host LIMIT 11
                """, key.map { .text($0) }
            ).map { try $0.text(0) }
        lookups.hosts[key] = hosts
        return Set(hosts.filter { $0 != group.notedHostname }.prefix(10))
    }

    /// The percentage of the reports of this host and reason, from installations that are as well known, that come from
    /// this version of the app.
    private func appVersionPercent(of group: ReportGroup, count: Int64, _ lookups: inout Lookups) throws -> Int? {
        let key = [group.notedHostname, group.reason, group.attestation.rawValue]
        let all =
            try lookups.counts[key]
            ?? self.connection.rows(
                """
                SELECT COALESCE(SUM(group_count.count), 0)
                FROM report_group JOIN group_count ON group_count.group_number = report_group.number
                WHERE host = ? AND reason = ? AND attestation = ?
                """, key.map { .text($0) }
            ).first?.integer(0) ?? 0
        lookups.counts[key] = all
        return all > 0 ? Int(count * 100 / all) : nil
    }
}
