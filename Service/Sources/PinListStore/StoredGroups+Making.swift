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
    /// Takes ``StoreLock/groups`` only where a group is new: those that are there are looked up, and kept from being
    /// removed until the reports are in. Waits for another instance that has it only where a new group has room of its own
    /// (docs/decisions/0081).
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
        if try !self.connection.lockIfFree(.groups) {
            if let known = try self.overflows(of: wanted, besides: known) { return known }
            try self.connection.lock(.groups)
        }
        // Another instance may have made some while this one waited.
        var making = GroupMaking(store: self, known: try self.knownGroups(order), quota: try self.groupQuota())
        for report in wanted { try making.expect(report) }
        return making.known
    }

    /// The groups that count reports while another instance makes groups: what could only take the place of another group is
    /// counted in its overflow, and waits for nothing. An overflow that is not there yet is waited for, once.
    ///
    /// - Parameter known: The groups of these reports that are there.
    /// - Returns: `nil` where a new group has room, or one that is there is to be marked as listed.
    private func overflows(
        of reports: [AcceptedReport], besides known: [String: KnownGroup]
    ) throws -> [String: KnownGroup]? {
        let quota = try self.groupQuota()
        var (missing, counts) = ([AcceptedReport](), [GroupQuota.Share: Int]())
        for report in reports {
            if let group = known[report.group.id] {
                guard group.isListed || !report.isListed else { return nil }
                continue
            }
            missing.append(report)
            let share = GroupQuota.Share(of: report.group, isListed: report.isListed)
            // Where its part is full its share need not be counted.
            guard quota.room(for: share, holding: 0) == .free else { continue }
            let count = try counts[share] ?? self.groupCount(of: share)
            counts[share] = count
            guard quota.room(for: share, holding: count) != .free else { return nil }
        }
        let overflows = Set(missing.map { $0.group.overflow(isListed: $0.isListed).id })
        let found = try self.knownGroups(overflows.sorted())
        if found.count < overflows.count { try self.connection.lock(.groups) }
        var making = GroupMaking(store: self, known: known.merging(found) { $1 }, quota: quota)
        for report in missing { try making.countInOverflow(report) }
        return making.known
    }

    /// Groups by their ids.
    func knownGroups(_ ids: [String]) throws -> [String: KnownGroup] {
        let rows = try self.connection.rows(in: ids.map { .text($0) }) { marks in
            """
            SELECT id, number, is_listed,
                (SELECT COALESCE(SUM(bodies), 0) FROM group_count WHERE group_number = report_group.number)
            FROM report_group WHERE id IN (\(marks))\(self.connection.rowLocks.shared)
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

    /// Groups of one report, the oldest first, which leave when another comes.
    ///
    /// - Parameter share: Of this share, or only of its part.
    func leavingGroups(of share: GroupQuota.Share, in scope: GroupQuota.Scope, limit: Int) throws -> [Int64] {
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
        return try self.connection.rows(
            """
            SELECT number FROM report_group JOIN group_count ON group_count.group_number = report_group.number
            WHERE \(condition) GROUP BY number HAVING SUM(group_count.count) = 1
            ORDER BY MIN(group_count.first_at), number LIMIT ?
            """, part + [.integer(Int64(limit))]
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
        let lock = self.connection.rowLocks.free
        guard
            !(try self.connection.rows("SELECT 1 FROM report_group WHERE number = ?\(lock)", [.integer(number)]).isEmpty)
        else { return false }
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
