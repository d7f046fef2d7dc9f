// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

extension StoreTransaction {
    /// How many bodies are kept of a group as they came: what people look at. Of the others their members are.
    static var bodiesOfGroup: Int64 { 16 }

    /// Adds reports, and what is counted of them.
    ///
    /// - Parameter instance: Who counted the networks.
    func add(_ reports: [AcceptedReport], countedBy instance: String) throws {
        var hours: [[SQLValue]: Int64] = [:]
        var groupCount: Int64?
        // Always in the same order: two instances never wait for each other crosswise.
        let groups = Dictionary(grouping: reports) { $0.group.id }.sorted { $0.key < $1.key }
        for (_, members) in groups {
            guard let (number, host) = try self.group(of: members, &groupCount) else { continue }
            try self.addGroupCounts(members, number, instance)
            var bodies =
                try self.connection.rows(
                    "SELECT COUNT(*) FROM report_body WHERE group_number = ?", [.integer(number)]
                ).first?.integer(0) ?? 0
            for member in members {
                let report = try self.insert(member, number)
                if bodies < Self.bodiesOfGroup {
                    bodies += 1
                    try self.connection.execute(
                        "INSERT INTO report_body (report, group_number, body) VALUES (?, ?, ?)",
                        [.integer(report), .integer(number), .blob(member.body)])
                }
                // Hosts are what senders say: those that no group is kept of are counted together.
                let key: [SQLValue] = [
                    .integer(member.receivedAt.hour), .text(host),
                    .text(CountedKind.of(member.report)),
                ]
                hours[key, default: 0] += 1
            }
        }
        for (key, count) in hours.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            try self.connection.execute(
                """
                INSERT INTO report_hour (hour, host, kind, count) VALUES (?, ?, ?, ?)
                ON CONFLICT (hour, host, kind) DO UPDATE SET count = report_hour.count + excluded.count
                """, key + [.integer(count)])
        }
    }

    /// The number of a group, made where there is none, and the host that it counts for; of the overflow where there are
    /// too many.
    ///
    /// - Parameters:
    ///   - members: Its reports.
    ///   - groups: How many groups there are, once that was asked: a flood of new ones must not count them each time.
    private func group(
        of members: [AcceptedReport], _ groups: inout Int64?
    ) throws -> (number: Int64, host: String)? {
        guard let first = members.first else { return nil }
        let times = members.map(\.receivedAt.secondsSince1970)
        let (from, to) = (times.min() ?? 0, times.max() ?? 0)
        var group = first.group
        let known = try self.connection.rows("SELECT number FROM report_group WHERE id = ?", [.text(group.id)]).first
        if known == nil {
            let count =
                try groups ?? self.connection.rows("SELECT COUNT(*) FROM report_group", []).first?.integer(0) ?? 0
            groups = count
            if count >= ReportGroup.mostGroups { group = .overflow(of: group.kind) } else { groups = count + 1 }
        }
        let number = try self.connection.rows(
            """
            INSERT INTO report_group (id, kind, reason, host, app, app_version, list_name, list_version, issuer,
                issuer_pin, is_public, is_validated, first_at, last_at, count)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET count = report_group.count + excluded.count,
                last_at = CASE WHEN excluded.last_at > report_group.last_at THEN excluded.last_at
                    ELSE report_group.last_at END
            RETURNING number
            """,
            [
                .text(group.id), .text(group.kind.rawValue), .text(group.reason), .text(group.notedHostname),
                .text(group.appID), .text(group.appVersion), .text(group.listName), .optional(group.listVersion),
                .text(group.issuer), .optional(group.issuerPin?.description),
                .optional(first.report.issuer.map { $0.isNamedAsPublic ? 1 : 0 }),
                .integer(first.report.isChainValidated ? 1 : 0), .integer(from), .integer(to),
                .integer(Int64(members.count)),
            ]
        ).first?.integer(0)
        let isCounted = try group.reason != ReportGroup.overflowReason || self.isKnown(first.group.notedHostname)
        return number.map { ($0, isCounted ? first.group.notedHostname : HostRate.otherHosts) }
    }

    /// Whether a group has a host. There are as few such hosts as groups: rates by the hour are kept of them alone.
    private func isKnown(_ host: String) throws -> Bool {
        try !self.connection.rows("SELECT 1 FROM report_group WHERE host = ? LIMIT 1", [.text(host)]).isEmpty
    }

    private func addGroupCounts(_ members: [AcceptedReport], _ number: Int64, _ instance: String) throws {
        var hours: [Int64: Int64] = [:]
        for member in members { hours[member.receivedAt.hour, default: 0] += 1 }
        for (hour, count) in hours.sorted(by: { $0.key < $1.key }) {
            try self.connection.execute(
                """
                INSERT INTO group_hour (group_number, hour, count) VALUES (?, ?, ?)
                ON CONFLICT (group_number, hour) DO UPDATE SET count = group_hour.count + excluded.count
                """, [.integer(number), .integer(hour), .integer(count)])
        }
        if let networks = members.compactMap(\.networks).max(by: { $0.networks.number < $1.networks.number }) {
            try self.connection.execute(
                """
                INSERT INTO group_network (group_number, day, instance, networks, is_more) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (group_number, day, instance) DO UPDATE SET networks = excluded.networks,
                    is_more = excluded.is_more WHERE excluded.networks > group_network.networks
                """,
                [
                    .integer(number), .integer(networks.day), .text(instance),
                    .integer(Int64(networks.networks.number)), .integer(networks.networks.isMore ? 1 : 0),
                ])
        }
        try self.addLeaves(members, number)
    }

    /// Adds the leaves that were not seen yet, up to one more than are told apart.
    private func addLeaves(_ members: [AcceptedReport], _ number: Int64) throws {
        let leaves = Dictionary(members.compactMap { $0.report.leaf }.map { ($0.pin.description, $0) }) { first, _ in
            first
        }
        guard !leaves.isEmpty else { return }
        var known = Set(
            try self.connection.rows("SELECT pin FROM group_leaf WHERE group_number = ?", [.integer(number)])
                .map { try $0.text(0) })
        for (pin, leaf) in leaves.sorted(by: { $0.key < $1.key }) {
            guard known.count <= DistinctLeaves.most, known.insert(pin).inserted else { continue }
            try self.connection.execute(
                """
                INSERT INTO group_leaf (group_number, pin, not_before, not_after) VALUES (?, ?, ?, ?)
                ON CONFLICT (group_number, pin) DO NOTHING
                """,
                [
                    .integer(number), .text(pin), .optional(leaf.notBefore?.secondsSince1970),
                    .optional(leaf.notAfter?.secondsSince1970),
                ])
        }
    }

    private func insert(_ accepted: AcceptedReport, _ group: Int64) throws -> Int64 {
        let report = accepted.report
        let row = try self.connection.rows(
            """
            INSERT INTO report (group_number, received_at, claimed_at, host, port, platform, leaf_pin, signals, sampled)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number
            """,
            [
                .integer(group), .integer(accepted.receivedAt.secondsSince1970),
                .optional(report.claimedTime?.secondsSince1970), .text(report.hostname),
                .optional(report.port.map { Int64($0) }),
                .text([report.app.platform, report.app.platformVersion].compactMap { $0 }.joined(separator: " ")),
                .optional(report.leaf?.pin.description), .text(report.signals.joined(separator: "\n")),
                .integer(accepted.isSample ? 1 : 0),
            ]
        ).first
        guard let row else { throw StoreError(.damaged, "a report was inserted without a number") }
        return try row.integer(0)
    }
}
