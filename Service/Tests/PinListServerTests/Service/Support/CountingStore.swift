// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

@testable import PinListServer
@testable import PinListStore

/// A store that counts the envelopes that are read from it.
final class CountingStore: ServiceStore {
    /// A connection that counts the rows of statements that name envelopes.
    private struct Connection: SQLConnection {
        let next: any SQLConnection
        let count: NIOLockedValueBox<Int>

        func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
            let rows = try self.next.rows(sql, values)
            if sql.contains("SELECT envelope") { self.count.withLockedValue { $0 += rows.count } }
            return rows
        }

        func execute(_ sql: String, _ values: [SQLValue]) throws -> Int { try self.next.execute(sql, values) }

        func lock(_ lock: StoreLock) throws { try self.next.lock(lock) }

        var rowLocks: SQLRowLocks { self.next.rowLocks }

        var rowPlace: String? { self.next.rowPlace }

        var hasReportDays: Bool { self.next.hasReportDays }

        func continueNumbers() throws { try self.next.continueNumbers() }
    }

    private let store: any ServiceStore
    private let count = NIOLockedValueBox(0)

    /// Wraps a store.
    init(_ store: any ServiceStore) { self.store = store }

    /// The number that were read since the last call.
    func takeCount() -> Int {
        self.count.withLockedValue { count in
            defer { count = 0 }
            return count
        }
    }

    func read<Result: Sendable>(
        for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        let count = self.count
        return try await self.store.read(for: reader) {
            try body(StoreTransaction(connection: Connection(next: $0.connection, count: count)))
        }
    }

    func write<Result: Sendable>(
        as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        let count = self.count
        return try await self.store.write(as: lock) {
            try body(StoreTransaction(connection: Connection(next: $0.connection, count: count)))
        }
    }

    func size() async throws -> Int64 { try await self.store.size() }

    func sizes() async throws -> [String: Int64] { try await self.store.sizes() }

    func backUp(to path: String) async throws { try await self.store.backUp(to: path) }
}
