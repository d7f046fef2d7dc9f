// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

@testable import PinListServer
@testable import PinListStore

/// A store on which another instance makes groups, for as long as it is told.
final class CrowdedStore: ServiceStore {
    private struct Connection: SQLConnection {
        let next: any SQLConnection

        func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] { try self.next.rows(sql, values) }

        func execute(_ sql: String, _ values: [SQLValue]) throws -> Int { try self.next.execute(sql, values) }

        func lock(_ lock: StoreLock) throws {
            guard lock != .groups else { throw StoreError(.busy, "another instance makes groups") }
            try self.next.lock(lock)
        }

        func lockIfFree(_ lock: StoreLock) throws -> Bool { try lock != .groups && self.next.lockIfFree(lock) }

        var rowLocks: SQLRowLocks { self.next.rowLocks }

        var rowPlace: String? { self.next.rowPlace }

        var hasReportDays: Bool { self.next.hasReportDays }

        func serverTime() throws -> Int64? { try self.next.serverTime() }

        func continueNumbers() throws { try self.next.continueNumbers() }
    }

    private let store: any ServiceStore
    private let state = NIOLockedValueBox(false)

    /// Wraps a store.
    init(_ store: any ServiceStore) { self.store = store }

    /// Whether another instance makes groups.
    var isCrowded: Bool {
        get { self.state.withLockedValue { $0 } }
        set { self.state.withLockedValue { $0 = newValue } }
    }

    func read<Result: Sendable>(
        for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result { try await self.store.read(for: reader, body) }

    func write<Result: Sendable>(
        as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        let isCrowded = self.isCrowded
        return try await self.store.write(as: lock) { store in
            try body(isCrowded ? StoreTransaction(connection: Connection(next: store.connection)) : store)
        }
    }

    func size() async throws -> Int64 { try await self.store.size() }

    func sizes() async throws -> [String: Int64] { try await self.store.sizes() }

    func backUp(to path: String) async throws { try await self.store.backUp(to: path) }
}
