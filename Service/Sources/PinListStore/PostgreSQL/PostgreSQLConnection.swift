// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPQ

/// A connection to PostgreSQL, used by one thread. Calls block.
final class PostgreSQLConnection: SQLConnection {
    private struct Key: Hashable {
        let sql: String
        let signature: String
    }

    private let channel: PostgreSQLChannel
    private let limits: PostgreSQLLimits
    private var prepared: [Key: String] = [:]
    private var isStale = false

    /// Connects and sets up the session.
    ///
    /// - Throws: ``StoreError``.
    init(_ address: PostgreSQLAddress, _ limits: PostgreSQLLimits) throws {
        self.limits = limits
        self.channel = try PostgreSQLChannel(address, limits)
        try self.query(Self.set("statement_timeout", limits.statementMilliseconds))
        try self.query(Self.set("lock_timeout", limits.lockMilliseconds))
        try self.query(Self.set("idle_in_transaction_session_timeout", limits.idleInTransactionMilliseconds))
        try self.query("SET client_min_messages = error")
        try self.checkDurability()
        try self.checkTexts()
    }

    /// Whether it can go on: not lost, not within a transaction, and what it prepared still fits the tables.
    var isReady: Bool { !self.isLost && !self.isStale && self.channel.isIdle }

    /// Whether the server is gone.
    var isLost: Bool { self.channel.isLost }

    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] { try self.run(sql, values).rows() }

    func execute(_ sql: String, _ values: [SQLValue]) throws -> Int { try self.run(sql, values).changedCount }

    /// In groups of rows whose statements stay prepared, or where there are many and no key to conflict with, with `COPY`.
    func insert(_ rows: [[SQLValue]], _ insertion: SQLInsertion) throws {
        if insertion.conflict.isEmpty, rows.count >= PostgreSQLLimits.copiedRows {
            let copied = PostgreSQLRows(rows)
            let columns = insertion.columns.joined(separator: ", ")
            let sql = "COPY \(insertion.table) (\(columns)) FROM STDIN (FORMAT binary)"
            try self.checked(try self.channel.copy(sql, copied.bytes))
            return
        }
        // A null has no type, and each pattern of nulls would be another statement.
        let isWhole = !rows.contains { $0.contains(.null) }
        var rest = rows[...]
        while !rest.isEmpty {
            let next = isWhole ? insertion.statement(for: rest.count) : insertion.single
            _ = try self.run(next.sql, rest.prefix(next.rows).flatMap { $0 })
            rest = rest.dropFirst(next.rows)
        }
    }

    func lock(_ lock: StoreLock) throws {
        _ = try self.execute("SELECT pg_advisory_xact_lock(?)", [.integer(lock.number)])
    }

    var rowLocks: SQLRowLocks {
        SQLRowLocks(shared: " FOR KEY SHARE OF report_group", free: " FOR UPDATE SKIP LOCKED")
    }

    var hasReportDays: Bool { true }

    /// The sequences behind the identities do not know of numbers that were given.
    func continueNumbers() throws {
        for table in StoreMove.tables.map(\.name) where StoreMove.numbered.contains(table) {
            _ = try self.rows(
                """
                SELECT setval(pg_get_serial_sequence('\(table)', 'number'),
                    GREATEST((SELECT COALESCE(MAX(number), 1) FROM \(table)), 1))
                """, [])
        }
    }

    /// Sends statements without values, and gives the answer to the last.
    @discardableResult
    func query(_ sql: String) throws -> PostgreSQLResult {
        try self.checked(try self.channel.answer { PQsendQuery($0, sql) })
    }

    private func run(_ sql: String, _ values: [SQLValue]) throws -> PostgreSQLResult {
        let parameters = PostgreSQLParameters(values)
        // Without values it is seldom or only once: a table is made.
        let name = values.isEmpty ? nil : try self.prepare(Key(sql: sql, signature: parameters.signature), parameters)
        let count = Int32(clamping: values.count)
        return try parameters.withPointers { values, lengths, formats in
            try self.checked(
                try self.channel.answer { connection in
                    if let name { return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) }
                    return PQsendQueryParams(connection, sql, 0, nil, nil, nil, nil, 1)
                })
        }
    }

    /// The name under which a statement is prepared for the types of its values.
    private func prepare(_ key: Key, _ parameters: PostgreSQLParameters) throws -> String {
        if let name = self.prepared[key] { return name }
        if self.prepared.count >= self.limits.preparedStatements {
            try self.query("DEALLOCATE ALL")
            self.prepared = [:]
        }
        let name = "s\(self.prepared.count)"
        let sql = PostgreSQLStatement(key.sql).sql
        try self.checked(
            try self.channel.answer {
                PQsendPrepare($0, name, sql, Int32(clamping: parameters.types.count), parameters.types)
            })
        self.prepared[key] = name
        return name
    }

    @discardableResult
    private func checked(_ result: PostgreSQLResult) throws -> PostgreSQLResult {
        guard let failure = result.failure else { return result }
        // A table changed under a prepared statement, or another session deallocated it: another connection prepares it
        // anew.
        if ["0A000", "26000"].contains(result.sqlState) { self.isStale = true }
        throw failure
    }
}

extension PostgreSQLConnection {
    private static func set(_ name: String, _ milliseconds: Int) -> String { "SET \(name) = \(milliseconds)" }

    /// A commit is on the server's disk before the answer is sent: 202 and 200 mean it, also where the server, the
    /// database or the role is set otherwise.
    private func checkDurability() throws {
        let sql = """
            SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)
            """
        guard let setting = try self.query(sql).firstText, ["on", "remote_apply"].contains(setting) else {
            throw StoreError(.unsupported, "the server does not commit synchronously")
        }
    }

    /// Texts are UTF-8 and in the order of their bytes, as SQLite has them: the same answers on both, and no index that
    /// another version of the system's locales reads differently.
    private func checkTexts() throws {
        let isUTF8 = try self.query("SELECT getdatabaseencoding()").firstText == "UTF8"
        let order = "SELECT 'B' < 'a' AND 'a-b' < 'aa' AND 'z' < U&'\\00E9'"
        guard isUTF8, try self.query(order).firstText == "t" else {
            throw StoreError(
                .unsupported,
                "the database has another encoding or collation: make it with"
                    + " TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
        }
    }
}

extension StoreLock {
    /// The number of the advisory lock that stands for it.
    var number: Int64 { PostgreSQLLimits.firstLock + self.rawValue }
}
