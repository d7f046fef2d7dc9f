// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import CertificateSightings
package import PinReportAnalysis

/// The result of storing sightings.
package enum SightingStoring: Hashable, Sendable {
    /// They are kept, each with what it means.
    case stored([SightingState])
    /// The token, or the name, has no room for so many more.
    case full
}

extension StoreTransaction {
    /// Sightings of a condition, those that were told last first.
    private func sightings(_ condition: String, _ values: [SQLValue], limit: Int) throws -> [StoredSighting] {
        try self.connection.rows(
            "SELECT \(StoredSighting.shown) FROM sighting WHERE \(condition) LIMIT ?", values + [.integer(Int64(limit))]
        ).map { try StoredSighting($0) }
    }

    /// A sighting; `nil` for one that is not kept.
    package func sighting(of name: String, identity: String) throws -> StoredSighting? {
        try self.sightings("name = ? AND digest = ?", [.text(name), .text(identity)], limit: 1).first
    }

    /// Sightings of a name, the newest first.
    ///
    /// - Parameters:
    ///   - state: As they were evaluated: pinned ones are backups, too. `nil` for all.
    ///   - host: Of one entry.
    package func sightings(
        of name: String, evaluated state: SightingState? = nil, host: String? = nil, limit: Int
    ) throws -> [StoredSighting] {
        var (condition, values) = ("name = ?", [SQLValue.text(name)])
        for (column, value) in [("state", state?.rawValue), ("host", host)] {
            guard let value else { continue }
            condition += " AND \(column) = ?"
            values.append(.text(value))
        }
        return try self.sightings("\(condition) ORDER BY first_at DESC, digest", values, limit: limit)
    }

    /// The sightings of a key, the one that was told first first.
    package func sightings(of name: String, key: String, limit: Int = 10) throws -> [StoredSighting] {
        try self.sightings("name = ? AND key = ? ORDER BY first_at, digest", [.text(name), .text(key)], limit: limit)
    }

    /// The numbers of sightings, by their state; those of no entry as they were counted.
    package func sightingCounts(of name: String) throws -> [SightingState: Int64] {
        var counts: [SightingState: Int64] = [:]
        for row in try self.connection.rows(
            """
            SELECT state, CASE WHEN served_at IS NULL THEN 0 ELSE 1 END, COUNT(*) FROM sighting WHERE name = ?
            GROUP BY 1, 2
            """, [.text(name)])
        {
            let evaluated = SightingState(rawValue: try row.text(0)) ?? .unknown
            let state = try evaluated == .pinned && row.integer(1) == 0 ? .backup : evaluated
            counts[state, default: 0] += try row.integer(2)
        }
        let unlisted = try self.connection.rows("SELECT count FROM unlisted_sighting WHERE name = ?", [.text(name)])
        if let row = unlisted.first { counts[.unlisted, default: 0] += try row.integer(0) }
        return counts
    }

    /// The numbers of sightings, by the domain of the entry that decided.
    package func sightingCountsByHost(of name: String) throws -> [String: Int64] {
        try self.connection.rows("SELECT host, COUNT(*) FROM sighting WHERE name = ? GROUP BY host", [.text(name)])
            .reduce(into: [:]) { $0[try $1.text(0)] = try $1.integer(1) }
    }

    /// Keeps what a monitor told, each certificate once; those that no entry covers are counted.
    ///
    /// - Parameters:
    ///   - told: The certificates, with their bytes; all of one token.
    ///   - rules: Those of the list that is served.
    ///   - list: Its edition.
    package func add(
        _ told: [(sighting: StoredSighting, certificate: [UInt8])], of name: String, by rules: SightingRules,
        of list: String, at now: Timestamp
    ) throws -> SightingStoring {
        var room = try self.sightingRoom(of: name, for: told.first?.sighting.toldBy ?? "")
        var states: [SightingState] = []
        var unlisted: Int64 = 0
        for (sighting, certificate) in told {
            var sighting = sighting
            sighting.evaluate(by: rules, of: list, at: now)
            let known = try self.sighting(of: name, identity: sighting.identity)
            guard sighting.evaluated != .unlisted || known != nil else {
                unlisted += 1
                states.append(.unlisted)
                continue
            }
            if let known {
                let joined = try self.join(sighting, certificate, to: known) {
                    $0.evaluate(by: rules, of: list, at: now)
                }
                states.append(joined)
                continue
            }
            guard room > 0 else { return .full }
            room -= 1
            sighting.servedAt =
                try self.sightings(of: name, key: sighting.key).compactMap(\.servedAt).min()
                ?? self.probeTime(of: sighting)
            let columns = StoredSighting.columns
            try self.connection.execute(
                """
                INSERT INTO sighting (\(columns.joined(separator: ", ")))
                VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
                """, sighting.values + [.blob(certificate)])
            states.append(sighting.state)
        }
        if unlisted > 0 {
            try self.connection.execute(
                """
                INSERT INTO unlisted_sighting (name, count, last_at) VALUES (?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET count = unlisted_sighting.count + excluded.count,
                    last_at = excluded.last_at
                """, [.text(name), .integer(unlisted), .integer(now.secondsSince1970)])
        }
        return .stored(states)
    }

    /// Adds to a sighting what another look at the same certificate brought: the certificate after its precertificate, an
    /// earlier log, another chain. Issuers that are signed by several have a chain for each.
    private func join(
        _ told: StoredSighting, _ certificate: [UInt8], to known: StoredSighting,
        evaluate: (inout StoredSighting) -> Void
    ) throws -> SightingState {
        var joined = known
        if let time = told.loggedAt, known.loggedAt.map({ time < $0 }) != false {
            (joined.log, joined.loggedAt) = (told.log, time)
        }
        if joined.log.isEmpty { joined.log = told.log }
        let isWhole = known.isPrecertificate && !told.isPrecertificate
        if isWhole { joined.isPrecertificate = false }
        let other = told.issuers.filter { !known.issuers.contains($0) }
        joined.issuers += other.prefix(max(Self.maximumIssuers - known.issuers.count, 0))
        evaluate(&joined)
        if joined != known { try self.update(joined) }
        if isWhole {
            try self.connection.execute(
                "UPDATE sighting SET certificate = ? WHERE name = ? AND digest = ?",
                [.blob(certificate), .text(known.name), .text(known.identity)])
        }
        return joined.state
    }

    /// The maximum number of keys of issuers that are kept of a sighting: those of several chains.
    private static var maximumIssuers: Int { 32 }

    private func update(_ sighting: StoredSighting) throws {
        let columns = StoredSighting.columns.dropFirst(2).dropLast().map { "\($0) = ?" }.joined(separator: ", ")
        try self.connection.execute(
            "UPDATE sighting SET \(columns) WHERE name = ? AND digest = ?",
            Array(sighting.values.dropFirst(2)) + [.text(sighting.name), .text(sighting.identity)])
    }

    /// The certificates that apps refuse, for names that an entry enforces, which still are valid; acknowledged ones
    /// are left out, unless they may have become more urgent. First those whose key a probe saw served, then those that no
    /// person has seen, then those that one has seen. Of each the newest first; where they are too many, the newest of each
    /// token, then the second ones: what a leaked token told hides nothing that another one told.
    package func unexpectedSightings(of name: String, at now: Timestamp, limit: Int) throws -> [StoredSighting] {
        let orders = [
            "served_at IS NOT NULL", "served_at IS NULL AND acknowledged_as IS NULL",
            "served_at IS NULL AND acknowledged_as IS NOT NULL",
        ]
        return try orders.reduce(into: []) { found, order in
            let room = limit - found.count
            guard room > 0 else { return }
            let condition = """
                name = ? AND state = ? AND is_enforced = 1 AND not_after >= ? AND \(order)
                    AND (acknowledged_as IS NULL OR acknowledged_as <> ?)
                """
            let values: [SQLValue] = [
                .text(name), .text(SightingState.unknown.rawValue), .integer(now.secondsSince1970),
                .text(Alarm.Severity.critical.rawValue),
            ]
            let newest = "first_at DESC, digest"
            let all = try self.sightings("\(condition) ORDER BY \(newest)", values, limit: room + 1)
            guard all.count > room else { return found += all }
            // A walk through all of them, where they are too many.
            found += try self.connection.rows(
                """
                SELECT digest FROM sighting WHERE \(condition)
                ORDER BY ROW_NUMBER() OVER (PARTITION BY told_by ORDER BY \(newest)), \(newest) LIMIT ?
                """, values + [.integer(Int64(room))]
            ).compactMap { try self.sighting(of: name, identity: $0.text(0)) }
        }
    }

    /// Whether some were evaluated by another edition of a list.
    package func hasSightingsToEvaluate(of name: String, by list: String) throws -> Bool {
        // Two ranges of an index; "is not" would be a walk through all of it.
        try ["<", ">"].contains { sign in
            try !self.connection.rows(
                "SELECT 1 FROM sighting WHERE name = ? AND judged \(sign) ? LIMIT 1", [.text(name), .text(list)]
            ).isEmpty
        }
    }

    // MARK: What changes them

    /// Evaluates those anew that were evaluated by another edition of a list.
    ///
    /// - Returns: Their number, `limit` at most.
    package func evaluateSightings(
        of name: String, by rules: SightingRules, of list: String, at now: Timestamp, limit: Int
    ) throws -> Int {
        var count = 0
        for sign in ["<", ">"] where count < limit {
            let stale = try self.sightings(
                "name = ? AND judged \(sign) ? ORDER BY judged", [.text(name), .text(list)], limit: limit - count)
            for var sighting in stale {
                sighting.evaluate(by: rules, of: list, at: now)
                try self.update(sighting)
            }
            count += stale.count
        }
        return count
    }

    /// Notes which keys probes saw served.
    package func noteServed(_ keys: [String: Set<String>], at now: Timestamp) throws {
        for (name, keys) in keys.sorted(by: { $0.key < $1.key }) {
            for key in keys.sorted() {
                try self.connection.execute(
                    "UPDATE sighting SET served_at = ? WHERE name = ? AND key = ? AND served_at IS NULL",
                    [.integer(now.secondsSince1970), .text(name), .text(key)])
            }
        }
    }

    /// The time at which the last probe of one of its hosts saw its key served; `nil` when none did.
    private func probeTime(of sighting: StoredSighting) throws -> Timestamp? {
        let hosts = Set([sighting.host] + sighting.names.prefix(Self.maximumProbed))
        for host in hosts.sorted() {
            let rows = try self.connection.rows(
                "SELECT at, result FROM probe WHERE name = ? AND host = ?", [.text(sighting.name), .text(host)])
            guard let row = rows.first, try ProbeFacts(row.blob(1)).leaves.contains(sighting.key) else { continue }
            return Timestamp(secondsSince1970: try row.integer(0))
        }
        return nil
    }

    /// The maximum number of names of a certificate whose probes are looked at, as many as are read of it.
    private static var maximumProbed: Int { 32 }

    /// Stores the acknowledgement of the alarm of a sighting.
    package func acknowledgeSighting(
        of name: String, identity: String, _ acknowledgement: StoredSighting.Acknowledgement
    ) throws {
        try self.connection.execute(
            """
            UPDATE sighting SET acknowledged_at = ?, acknowledged_by = ?, acknowledged_as = ?
            WHERE name = ? AND digest = ?
            """,
            [
                .integer(acknowledgement.at.secondsSince1970), .text(acknowledgement.by),
                .text(acknowledgement.severity), .text(name), .text(identity),
            ])
    }

    /// Whether an attested report named a key as the leaf's.
    package func hasAttestedReport(of key: String) throws -> Bool {
        try !self.connection.rows(
            """
            SELECT 1 FROM group_leaf JOIN report_group ON report_group.number = group_leaf.group_number
            WHERE group_leaf.pin = ? AND report_group.attestation = ? LIMIT 1
            """, [.text(key), .text(AttestationState.attested.rawValue)]
        ).isEmpty
    }

    /// Forgets those that ended, and those that were told long ago.
    ///
    /// - Parameter limit: The maximum number of each kind.
    /// - Returns: The number that were deleted.
    package func removeSightings(endedBefore end: Timestamp, toldBefore first: Timestamp, limit: Int) throws -> Int {
        let (end, first) = (end.secondsSince1970, first.secondsSince1970)
        return try self.connection.removeFirst(limit, of: "sighting", by: "not_after", before: end)
            + self.connection.removeFirst(limit, of: "sighting", by: "first_at", before: first)
            + self.connection.removeFirst(limit, of: "sighting_issuer", by: "last_at", before: first)
    }
}

extension ProbeFacts {
    /// The pins of the servers' own certificates, at all addresses.
    package var leaves: Set<String> { Set(self.addressLeaves).union(self.path.first.map { [$0.pin] } ?? []) }
}

extension StoreTransaction {
    /// The sightings of a list.
    package func sightingOverview(of name: String, at now: Timestamp) throws -> SightingOverview {
        let maximum = SightingOverview.maximum
        let found = try self.unexpectedSightings(of: name, at: now, limit: maximum + 1)
        return SightingOverview(
            name: name, counts: try self.sightingCounts(of: name),
            unexpected: try found.prefix(maximum).map { sighting in
                SightingOverview.Unexpected(
                    sighting: sighting, networks: try self.reportingNetworks(of: sighting.key),
                    isAttested: try self.hasAttestedReport(of: sighting.key))
            }, hasMore: found.count > maximum)
    }
}
