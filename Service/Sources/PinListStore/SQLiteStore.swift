// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB

/// A store in one SQLite file: nothing to set up.
package final class SQLiteStore: ServiceStore {
    private let pool: DatabasePool
    /// The identity of the file that was opened.
    private let file: Int?
    private let isReadOnly: Bool

    /// The maximum wait of a writer for another one, such as the command line beside the service, in seconds: a command
    /// writes for some milliseconds.
    package static let maximumWait = 5

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - path: The file; `-wal` and `-shm` stand beside it.
    ///   - purpose: Whether it is made and brought up to date, or must be there and of today.
    ///   - wait: The maximum wait for another writer, in seconds.
    /// - Throws: ``StoreError``.
    package init(
        path: String, for purpose: StoreLocation.Purpose = .serving, waiting wait: Int = SQLiteStore.maximumWait
    ) throws {
        self.isReadOnly = purpose.isReadOnly
        do {
            // Looked at first by a connection that cannot write: one that can changes the file when it is opened.
            if purpose != .serving {
                let queue = try DatabaseQueue(path: path, configuration: Self.configuration(isReadOnly: true, wait))
                defer { try? queue.close() }
                try queue.read { database in
                    try StoreSchema.expect(purpose, of: SQLiteConnection(database: database), StoreSchema.sqlite)
                }
            }
            self.pool = try DatabasePool(
                path: path, configuration: Self.configuration(isReadOnly: self.isReadOnly, wait))
            if purpose == .serving {
                try self.pool.write { database in
                    _ = try StoreSchema.migrate(SQLiteConnection(database: database), StoreSchema.sqlite)
                }
            }
            self.file = Self.number(of: path)
        } catch {
            throw Self.failure(error, path)
        }
    }

    private static func configuration(isReadOnly: Bool, _ wait: Int) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.prepareDatabase { database in
            // What was accepted is on the disk before the answer is sent: 202 and 200 mean it.
            try database.execute(sql: "PRAGMA synchronous = FULL")
        }
        configuration.busyMode = .timeout(Double(wait))
        return configuration
    }

    /// Reads from a snapshot.
    package func read<Result: Sendable>(
        for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        do {
            return try await self.pool.read { database in
                try body(StoreTransaction(connection: SQLiteConnection(database: database)))
            }
        } catch { throw Self.failure(error, self.pool.path) }
    }

    /// Changes in one transaction.
    package func write<Result: Sendable>(
        as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        guard !self.isReadOnly else { throw StoreError.openedForReading }
        do {
            // Taken for writing at once: what is read in it does not change until it ends, from another process neither.
            return try await self.pool.immediateWrite(after: { try self.expectFile() }) { database in
                try body(StoreTransaction(connection: SQLiteConnection(database: database)))
            }
        } catch { throw Self.failure(error, self.pool.path) }
    }

    /// Checks that the file is the one that was opened: SQLite goes on writing into one that was moved or deleted, and what it
    /// writes there would be lost. Asked in the thread of the writer: with a disk that hangs this call does not return.
    private func expectFile() throws {
        guard Self.number(of: self.pool.path) == self.file else {
            throw StoreError(
                .unavailable, "\(self.pool.path) was moved, deleted or replaced; put it back, or start the service anew"
            )
        }
    }

    /// The number of bytes in use.
    package func size() async throws -> Int64 {
        try await self.read { store in
            let sql = """
                SELECT (pages.page_count - free.freelist_count) * size.page_size FROM pragma_page_count AS pages,
                    pragma_freelist_count AS free, pragma_page_size AS size
                """
            return try store.connection.rows(sql, []).first?.integer(0) ?? 0
        }
    }

    /// The size of each table: of those that senders do not fill the bytes of their values, and all else is that of
    /// reports. SQLite tells the pages of a table only where it was built to, and reads all of them for it.
    package func sizes() async throws -> [String: Int64] {
        let size = try await self.size()
        return try await self.read { store in
            var sizes: [String: Int64] = [:]
            for table in StoreMove.tables where !StoreRoom.forgotten.contains(table.name) {
                let widths = table.columns.map { "COALESCE(LENGTH(\($0)), 0)" }.joined(separator: " + ")
                let sql = "SELECT COALESCE(SUM(\(widths)), 0), COUNT(*) FROM \(table.name)"
                guard let row = try store.connection.rows(sql, []).first else { continue }
                sizes[table.name] = try row.integer(0) + row.integer(1) * Self.rowOverhead
            }
            sizes["report"] = max(size - sizes.values.reduce(0, +), 0)
            return sizes
        }
    }

    /// Bytes that a row takes beside its values: its header, its place in the page, and its entry in an index.
    private static let rowOverhead: Int64 = 50

    /// Copies the database into a new file. Until it is whole and on the disk its name ends with `.part`, so that what a full disk
    /// or a lost power left is never taken for a copy.
    package func backUp(to path: String) async throws {
        let isThere = StoreError(.unsupported, "\(path) is there already")
        guard !FileManager.default.fileExists(atPath: path) else { throw isThere }
        // A name of its own: another copy to the same file may be on its way.
        let part = "\(path).\(UUID().uuidString.prefix(8)).part"
        defer { try? FileManager.default.removeItem(atPath: part) }
        do {
            // Written whole by SQLite itself, from one moment, and without what was deleted.
            try await self.pool.writeWithoutTransaction { database in
                try database.execute(sql: "VACUUM INTO ?", arguments: [part])
            }
        } catch { throw Self.failure(error, self.pool.path, copy: path) }
        do {
            let written = try FileHandle(forReadingFrom: URL(fileURLWithPath: part))
            try written.synchronize()
            try written.close()
        } catch { throw StoreError(.unavailable, "\(path) cannot be written: \(error.localizedDescription)") }
        // A link fails where a rename would replace. Some file systems have none.
        guard link(part, path) != 0 else { return }
        guard errno != EEXIST, !FileManager.default.fileExists(atPath: path) else { throw isThere }
        guard rename(part, path) == 0 else {
            throw StoreError(.unavailable, "\(path) cannot be written: it gets no name")
        }
    }

    /// The number that tells a file from another one that took its place (its inode).
    private static func number(of path: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.systemFileNumber] as? NSNumber)?.intValue
    }

    /// Translates an error of SQLite into the file, what is wrong with it, and what to do; anything else is returned as it is.
    ///
    /// - Parameters:
    ///   - file: The database.
    ///   - copy: The file that was written in place of the database: it is what a disk refuses, and never what is damaged.
    private static func failure(_ error: any Error, _ file: String, copy: String? = nil) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        let said = error.message ?? error.resultCode.description
        let written = copy ?? file
        return switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            StoreError(
                .damaged, "\(file) is damaged, or no database (\(said)); keep it, and put the newest copy in its place")
        case .SQLITE_SCHEMA, .SQLITE_MISMATCH:
            StoreError(.damaged, "\(file) has other tables than this version (\(said))")
        case .SQLITE_FULL:
            StoreError(.full, "there is no room for \(written) (\(said)); make room on its disk, or raise the quota")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            StoreError(
                .busy, "another process held \(file) for over \(Self.maximumWait) s (\(said)); try it again")
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CANTOPEN:
            StoreError(
                .unavailable,
                """
                \(written) cannot be opened or written (\(said)); it and its folder must belong to the user of the service, on \
                a disk that can be written
                """)
        case .SQLITE_IOERR:
            StoreError(.unavailable, "the disk of \(written) failed (\(said)); the kernel's log says how")
        default: StoreError(.unavailable, "\(file): \(said), code \(error.extendedResultCode.rawValue) of SQLite")
        }
    }
}

extension DatabasePool {
    /// A write whose transaction is for writing from its begin on.
    ///
    /// - Parameters:
    ///   - check: The closure that is called first, in the thread of the writer.
    ///   - body: The changes.
    fileprivate func immediateWrite<Result: Sendable>(
        after check: @escaping @Sendable () throws -> Void, _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await self.writeWithoutTransaction { database in
            try check()
            var result: Result?
            try database.inTransaction(.immediate) {
                result = try body(database)
                return .commit
            }
            guard let result else { throw StoreError(.unavailable, "the transaction had no result") }
            return result
        }
    }
}
