// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinReportAnalysis

/// Copies everything from one store into another one that is empty: from SQLite to PostgreSQL, or back. Whose turn it is
/// among instances is no longer so when they stand still, and stays behind.
package struct StoreMove: Sendable {
    /// The maximum number of rows that one transaction copies.
    package static let page = 2_000
    /// The maximum number of bytes of lists, bodies and other long values that one transaction copies, so that a page fits
    /// into memory several times; one row may have more.
    package static let pageBytes: Int64 = 8_388_608
    /// The columns, of any table, whose values may be long: bytes and texts.
    private static let long: Set<String> = [
        "envelope", "changes", "body", "result", "plan", "file", "certificate", "receipt", "names", "issuers", "detail",
        "signals",
    ]

    /// The tables with their columns; the first ones, or the one number, are the key that pages follow.
    static let tables: [(name: String, columns: [String], key: [String])] =
        [
            ("root", ["name", "version", "envelope"], ["name", "version"]),
            ("list", ["number", "name", "version", "digest", "envelope", "published_at"], ["number"]),
            (
                "publication",
                ["number", "name", "version", "digest", "published_at", "issued_at", "expires_at", "changes"],
                ["number"]
            ),
            (
                "token",
                ["number", "id", "scope", "names", "hash", "made_at", "revoked_at", "label", "owner", "ends_at"],
                ["number"]
            ),
            ("login_code", ["hash", "owner", "ends_at"], ["hash"]),
            ("audit", ["number", "time", "actor", "action", "detail", "previous"], ["number"]),
            ("audit_seal", ["period", "first_number", "last_number", "head", "previous", "entry"], ["period"]),
            (
                "report_group",
                [
                    "number", "id", "kind", "reason", "host", "app", "app_version", "list_name", "list_version",
                    "issuer",
                    "issuer_pin", "is_public", "is_validated", "is_listed", "attestation",
                ], ["number"]
            ),
            (
                "group_count", ["group_number", "instance", "count", "bodies", "bodies_at", "first_at", "last_at"],
                ["group_number", "instance"]
            ),
            (
                "report",
                [
                    "number", "group_number", "received_at", "claimed_at", "host", "port", "platform", "leaf_pin",
                    "signals", "sampled", "body", "attestation", "attestation_step",
                ], ["number"]
            ),
            (
                "group_leaf", ["group_number", "pin", "not_before", "not_after", "instance"],
                ["group_number", "pin", "instance"]
            ),
            ("evidence", ["digest", "name", "at", "envelope"], ["digest"]),
            ("report_hour", ["hour", "host", "kind", "count", "instance"], ["hour", "host", "kind", "instance"]),
            ("group_hour", ["group_number", "hour", "count", "instance"], ["group_number", "hour", "instance"]),
            ("counted_host", ["day", "name", "host", "instance"], ["day", "name", "host", "instance"]),
            (
                "group_network", ["group_number", "day", "instance", "networks", "is_more"],
                ["group_number", "day", "instance"]
            ),
            (
                "inquiry", ["name", "hour", "source", "digest", "count", "instance"],
                ["name", "hour", "source", "digest", "instance"]
            ),
            ("probe", ["name", "host", "at", "ok", "result", "missed_at", "missed"], ["name", "host"]),
            (
                "alarm",
                [
                    "key", "kind", "severity", "detail", "since", "ended_at", "message", "told", "acknowledged_at",
                    "acknowledged_by", "count", "told_count",
                ], ["key"]
            ),
            ("alarm_message", ["number", "key", "kind", "severity", "begun_at", "next_at"], ["number"]),
            ("alarm_silence", ["what", "severity", "ends_at", "made_at", "made_by", "reason"], ["what"]),
            ("alert_target", ["name", "instance", "seen_at"], ["name", "instance"]),
            ("notification", ["number", "target", "body", "made_at", "attempts", "next_at"], ["number"]),
            ("delivery", ["target", "at", "trouble", "lost"], ["target"]),
            ("report_rate", ["host", "name", "since", "per_million"], ["host", "name", "since"]),
            ("rotation", ["name", "host", "stored_at", "plan"], ["name", "host"]),
            ("log_file", ["number", "name", "digest", "stored_at", "file"], ["number"]),
            ("sighting", StoredSighting.columns, ["name", "digest"]),
            ("sighting_issuer", ["name", "key", "last_at", "certificate"], ["name", "key"]),
            ("sighted_network", ["key", "day", "instance", "networks"], ["key", "day", "instance"]),
            ("unlisted_sighting", ["name", "count", "last_at"], ["name"]),
        ] + Self.attestationTables

    /// The tables whose row numbers the database assigns.
    static let numbered: Set<String> = [
        "list", "token", "report_group", "report", "notification", "alarm_message", "log_file",
    ]

    private let source: any ServiceStore
    private let target: any ServiceStore

    /// A move that begins with ``run(progress:)``. No service may run on either store.
    package init(from source: any ServiceStore, to target: any ServiceStore) {
        self.source = source
        self.target = target
    }

    /// Copies.
    ///
    /// - Parameter progress: The closure that gets the name of each table, and the number of its rows.
    /// - Throws: ``StoreError``: of code `unsupported` when the target is not empty.
    package func run(progress: @Sendable (String, Int64) -> Void) async throws {
        let full = try await self.target.read { store in
            try Self.tables.first { try !store.connection.rows("SELECT 1 FROM \($0.name) LIMIT 1", []).isEmpty }?.name
        }
        if let full {
            throw StoreError(.unsupported, "the target is not empty: its table \(full) has rows of its own")
        }
        for table in Self.tables { progress(table.name, try await self.copy(table)) }
        try await self.target.write { try $0.connection.continueNumbers() }
    }

    private func copy(_ table: (name: String, columns: [String], key: [String])) async throws -> Int64 {
        let columns = table.columns.joined(separator: ", ")
        let key = table.key.joined(separator: ", ")
        let places = table.key.compactMap { table.columns.firstIndex(of: $0) }
        var last: [SQLValue]?
        var count: Int64 = 0
        while true {
            // A row value is compared member by member, by SQLite and by PostgreSQL.
            let keyMarks = table.key.map { _ in "?" }.joined(separator: ", ")
            let condition = last == nil ? "" : "WHERE (\(key)) > (\(keyMarks))"
            let page = "FROM \(table.name) \(condition) ORDER BY \(key) LIMIT ?"
            let values = last ?? []
            let rows = try await self.source.read { store in
                let limit = try Self.rowsOfPage(store, table.columns, page, values)
                return try store.connection.rows("SELECT \(columns) \(page)", values + [.integer(limit)])
            }
            guard let end = rows.last else { return count }
            let insertion = SQLInsertion(into: table.name, table.columns)
            let time = table.name == "report" ? table.columns.firstIndex(of: "received_at") : nil
            try await self.target.write { store in
                if let time { try store.makeReportDays(Set(rows.map { try $0.integer(time) / 86_400 })) }
                try store.connection.insert(rows.map(\.values), insertion)
            }
            last = places.map { end.values[$0] }
            count += Int64(rows.count)
        }
    }

    /// The number of rows that the next page has, measured before their values are read.
    private static func rowsOfPage(
        _ store: StoreTransaction, _ columns: [String], _ page: String, _ values: [SQLValue]
    ) throws -> Int64 {
        let long = columns.filter { Self.long.contains($0) }
        guard !long.isEmpty else { return Int64(Self.page) }
        let length = long.map { "COALESCE(LENGTH(\($0)), 0)" }.joined(separator: " + ")
        var (bytes, count) = (Int64(0), Int64(0))
        for row in try store.connection.rows("SELECT \(length) \(page)", values + [.integer(Int64(Self.page))]) {
            bytes += try row.integer(0)
            guard bytes <= Self.pageBytes || count == 0 else { break }
            count += 1
        }
        return max(count, 1)
    }
}
