// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("The pages of a move from one database to another", .runsPostgreSQL)
struct StoreMovePageTests {
    /// A connection that notes how many long values each answer has.
    private struct Connection: SQLConnection {
        let next: any SQLConnection
        let pages: NIOLockedValueBox<[Int]>

        func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
            let rows = try self.next.rows(sql, values)
            let count = rows.flatMap(\.values).count { value in
                if case .blob(let bytes) = value { return bytes.count > 1 << 20 }
                return false
            }
            if count > 0 { self.pages.withLockedValue { $0.append(count) } }
            return rows
        }

        func execute(_ sql: String, _ values: [SQLValue]) throws -> Int { try self.next.execute(sql, values) }

        func lock(_ lock: StoreLock) throws { try self.next.lock(lock) }

        var rowLocks: SQLRowLocks { self.next.rowLocks }

        var rowPlace: String? { self.next.rowPlace }

        var hasReportDays: Bool { self.next.hasReportDays }

        func continueNumbers() throws { try self.next.continueNumbers() }
    }

    /// A store whose answers are noted.
    private struct Noted: ServiceStore {
        let next: any ServiceStore
        let pages: NIOLockedValueBox<[Int]>

        func read<Result: Sendable>(
            for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
        ) async throws -> Result {
            let pages = self.pages
            return try await self.next.read(for: reader) { store in
                try body(StoreTransaction(connection: Connection(next: store.connection, pages: pages)))
            }
        }

        func write<Result: Sendable>(
            as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
        ) async throws -> Result { try await self.next.write(as: lock, body) }

        func size() async throws -> Int64 { try await self.next.size() }

        func sizes() async throws -> [String: Int64] { try await self.next.sizes() }

        func backUp(to path: String) async throws { try await self.next.backUp(to: path) }
    }

    @Test("long values are read a few at a time, one that is longer than a page by itself", arguments: TestedStore.all)
    func longValuesAreReadAFewAtATimeAndOneThatIsLongerThanAPageByItself(on tested: TestedStore) async throws {
        let lengths = [3, 3, 3, 9, 3, 3].map { $0 << 20 }
        try await tested.withDatabase { openSource in
            try await TestedStore.sqlite.withDatabase { openTarget in
                let (source, target) = (try openSource(), try openTarget())
                for (number, length) in lengths.enumerated() {
                    try await source.write { store in
                        try store.addEvidence(
                            "\(number)", of: "a", [UInt8](repeating: UInt8(number), count: length),
                            at: TurnedClock.start)
                    }
                }
                let pages = NIOLockedValueBox([Int]())
                try await StoreMove(from: Noted(next: source, pages: pages), to: target).run { _, _ in }
                // Of three times 3 MiB two fit into a page, and 9 MiB are one.
                #expect(pages.withLockedValue { $0 } == [2, 1, 1, 2])
                let copied = try await target.read { store in
                    try store.connection.rows("SELECT LENGTH(envelope) FROM evidence ORDER BY digest", [])
                        .map { try $0.integer(0) }
                }
                #expect(copied == lengths.map { Int64($0) })
            }
        }
    }
}
