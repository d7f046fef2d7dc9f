// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A store in a PostgreSQL database, for as many instances of the service as are wanted.
package final class PostgreSQLStore: ServiceStore {
    private let readers: PostgreSQLThreads
    private let writer: PostgreSQLThreads
    private let appender: PostgreSQLThreads
    private let isReadOnly: Bool

    /// Opens a store. Blocks meanwhile.
    ///
    /// - Parameters:
    ///   - address: `postgres://USER@HOST:PORT/DATABASE?…`, without a password.
    ///   - clock: For the pauses between attempts to connect.
    ///   - purpose: Whether tables are made and brought up to date, or must be there and of today.
    /// - Throws: ``StoreError``.
    package convenience init(
        address: String, clock: any ServiceClock, for purpose: StoreLocation.Purpose = .serving
    ) throws {
        try self.init(address: PostgreSQLAddress(address), clock: clock, limits: PostgreSQLLimits(), for: purpose)
    }

    /// Opens a store within other limits.
    ///
    /// - Throws: ``StoreError``.
    init(
        address: PostgreSQLAddress, clock: any ServiceClock, limits: PostgreSQLLimits,
        for purpose: StoreLocation.Purpose = .serving
    ) throws {
        let reconnection = PostgreSQLReconnection(address, limits, clock)
        let session = PostgreSQLSession { try reconnection.connect() }
        if purpose == .serving {
            try Self.migrate(session) { try PostgreSQLConnection(address, limits.migrating) }
        } else {
            try session.read { try StoreSchema.expect(purpose, of: $0.connection, StoreSchema.postgreSQL) }
        }
        self.isReadOnly = purpose.isReadOnly
        self.readers = PostgreSQLThreads(count: limits.readers, limit: limits.waitingCalls, reconnection)
        self.writer = PostgreSQLThreads(count: 1, limit: limits.waitingCalls, reconnection)
        self.appender = PostgreSQLThreads(count: 1, limit: limits.waitingCalls, reconnection)
    }

    deinit {
        self.readers.close()
        self.writer.close()
        self.appender.close()
    }

    /// Reads from a snapshot.
    package func read<Result: Sendable>(
        for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        try await self.readers.run(for: reader) { try $0.read(body) }
    }

    /// Changes in one transaction. When the connection is lost while it is committed, the error's code is
    /// ``StoreError/Code/unknownOutcome``. What takes no lock has a connection of its own.
    package func write<Result: Sendable>(
        as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        guard !self.isReadOnly else { throw StoreError.openedForReading }
        return try await (lock == nil ? self.appender : self.writer).run { try $0.write(as: lock, body) }
    }

    /// Adds rows in the thread that has the connection for it, and tells the result there.
    package func append<Value: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let isReadOnly = self.isReadOnly
        self.appender.run(
            { session in
                guard !isReadOnly else { throw StoreError.openedForReading }
                return try session.write(as: nil, body)
            }, completion: completion)
    }

    /// About how many bytes the rows take. An estimate, from PostgreSQL's own count of rows and the size of some of each
    /// table: files do not shrink when rows are deleted, and what is free in them is not told without an extension.
    package func size() async throws -> Int64 { try await self.sizes().values.reduce(0, +) }

    /// The size of each table; those of the days of reports, which are dropped as a whole, by their files.
    package func sizes() async throws -> [String: Int64] {
        try await self.read { store in
            let days = """
                SELECT CAST(COALESCE(SUM(pg_total_relation_size(quote_ident(part)::regclass)), 0) AS BIGINT)
                FROM report_day_parts()
                """
            var sizes = ["report": try store.connection.rows(days, []).first?.integer(0) ?? 0]
            let tables = """
                SELECT quote_ident(relname), n_live_tup FROM pg_stat_user_tables
                WHERE schemaname = current_schema() AND n_live_tup > 0 AND has_table_privilege(relid, 'SELECT')
                    AND relid NOT IN (SELECT inhrelid FROM pg_inherits)
                """
            for table in try store.connection.rows(tables, []) {
                let sample = """
                    SELECT CAST(COALESCE(AVG(pg_column_size(sample.*)), 0) AS BIGINT)
                    FROM (SELECT * FROM \(try table.text(0)) LIMIT \(PostgreSQLLimits.measuredRows)) AS sample
                    """
                let width = try store.connection.rows(sample, []).first?.integer(0) ?? 0
                sizes[try table.text(0)] = try table.integer(1) * (width + PostgreSQLLimits.rowOverhead)
            }
            return sizes
        }
    }

    /// Refuses a backup: PostgreSQL has a tool for it.
    ///
    /// - Throws: ``StoreError`` of code `unsupported`, always.
    package func backUp(to path: String) async throws {
        throw StoreError(
            .unsupported, "a PostgreSQL database is backed up by pg_dump --format=custom --file=FILE DATABASE")
    }

    /// Two instances that start at once do it one after the other. Where nothing is to be done, nothing is locked, and
    /// no right to make tables is needed: the service need not own them.
    private static func migrate(
        _ session: PostgreSQLSession, connectForLong: @escaping () throws -> PostgreSQLConnection
    ) throws {
        let known = Int64(StoreSchema.migrations(StoreSchema.postgreSQL).count)
        let made = try session.read { try StoreSchema.version(of: $0.connection, StoreSchema.postgreSQL) }
        guard made != known else { return }
        try PostgreSQLSession(connect: connectForLong).write(as: .changes) { store in
            _ = try StoreSchema.migrate(store.connection, StoreSchema.postgreSQL)
        }
    }
}
