// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The tables, as each version of the service made them. A migration that was released is never changed.
struct StoreSchema {
    /// The dialect of a database, where SQL is not the same everywhere.
    struct Dialect {
        /// A column of 64-bit numbers.
        let integer: String
        /// A column of bytes.
        let bytes: String
        /// The column of a number that the database gives, never the same one twice.
        let identity: String
        /// Finds a row when there is a table of the migrations.
        let migrationTable: String
        /// The end of a table whose rows stand in the order of its primary key; empty where that is no choice.
        var ordered = ""
        /// The triggers that keep the audit log from being changed.
        let appendOnlyAudit: [String]
        /// The triggers that let sealed entries go, since the third migration, and keep the seals from being changed.
        let removableAudit: [String]
        /// The statements that give each day's reports a table of their own; nothing where that is no gain.
        var reportDays: [String] = []
        /// The statements that keep those who may not change reports from making and dropping their days: the fifth
        /// migration.
        var guardedReportDays: [String] = []
    }

    /// SQLite's.
    static let sqlite = Dialect(
        integer: "INTEGER", bytes: "BLOB", identity: "INTEGER PRIMARY KEY AUTOINCREMENT",
        migrationTable: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migration'",
        ordered: " WITHOUT ROWID",
        appendOnlyAudit: ["UPDATE", "DELETE"].map { change in
            """
            CREATE TRIGGER audit_\(change.lowercased()) BEFORE \(change) ON audit
                BEGIN SELECT RAISE(ABORT, 'the audit log is only appended to'); END
            """
        },
        removableAudit: [
            "DROP TRIGGER audit_delete",
            """
            CREATE TRIGGER audit_delete BEFORE DELETE ON audit WHEN NOT (\(Self.isSealed))
                BEGIN SELECT RAISE(ABORT, 'the audit log is only appended to'); END
            """,
        ]
            + ["UPDATE", "DELETE"].map { change in
                """
                CREATE TRIGGER audit_seal_\(change.lowercased()) BEFORE \(change) ON audit_seal
                    BEGIN SELECT RAISE(ABORT, 'the audit log is only appended to'); END
                """
            })

    /// The migrations that this version knows, in their order; the first is number 1.
    static func migrations(_ dialect: Dialect) -> [[String]] {
        [
            Self.first(dialect), Self.second(dialect), Self.third(dialect), Self.fourth(dialect),
            dialect.guardedReportDays, Self.sightedNetworks(dialect), Self.alarmCounts(dialect),
        ]
    }

    /// Certificate Transparency, and reports that installations sign by App Attest.
    private static func fourth(_ dialect: Dialect) -> [String] {
        Self.logs(dialect) + Self.sightings(dialect) + Self.attestation(dialect)
    }

    /// The third migration, topic by topic: protection against strangers.
    private static func third(_ dialect: Dialect) -> [String] {
        Self.reports(dialect) + Self.tokens(dialect) + Self.alarms(dialect) + Self.audit(dialect) + Self.lists(dialect)
            + Self.reportRates(dialect) + Self.retention(dialect)
    }

    /// Plans of rotations.
    private static func second(_ dialect: Dialect) -> [String] {
        [
            """
            CREATE TABLE rotation (
                name TEXT NOT NULL, host TEXT NOT NULL, stored_at \(dialect.integer) NOT NULL,
                plan \(dialect.bytes) NOT NULL, PRIMARY KEY (name, host))
            """
        ]
    }

    private static func first(_ dialect: Dialect) -> [String] {
        let (integer, bytes, identity, ordered) = (dialect.integer, dialect.bytes, dialect.identity, dialect.ordered)
        return [
            """
            CREATE TABLE root (
                name TEXT NOT NULL, version \(integer) NOT NULL, envelope \(bytes) NOT NULL, PRIMARY KEY (name, version))
            """,
            """
            CREATE TABLE list (
                number \(identity), name TEXT NOT NULL, version \(integer) NOT NULL, digest TEXT NOT NULL,
                envelope \(bytes) NOT NULL, published_at \(integer) NOT NULL)
            """,
            "CREATE INDEX list_by_name ON list (name, number)",
            """
            CREATE TABLE token (
                number \(identity), id TEXT NOT NULL UNIQUE, scope TEXT NOT NULL, names TEXT NOT NULL,
                hash \(bytes) NOT NULL, made_at \(integer) NOT NULL, revoked_at \(integer))
            """,
            """
            CREATE TABLE audit (
                number \(integer) PRIMARY KEY, time \(integer) NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
                detail TEXT NOT NULL, previous TEXT NOT NULL)
            """,
            "CREATE INDEX audit_by_action ON audit (action, time)",
            """
            CREATE TABLE report_group (
                number \(identity), id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, reason TEXT NOT NULL,
                host TEXT NOT NULL, app TEXT NOT NULL, app_version TEXT NOT NULL, list_name TEXT NOT NULL,
                list_version \(integer), issuer TEXT NOT NULL, issuer_pin TEXT, is_public \(integer),
                is_validated \(integer) NOT NULL, first_at \(integer) NOT NULL, last_at \(integer) NOT NULL,
                count \(integer) NOT NULL)
            """,
            "CREATE INDEX report_group_by_time ON report_group (last_at)",
            "CREATE INDEX report_group_by_host ON report_group (host, last_at)",
            "CREATE INDEX report_group_by_issuer ON report_group (issuer, host)",
            """
            CREATE TABLE report (
                number \(identity), group_number \(integer) NOT NULL, received_at \(integer) NOT NULL,
                claimed_at \(integer), host TEXT NOT NULL, port \(integer), platform TEXT NOT NULL, leaf_pin TEXT,
                signals TEXT NOT NULL, sampled \(integer) NOT NULL)
            """,
            "CREATE INDEX report_by_time ON report (received_at)",
            "CREATE INDEX report_by_group ON report (group_number, number)",
            """
            CREATE TABLE report_body (
                report \(integer) PRIMARY KEY, group_number \(integer) NOT NULL, body \(bytes) NOT NULL)
            """,
            "CREATE INDEX report_body_by_group ON report_body (group_number)",
            """
            CREATE TABLE group_leaf (
                group_number \(integer) NOT NULL, pin TEXT NOT NULL, not_before \(integer), not_after \(integer),
                PRIMARY KEY (group_number, pin))\(ordered)
            """,
            """
            CREATE TABLE evidence (
                digest TEXT PRIMARY KEY, name TEXT NOT NULL, at \(integer) NOT NULL, envelope \(bytes) NOT NULL)
            """,
            """
            CREATE TABLE report_hour (
                hour \(integer) NOT NULL, host TEXT NOT NULL, kind TEXT NOT NULL, count \(integer) NOT NULL,
                PRIMARY KEY (hour, host, kind))\(ordered)
            """,
            "CREATE INDEX report_hour_by_host ON report_hour (host, hour)",
            """
            CREATE TABLE group_hour (
                group_number \(integer) NOT NULL, hour \(integer) NOT NULL, count \(integer) NOT NULL,
                PRIMARY KEY (group_number, hour))\(ordered)
            """,
            """
            CREATE TABLE group_network (
                group_number \(integer) NOT NULL, day \(integer) NOT NULL, instance TEXT NOT NULL,
                networks \(integer) NOT NULL, is_more \(integer) NOT NULL,
                PRIMARY KEY (group_number, day, instance))\(ordered)
            """,
            """
            CREATE TABLE inquiry (
                name TEXT NOT NULL, hour \(integer) NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL,
                count \(integer) NOT NULL, PRIMARY KEY (name, hour, source, digest))\(ordered)
            """,
            """
            CREATE TABLE probe (
                name TEXT NOT NULL, host TEXT NOT NULL, at \(integer) NOT NULL, ok \(integer) NOT NULL,
                result \(bytes) NOT NULL, PRIMARY KEY (name, host))
            """,
            """
            CREATE TABLE alarm (
                key TEXT PRIMARY KEY, kind TEXT NOT NULL, severity TEXT NOT NULL, detail TEXT NOT NULL,
                since \(integer) NOT NULL, ended_at \(integer))
            """,
            """
            CREATE TABLE notification (
                number \(identity), target TEXT NOT NULL, body \(bytes) NOT NULL, made_at \(integer) NOT NULL,
                attempts \(integer) NOT NULL, next_at \(integer) NOT NULL)
            """,
            "CREATE INDEX notification_by_time ON notification (next_at)",
            """
            CREATE TABLE delivery (
                target TEXT PRIMARY KEY, at \(integer) NOT NULL, trouble TEXT)
            """,
            """
            CREATE TABLE turn (
                what TEXT PRIMARY KEY, instance TEXT NOT NULL, until \(integer) NOT NULL)
            """,
        ] + dialect.appendOnlyAudit
    }

    /// The number of the newest migration that a database had; `nil` for one without tables of the service.
    static func version(of connection: some SQLConnection, _ dialect: Dialect) throws -> Int64? {
        guard try !connection.rows(dialect.migrationTable, []).isEmpty else { return nil }
        return try connection.rows("SELECT MAX(number) FROM migration", []).first?.optionalInteger(0)
    }

    /// Expects that a database has the tables of this version, or for a copy those of any one, and changes nothing.
    ///
    /// - Throws: ``StoreError`` of code `absent` for one that no version made, `outdated` for one of an earlier version, and
    ///   `unsupported` for one of a later version.
    static func expect(
        _ purpose: StoreLocation.Purpose, of connection: some SQLConnection, _ dialect: Dialect
    ) throws {
        guard let made = try Self.version(of: connection, dialect) else {
            throw StoreError(.absent, "the database has no tables of the service")
        }
        guard purpose != .copying else { return }
        let known = Int64(Self.migrations(dialect).count)
        guard made <= known else { throw Self.isLater(made, known) }
        guard made == known else {
            throw StoreError(
                .outdated,
                "the database is from an older version (schema \(made), and this version has \(known)); nothing was changed"
            )
        }
    }

    private static func isLater(_ made: Int64, _ known: Int64) -> StoreError {
        StoreError(
            .unsupported,
            "the database has schema \(made), and this version knows \(known): it was written by a later one")
    }

    /// Brings a database up to date, within a transaction.
    ///
    /// - Parameters:
    ///   - connection: The transaction.
    ///   - dialect: The dialect of the database.
    ///   - further: Migrations after those that this version knows: what tests pretend of the next one.
    /// - Returns: The number of migrations that were made.
    /// - Throws: ``StoreError`` of code `unsupported` for a database that a later version made.
    @discardableResult
    static func migrate(
        _ connection: some SQLConnection, _ dialect: Dialect, and further: [[String]] = []
    ) throws -> Int {
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS migration (number \(dialect.integer) PRIMARY KEY)", [])
        let made = try connection.rows("SELECT COALESCE(MAX(number), 0) FROM migration", []).first?.integer(0) ?? 0
        let known = Self.migrations(dialect) + further
        guard made <= known.count else { throw Self.isLater(made, Int64(known.count)) }
        for (index, statements) in known.enumerated().dropFirst(Int(made)) {
            for statement in statements { try connection.execute(statement, []) }
            try connection.execute("INSERT INTO migration (number) VALUES (?)", [.integer(Int64(index + 1))])
        }
        return known.count - Int(made)
    }
}
