// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinningTesting
import Testing

@testable import PinListServer

/// No schema was released yet: what the next version does to this one's database is pretended here.
@Suite("A database that an earlier version made", .runsPostgreSQL)
struct StoreMigrationTests {
    @Test(
        "goes forward with all that is in it, once, and the earlier version no longer touches it",
        arguments: TestedStore.all)
    func forward(on tested: TestedStore) async throws {
        let repository = try RepositorySimulator.story()
        let dialect = tested.dialect
        let next = [
            "ALTER TABLE report ADD COLUMN later \(dialect.integer) NOT NULL DEFAULT 7",
            "CREATE INDEX report_by_later ON report (later)",
        ]
        try await tested.withDatabase { open in
            let store = try open()
            try await StoreMoveTests.fill(store, repository)
            let before = try await StoreMoveTests.dump(store)
            #expect(before.values.allSatisfy { !$0.isEmpty })
            let made = try await store.write { store in
                [
                    try StoreSchema.migrate(store.connection, dialect),
                    try StoreSchema.migrate(store.connection, dialect, and: [next]),
                    try StoreSchema.migrate(store.connection, dialect, and: [next]),
                ]
            }
            #expect(made == [0, 1, 0])
            #expect(try await StoreMoveTests.dump(store) == before)
            let later = try await store.read { store in
                try store.connection.rows("SELECT later, COUNT(*) FROM report GROUP BY later", [])
                    .map { [try $0.integer(0), try $0.integer(1)] }
            }
            #expect(later == [[7, Int64(before["report"]?.count ?? 0)]])
            let error = #expect(throws: StoreError.self) { try open() }
            #expect(error?.code == .unsupported)
        }
    }

    @Test("a migration that fails in its middle leaves everything as it was", arguments: TestedStore.all)
    func half(on tested: TestedStore) async throws {
        let dialect = tested.dialect
        try await tested.withDatabase { open in
            let store = try open()
            await #expect(throws: StoreError.self) {
                try await store.write { store in
                    _ = try StoreSchema.migrate(
                        store.connection, dialect,
                        and: [
                            ["CREATE TABLE extra (a TEXT)"],
                            ["CREATE TABLE more (a TEXT)", "CREATE TABLE root (a TEXT)"],
                        ])
                }
            }
            // As if nobody had tried: the tables can be made, and an instance of this version opens it.
            _ = try open()
            try await store.write { store in
                for name in ["extra", "more"] { try store.connection.execute("CREATE TABLE \(name) (a TEXT)", []) }
            }
        }
    }
}
