// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One thread's connection, made again when it is gone, and the transactions on it.
final class PostgreSQLSession {
    private let connect: () throws -> PostgreSQLConnection
    private var connection: PostgreSQLConnection?

    /// A session that connects when it is first needed.
    init(connect: @escaping () throws -> PostgreSQLConnection) { self.connect = connect }

    /// Everything within is read from one moment.
    func read<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
        let connection = try self.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        defer { self.end(connection) }
        let result = try body(StoreTransaction(connection: connection))
        // A change within is refused, and not left out.
        try connection.sendAll()
        return result
    }

    /// Changes all or nothing, while it holds a lock of the database, over all instances of the service; or none.
    ///
    /// Each statement has to see what was committed before the lock was had: a transaction of another isolation level
    /// would see the moment in which it began to wait.
    func write<Result>(as lock: StoreLock?, _ body: (StoreTransaction) throws -> Result) throws -> Result {
        if lock == nil, let result = try self.append(body) { return result }
        let taken = lock.map { "; SELECT pg_advisory_xact_lock(\($0.number))" } ?? ""
        let connection = try self.begin(Self.beginWriting + taken)
        let result: Result
        do { result = try body(StoreTransaction(connection: connection)) } catch {
            self.end(connection)
            throw error
        }
        try self.commit(connection)
        return result
    }

    private static let beginWriting = "BEGIN ISOLATION LEVEL READ COMMITTED"

    /// Changes under no lock on the connection that is there, and waits for BEGIN together with the first question.
    ///
    /// - Returns: `nil` where there is no connection, or it was lost before the first question was answered: then nothing was
    ///   changed, and all of it has to be done anew.
    private func append<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result? {
        guard let connection = self.connection else { return nil }
        let result: Result
        do {
            try connection.beginWithFirstQuestion(Self.beginWriting)
            result = try body(StoreTransaction(connection: connection))
            // Never with COMMIT: what is lost then is unknown.
            try connection.sendBegin()
        } catch {
            let isAnother = connection.wasLostAtBegin
            self.end(connection)
            guard isAnother else { throw error }
            return nil
        }
        try self.commit(connection)
        return result
    }

    private func begin(_ sql: String) throws -> PostgreSQLConnection {
        if let connection = self.connection {
            do {
                try connection.query(sql)
                return connection
            } catch {
                self.end(connection)
                // It was lost while it lay idle: nothing was asked of it yet, and a new one may be had.
                guard connection.isLost else { throw error }
            }
        }
        let connection = try self.connect()
        self.connection = connection
        do { try connection.query(sql) } catch {
            self.end(connection)
            throw error
        }
        return connection
    }

    private func commit(_ connection: PostgreSQLConnection) throws {
        let answer: PostgreSQLResult
        do { answer = try connection.commit() } catch {
            self.end(connection)
            guard connection.isLost else { throw error }
            throw StoreError(
                .unknownOutcome,
                "the connection was lost while a change was committed, so it is unknown whether it was made: \(error)")
        }
        guard answer.command == "COMMIT" else {
            throw StoreError(
                .unavailable, "nothing was changed: a statement had failed, and the change went on after it")
        }
    }

    /// Ends what is open, and drops a connection that cannot go on.
    private func end(_ connection: PostgreSQLConnection) {
        if !connection.isLost { try? connection.rollBack() }
        if !connection.isReady { self.connection = nil }
    }
}
