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

    /// A statement with its values, ready to be sent.
    private struct Question {
        let sql: String
        /// The name under which it is prepared, if it is.
        let name: String?
        let parameters: PostgreSQLParameters

        func send(_ connection: OpaquePointer) -> Int32 {
            let count = Int32(clamping: self.parameters.types.count)
            return self.parameters.withPointers { values, lengths, formats in
                guard let name = self.name else {
                    return PQsendQueryParams(connection, self.sql, 0, nil, nil, nil, nil, 1)
                }
                return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1)
            }
        }
    }

    private let channel: PostgreSQLChannel
    private let limits: PostgreSQLLimits
    private var prepared: [Key: String] = [:]
    private var isStale = false
    /// The statements that nothing waits for: they go with the next question, or with the commit.
    private var unsent: [Question] = []
    /// Whether the first question of what was begun with it was answered.
    private var hasBegun = true
    /// The days whose tables were there before the transaction that asked for them.
    private var days: Set<Int64> = []

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

    /// The number of times that it has waited for the server.
    var roundTrips: Int { self.channel.roundTrips }

    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        try self.answer(try self.question(sql, PostgreSQLParameters(values))).rows()
    }

    func execute(_ sql: String, _ values: [SQLValue]) throws -> Int {
        try self.answer(try self.question(sql, PostgreSQLParameters(values))).changedCount
    }

    /// In one statement that goes with the next question; or where there are many and no key to conflict with, with `COPY`,
    /// which takes fewer of the server's cycles a row and cannot go with others.
    ///
    /// A refusal is thrown by what is asked next, at the latest by the commit: nothing of the transaction stays.
    func insert(_ rows: [[SQLValue]], _ insertion: SQLInsertion) throws {
        guard !rows.isEmpty else { return }
        if insertion.conflict.isEmpty, rows.count >= PostgreSQLLimits.copiedRows {
            try self.sendAll()
            let copied = PostgreSQLRows(rows)
            let columns = insertion.columns.joined(separator: ", ")
            let sql = "COPY \(insertion.table) (\(columns)) FROM STDIN (FORMAT binary)"
            try self.checked(try self.channel.copy(sql, copied.bytes))
            return
        }
        let arrays = try PostgreSQLArrays(rows, insertion)
        self.unsent.append(try self.question(arrays.sql, arrays.parameters))
        let bytes = self.unsent.reduce(0) { $0 + $1.parameters.byteCount }
        guard self.isPipelined, bytes < PostgreSQLLimits.unsentBytes else { return try self.sendAll() }
    }

    /// Whether the connection went, or was gone, before the first question of what was begun with it was answered. A server that
    /// is silent is none of these: whoever waits for what is appended has gone by then, and comes again.
    var wasLostAtBegin: Bool { self.isLost && !self.hasBegun && !self.channel.isSilent }

    /// Begins a transaction, with its first question where the server takes several at once: a wait less.
    ///
    /// - Parameter sql: One statement.
    func beginWithFirstQuestion(_ sql: String) throws {
        self.hasBegun = false
        self.unsent = [try self.question(sql, PostgreSQLParameters([]))]
        if !self.isPipelined { try self.sendAll() }
    }

    /// Sends BEGIN, where it waits for a question still.
    func sendBegin() throws { if !self.hasBegun { try self.sendAll() } }

    private var isPipelined: Bool { self.limits.isPipelined && PostgreSQLChannel.hasPipeline }

    /// Sends what nothing has waited for yet, and waits for the answers.
    func sendAll() throws {
        let last = self.unsent.popLast()
        if let last { _ = try self.answer(last) }
    }

    /// Commits, with what was not sent yet in front of it.
    ///
    /// - Returns: The answer, also to a transaction in which something failed: its command is `ROLLBACK` then.
    func commit() throws -> PostgreSQLResult { try self.answer(try self.question("COMMIT", PostgreSQLParameters([]))) }

    /// Takes the transaction back, and what was not sent of it.
    func rollBack() throws {
        (self.unsent, self.hasBegun) = ([], true)
        try self.query("ROLLBACK")
    }

    /// Asks for the table of a day once, and not with each batch of reports.
    func makeReportDay(_ day: Int64) throws {
        guard !self.days.contains(day) else { return }
        let isMade = try self.rows("SELECT report_day_make(?)", [.integer(day)]).first?.integer(0) != 0
        // One that this transaction made is gone when it is taken back.
        if !isMade { self.days.insert(day) }
    }

    func lock(_ lock: StoreLock) throws {
        _ = try self.execute("SELECT pg_advisory_xact_lock(?)", [.integer(lock.number)])
    }

    func lockIfFree(_ lock: StoreLock) throws -> Bool {
        try self.rows("SELECT pg_try_advisory_xact_lock(?)", [.integer(lock.number)]).first?.integer(0) == 1
    }

    var rowLocks: SQLRowLocks {
        SQLRowLocks(
            shared: " FOR KEY SHARE OF report_group", sharedIfFree: " FOR KEY SHARE OF report_group SKIP LOCKED",
            changed: " FOR NO KEY UPDATE SKIP LOCKED", free: " FOR UPDATE SKIP LOCKED")
    }

    var rowPlace: String? { "ctid" }

    var hasReportDays: Bool { true }

    func serverTime() throws -> Int64? {
        try self.rows("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS BIGINT)", []).first?.integer(0)
    }

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

    /// Without values a statement is seldom or only once: a table is made, or a transaction ends. It is not prepared.
    private func question(_ sql: String, _ parameters: PostgreSQLParameters) throws -> Question {
        let name =
            parameters.types.isEmpty
            ? nil : try self.prepare(Key(sql: sql, signature: parameters.signature), parameters)
        return Question(sql: sql, name: name, parameters: parameters)
    }

    /// The answer to a question, in front of which is sent what nothing has waited for yet.
    private func answer(_ question: Question) throws -> PostgreSQLResult {
        let unsent = self.unsent
        self.unsent = []
        let sends: [(OpaquePointer) -> Int32] = (unsent + [question]).map { $0.send }
        // BEGIN takes no time.
        let answers =
            unsent.isEmpty
            ? [try self.channel.answer(question.send)]
            : try self.channel.answers(sends, patience: self.hasBegun ? sends.count : sends.count - 1)
        for answer in answers.dropLast() { try self.checked(answer) }
        guard let last = answers.last else { throw StoreError(.unavailable, "the database gave no answer") }
        let answer = try self.checked(last)
        self.hasBegun = true
        return answer
    }

    /// The name under which a statement is prepared for the types of its values.
    private func prepare(_ key: Key, _ parameters: PostgreSQLParameters) throws -> String {
        if let name = self.prepared[key] { return name }
        // What is refused takes its transaction back.
        try self.sendBegin()
        if self.prepared.count >= self.limits.preparedStatements {
            try self.sendAll()
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
        self.days = []
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
