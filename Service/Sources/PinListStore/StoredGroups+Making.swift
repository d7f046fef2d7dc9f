// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
package import PinReportAnalysis

/// A group that is there, as far as what is added to it needs.
package struct KnownGroup: Hashable, Sendable {
    /// Its number in the store.
    let number: Int64
    /// The number of bodies that are kept of it.
    let bodies: Int64
    /// Whether it counts as one of a published list.
    let isListed: Bool
}

extension StoreTransaction {
    /// The groups of reports by id, made where there are none, as ``GroupQuota`` allows. A group that finds no room is the
    /// overflow's.
    ///
    /// Takes ``StoreLock/groups`` only where a group is new, and waits for nothing: groups that are there are looked up, and
    /// kept from being removed until the reports are in.
    ///
    /// - Throws: ``ReportsMustWait`` where another instance has the lock and a new group has room of its own, or removes a
    ///   group of the same id (docs/decisions/0082).
    package func groups(of reports: [AcceptedReport]) throws -> [String: KnownGroup] {
        var order: [String] = []
        var firsts: [String: AcceptedReport] = [:]
        for report in reports {
            if firsts[report.group.id] == nil { order.append(report.group.id) }
            if firsts[report.group.id].map({ report.isListed && !$0.isListed }) ?? true {
                firsts[report.group.id] = report
            }
        }
        let known = try self.knownGroups(order)
        let isSettled = firsts.allSatisfy { id, first in known[id].map { $0.isListed || !first.isListed } ?? false }
        if isSettled { return known }
        let wanted = order.compactMap { firsts[$0] }
        let isMaking = try self.connection.lockIfFree(.groups)
        // Another instance may have made some before it gave the lock back.
        let found = try isMaking ? self.knownGroups(order) : self.knownOverflows(of: wanted, besides: known)
        let quota = try self.groupQuota()
        let waiting =
            try isMaking
            ? self.removedGroups(among: wanted, besides: found)
            : self.crowdedGroups(among: wanted, besides: found, quota)
        guard waiting.isEmpty else { throw ReportsMustWait(among: reports) { waiting.contains($0.group.id) } }
        var making = GroupMaking(store: self, known: found, quota: quota)
        for report in wanted {
            if isMaking { try making.expect(report) } else { try making.countInOverflow(report) }
        }
        return making.known
    }

    /// Groups that are there, with the overflows of those that are not.
    private func knownOverflows(
        of reports: [AcceptedReport], besides known: [String: KnownGroup]
    ) throws -> [String: KnownGroup] {
        let ids = Set(reports.filter { known[$0.group.id] == nil }.map { $0.group.overflow(isListed: $0.isListed).id })
        return known.merging(try self.knownGroups(ids.sorted())) { $1 }
    }

    /// The groups that only the instance can make that has the lock, which is another one: those with room of their own,
    /// those that are to be marked as of a list, and those whose overflow is not there yet. What could only take the place of
    /// another group is counted in its overflow meanwhile (docs/decisions/0081).
    ///
    /// - Parameter known: The groups that are there, and overflows.
    private func crowdedGroups(
        among reports: [AcceptedReport], besides known: [String: KnownGroup], _ quota: GroupQuota
    ) throws -> Set<String> {
        func hasRoom(_ report: AcceptedReport, _ counts: [[SQLValue]: Int] = [:]) -> Bool {
            let share = GroupQuota.Share(of: report.group, isListed: report.isListed)
            return quota.room(for: share, holding: counts[Self.values(of: share)] ?? 0) == .free
        }
        // Where its part is full its share need not be counted.
        let uncertain = reports.filter { known[$0.group.id] == nil && hasRoom($0) }
        let counts = try self.groupCounts(of: Set(uncertain.map(\.group.notedHostname)))
        return Set(
            reports.filter { report in
                if let group = known[report.group.id] { return report.isListed && !group.isListed }
                return hasRoom(report, counts) || known[report.group.overflow(isListed: report.isListed).id] == nil
            }.map(\.group.id))
    }

    /// The groups that cannot be made although this transaction has the lock: retention is removing one of the same id, or the
    /// overflow, and a new row would wait for its end.
    ///
    /// - Parameter known: The groups that are there.
    private func removedGroups(
        among reports: [AcceptedReport], besides known: [String: KnownGroup]
    ) throws -> Set<String> {
        guard !self.connection.rowLocks.sharedIfFree.isEmpty else { return [] }
        let ids = reports.filter { known[$0.group.id] == nil }.map {
            (group: $0.group.id, overflow: $0.group.overflow(isListed: $0.isListed).id)
        }
        let there = Set(
            try self.connection.rows(
                in: Set(ids.flatMap { [$0.group, $0.overflow] }).sorted().map { .text($0) },
                { "SELECT id FROM report_group WHERE id IN (\($0))" }
            ).map { try $0.text(0) })
        let removed = there.subtracting(try self.knownGroups(there.sorted()).keys)
        // One whose removal was taken back this moment is found when it is tried again.
        return Set(ids.filter { there.contains($0.group) || removed.contains($0.overflow) }.map(\.group))
    }

    /// Groups by their ids, but for those that are being removed.
    func knownGroups(_ ids: [String]) throws -> [String: KnownGroup] {
        let rows = try self.connection.rows(in: ids.map { .text($0) }) { marks in
            """
            SELECT id, number, is_listed,
                (SELECT COALESCE(SUM(bodies), 0) FROM group_count WHERE group_number = report_group.number)
            FROM report_group WHERE id IN (\(marks))\(self.connection.rowLocks.sharedIfFree)
            """
        }
        var known: [String: KnownGroup] = [:]
        for row in rows {
            known[try row.text(0)] = KnownGroup(
                number: try row.integer(1), bodies: try row.integer(3), isListed: try row.integer(2) != 0)
        }
        return known
    }

    private func groupQuota() throws -> GroupQuota {
        var counts: [GroupQuota.Part: Int64] = [:]
        for row in try self.connection.rows(
            """
            SELECT is_listed, attestation, COUNT(*) FROM report_group WHERE reason <> ?
            GROUP BY is_listed, attestation
            """, [.text(ReportGroup.overflowReason)])
        {
            let isAttested = try row.text(1) == AttestationState.attested.rawValue
            counts[isAttested ? .attested : try row.integer(0) != 0 ? .listed : .other, default: 0] += try row.integer(
                2)
        }
        return GroupQuota(
            listed: Int(clamping: counts[.listed] ?? 0), other: Int(clamping: counts[.other] ?? 0),
            attested: Int(clamping: counts[.attested] ?? 0))
    }

    /// The number of groups of a share, without overflows.
    func groupCount(of share: GroupQuota.Share) throws -> Int {
        let rows = try self.connection.rows(
            "SELECT COUNT(*) FROM report_group WHERE \(Self.shareCondition)", Self.values(of: share))
        return Int(clamping: try rows.first?.integer(0) ?? 0)
    }

    /// The numbers of groups of the shares of hosts, without overflows, by ``values(of:)``.
    private func groupCounts(of hosts: Set<String>) throws -> [[SQLValue]: Int] {
        let overflow = SQLValue.text(ReportGroup.overflowReason)
        var counts: [[SQLValue]: Int] = [:]
        for row in try self.connection.rows(
            in: hosts.sorted().map { .text($0) },
            { marks in
                """
                SELECT host, is_listed, CASE WHEN kind = 'incident' THEN list_name ELSE '' END,
                    CASE WHEN attestation = 'attested' THEN 'attested' ELSE '' END, COUNT(*)
                FROM report_group WHERE host IN (\(marks)) AND reason <> '\(ReportGroup.overflowReason)'
                GROUP BY 1, 2, 3, 4
                """
            })
        {
            let key: [SQLValue] = [
                .text(try row.text(0)), .integer(try row.integer(1)), overflow, .text(try row.text(2)),
                .text(try row.text(3)),
            ]
            counts[key] = Int(clamping: try row.integer(4))
        }
        return counts
    }

    /// The maximum number of groups whose networks are looked at when one has to leave.
    private static var maximumLookedAt: Int { 1_000 }

    /// The groups that leave when another comes: those of one report, then small ones of which none came for a day, of each the
    /// oldest first (``GroupQuota/mayLeave(reports:lastAt:at:)``).
    ///
    /// - Parameters:
    ///   - share: The share of the newcomer.
    ///   - scope: Whether they are looked for in its share, or in its part.
    ///   - now: The time.
    ///   - limit: The maximum number of groups.
    func leavingGroups(
        of share: GroupQuota.Share, in scope: GroupQuota.Scope, at now: Timestamp, limit: Int
    ) throws -> [Int64] {
        let isShare = scope == .share
        let (attested, overflow) = (
            SQLValue.text(AttestationState.attested.rawValue), SQLValue.text(ReportGroup.overflowReason)
        )
        let condition: String
        let part: [SQLValue]
        switch (isShare, share.part) {
        case (true, _): (condition, part) = (Self.shareCondition, Self.values(of: share))
        case (false, .attested): (condition, part) = ("attestation = ? AND reason <> ?", [attested, overflow])
        case (false, .listed), (false, .other):
            condition = "is_listed = ? AND attestation <> ? AND reason <> ?"
            part = [.integer(share.isListed ? 1 : 0), attested, overflow]
        }
        // Networks are looked up for the first of them alone: of all of them it would take as long as many batches.
        return try self.connection.rows(
            """
            SELECT number FROM (
                SELECT report_group.number, SUM(group_count.count) > 1 AS is_several, MAX(group_count.last_at) AS last_at
                FROM report_group JOIN group_count ON group_count.group_number = report_group.number
                WHERE \(condition) GROUP BY report_group.number
                HAVING SUM(group_count.count) = 1
                    OR (attestation <> 'attested' AND SUM(group_count.count) <= \(GroupQuota.maximumOfSmallGroup)
                        AND MAX(group_count.last_at) < ?)
                ORDER BY 2, 3, 1 LIMIT \(Self.maximumLookedAt)) AS small
            WHERE NOT is_several
                OR (SELECT COALESCE(MAX(networks), 0) FROM group_network WHERE group_number = small.number)
                    <= \(GroupQuota.maximumNetworksOfSmallGroup)
            ORDER BY is_several, last_at, number LIMIT ?
            """,
            part + [
                .integer(now.before(GroupQuota.smallGroupSeconds).secondsSince1970), .integer(Int64(limit)),
            ]
        ).map { try $0.integer(0) }
    }

    private static var shareCondition: String {
        """
        host = ? AND is_listed = ? AND reason <> ? AND CASE WHEN kind = 'incident' THEN list_name ELSE '' END = ?
            AND (attestation = 'attested') = (? = 'attested')
        """
    }

    private static func values(of share: GroupQuota.Share) -> [SQLValue] {
        [
            .text(share.host), .integer(share.isListed ? 1 : 0), .text(ReportGroup.overflowReason),
            .text(share.listName), .text(share.isAttested ? AttestationState.attested.rawValue : ""),
        ]
    }

    /// Removes a group with all that is known of it, where a condition still holds.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - isRemoved: Says so, given how many reports it has and when the last one came (seconds since 1970).
    /// - Returns: Whether it is gone; `false` as well where another instance is adding to it.
    func removeGroup(_ number: Int64, if isRemoved: (_ count: Int64, _ lastAt: Int64) -> Bool) throws -> Bool {
        guard try self.takeGroup(number) else { return false }
        // Counted again now that no instance adds to it any more.
        let row = try self.connection.rows(
            "SELECT COALESCE(SUM(count), 0), COALESCE(MAX(last_at), 0) FROM group_count WHERE group_number = ?",
            [.integer(number)]
        ).first
        guard let row, isRemoved(try row.integer(0), try row.integer(1)) else { return false }
        for table in ["report"] + Self.groupTables {
            try self.connection.execute("DELETE FROM \(table) WHERE group_number = ?", [.integer(number)])
        }
        try self.connection.execute("DELETE FROM report_group WHERE number = ?", [.integer(number)])
        return true
    }

    /// Takes a group, to remove what is known of it. Who has it is alone with the rows of the group.
    ///
    /// - Returns: Whether it is there, and no other transaction adds to it or removes it.
    func takeGroup(_ number: Int64) throws -> Bool {
        let lock = self.connection.rowLocks.free
        let rows = try self.connection.rows(
            "SELECT 1 FROM report_group WHERE number = ?\(lock)", [.integer(number)])
        return !rows.isEmpty
    }

    /// The tables of what is counted of a group.
    static var groupTables: [String] { ["group_count", "group_hour", "group_network", "group_leaf"] }

    /// Makes a group.
    package func insert(_ report: AcceptedReport, as group: ReportGroup) throws -> KnownGroup {
        let row = try self.connection.rows(
            """
            INSERT INTO report_group (id, kind, reason, host, app, app_version, list_name, list_version, issuer,
                issuer_pin, is_public, is_validated, is_listed, attestation)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number
            """,
            [
                .text(group.id), .text(group.kind.rawValue), .text(group.reason), .text(group.notedHostname),
                .text(group.appID), .text(group.appVersion), .text(group.listName), .optional(group.listVersion),
                .text(group.issuer), .optional(group.issuerPin?.description),
                .optional(report.report.issuer.map { $0.isNamedAsPublic ? 1 : 0 }),
                .integer(report.report.isChainValidated ? 1 : 0), .integer(report.isListed ? 1 : 0),
                .text(group.attestation.rawValue),
            ]
        ).first
        guard let row else { throw StoreError(.damaged, "a group was made without a number") }
        return KnownGroup(number: try row.integer(0), bodies: 0, isListed: report.isListed)
    }

    /// Says that a group belongs to a published list.
    func setListed(_ group: Int64) throws {
        try self.connection.execute("UPDATE report_group SET is_listed = 1 WHERE number = ?", [.integer(group)])
    }
}
