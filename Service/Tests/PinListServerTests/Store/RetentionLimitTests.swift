// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("What one look of retention does, and when it ends", .runsPostgreSQL)
struct RetentionLimitTests {
    /// Takes a change back.
    private struct TakenBack: Error {}

    private static func count(_ table: String, in store: any ServiceStore) async throws -> Int64 {
        try await store.read { try $0.connection.rows("SELECT COUNT(*) FROM \(table)", []).first?.integer(0) ?? 0 }
    }

    @Test("counts that no one statement deletes in time go batch by batch, and each look goes on", .needsPostgreSQL)
    func countsThatNoOneStatementDeletesInTimeGoBatchByBatchAndEachLookGoesOn() async throws {
        let server = try #require(TestPostgreSQL.current)
        let name = try server.makeDatabase()
        let patient = try server.open(name)
        let rows: Int64 = 200_000
        _ = try await patient.write { store in
            try store.connection.execute(
                """
                INSERT INTO group_hour (group_number, hour, instance, count)
                SELECT i, 1, '', 1 FROM generate_series(1, \(rows)) AS i
                """, [])
        }
        var (left, limits) = (rows, PostgreSQLLimits())
        limits.statementMilliseconds = 10
        while left == rows {
            limits.statementMilliseconds *= 2
            guard let store = try? server.open(name, limits) else { continue }
            var whole: StoreError?
            do {
                try await store.write { store in
                    try store.connection.execute("DELETE FROM group_hour WHERE hour < ?", [.integer(2)])
                    throw TakenBack()
                }
            } catch { whole = error as? StoreError }
            // For as long as all of them are too many for one statement.
            try #require(whole?.code == .timedOut)
            await RetentionTests.look(store, days: 90, megabytes: 2_048)
            left = try await Self.count("group_hour", in: patient)
        }
        limits.statementMilliseconds *= 4
        let store = try server.open(name, limits)
        for _ in 0..<20 where left > 0 {
            await RetentionTests.look(store, days: 90, megabytes: 2_048)
            left = try await Self.count("group_hour", in: patient)
        }
        #expect(left == 0)
    }

    @Test("a batch deletes the oldest rows and no more than it may", arguments: TestedStore.all)
    func batchDeletesTheOldestRowsAndNoMoreThanItMay(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            for (table, columns, values) in [
                (.groupHour, "hour, group_number, instance, count", "?, ?, 'a', 1"),
                (.groupNetwork, "day, group_number, instance, networks, is_more", "?, ?, 'a', 1, 0"),
                (.reportHour, "hour, count, host, kind, instance", "?, 1, CAST(? AS TEXT), 'pin', 'a'"),
                (.inquiry, "hour, count, digest, name, source, instance", "?, 1, CAST(? AS TEXT), 'a', 'log', 'a'"),
                (.countedHost, "day, host, name, instance", "?, CAST(? AS TEXT), 'a', 'a'"),
            ] as [(CountTable, String, String)] {
                let name = table.rawValue
                // The newest first: the order of the rows says nothing.
                try await store.write { store in
                    for row: Int64 in 0..<20 {
                        try store.connection.execute(
                            "INSERT INTO \(name) (\(columns)) VALUES (\(values))",
                            [.integer(3 - row / 5), .integer(row % 5)])
                    }
                }
                let end: Int64 = table.isByDay ? 3 * 24 : 3
                var removed: [Int] = []
                for _ in 0..<4 {
                    removed.append(try await store.write { try $0.remove(table, before: end, limit: 7) })
                }
                #expect(removed == [7, 7, 1, 0], "\(name)")
                let left = try await store.read { store in
                    try store.connection.rows(
                        "SELECT MIN(\(table.isByDay ? "day" : "hour")), COUNT(*) FROM \(name)", []
                    ).first?.values
                }
                #expect(left == [.integer(3), .integer(5)], "\(name)")
            }
        }
    }

    @Test("a step that fails keeps no other from its work, and the log names it")
    func stepThatFailsKeepsNoOtherFromItsWorkAndTheLogNamesIt() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await RetentionTests.add(5, "old.example", days: 91, to: store)
            _ = try await store.write { store in
                try store.connection.execute(
                    "CREATE TRIGGER stuck BEFORE DELETE ON report_hour BEGIN SELECT RAISE(ABORT, 'stuck'); END", [])
            }
            let lines = NIOLockedValueBox([String]())
            await Retention(
                store: store, limits: .init(days: 90, megabytes: 2_048), clock: TurnedClock(),
                logger: Logger(label: "test") { _ in
                    var handler = RetentionTests.Lines(lines: lines)
                    handler.logLevel = .debug
                    return handler
                }
            ).look()
            #expect(try await RetentionTests.rows(store) == ["report_hour": 1])
            #expect(lines.withLockedValue { $0.count } == 1)
            let line = lines.withLockedValue { $0.first }
            #expect(line?.hasPrefix("old data could not be deleted (report_hour): ") == true)
        }
    }

    @Test("reports are counted part by part, and no more of them go than have to", arguments: TestedStore.all)
    func reportsAreCountedPartByPartAndNoMoreOfThemGoThanHaveTo(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await RetentionTests.add(9, "a.example", days: 0, to: store)
            _ = try await store.write { store in
                try store.connection.execute("DELETE FROM report WHERE number IN (2, 3)", [])
            }
            var (parts, last) = ([[Int64]](), Int64.min)
            while true {
                let after = last
                guard let part = try await store.read({ try $0.countReports(after: after, limit: 3) }) else { break }
                parts.append([part.count, part.last])
                last = part.last
            }
            #expect(parts == [[3, 5], [3, 8], [1, 9]])
        }
        // Of fewer reports than there are fewer go.
        let room = StoreRoom(sizes: ["report": 100_000], limit: 90_000)
        #expect([0, 10, 100].map { room.surplus(of: $0, capacity: nil) } == [1, 2, 11])
        #expect([0, 10, 100].map { room.surplus(of: $0, capacity: 60) } == [0, 0, 40])
    }

    @Test("counts whose group is gone keep no old group from going", arguments: TestedStore.all)
    func countsWhoseGroupIsGoneKeepNoOldGroupFromGoing(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { store in
                for number: Int64 in 1...600 {
                    try store.connection.execute(
                        """
                        INSERT INTO group_count (group_number, instance, count, bodies, bodies_at, first_at, last_at)
                        VALUES (?, '', 1, 0, 0, 1, 1)
                        """, [.integer(-number)])
                }
            }
            try await RetentionTests.add(5, "old.example", days: 91, to: store)
            await RetentionTests.look(store, days: 90, megabytes: 2_048)
            #expect(try await RetentionTests.rows(store) == [:])
        }
    }

    @Test("a group of more reports than a batch goes all the same, a newer one does not", arguments: TestedStore.all)
    func groupOfMoreReportsThanABatchGoesAllTheSame(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await RetentionTests.add(10, "old.example", days: 5, to: store)
            try await RetentionTests.add(10, "new.example", days: 1, to: store)
            var removed: [Int] = []
            for _ in 0..<4 {
                removed.append(
                    try await store.write { store in
                        try store.removeGroups(before: TurnedClock.start.before(3 * 86_400), limit: 4)
                    })
            }
            // The group itself is one.
            #expect(removed == [4, 4, 3, 0])
            let rows = try await RetentionTests.rows(store)
            #expect([rows["report"], rows["report_group"], rows["group_count"]] == [10, 1, 1])
        }
    }

    @Test("a group whose counts are being added up is not removed meanwhile", .needsPostgreSQL)
    func groupWhoseCountsAreBeingAddedUpIsNotRemovedMeanwhile() async throws {
        let server = try #require(TestPostgreSQL.current)
        var patient = PostgreSQLLimits()
        patient.idleInTransactionMilliseconds = 600_000
        let name = try server.makeDatabase()
        let (store, other) = (try server.open(name, patient), try server.open(name))
        try await RetentionTests.add(1, "a.example", days: 3, to: store)
        let group = try #require(
            try await store.read { try $0.connection.rows("SELECT number FROM report_group", []).first?.integer(0) })
        let (folded, hasFolded) = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        async let folding: Void = store.write(as: .retention) { store in
            defer { hasFolded.finish() }
            try store.foldCounts(before: TurnedClock.start.hour - 24)
            hasFolded.yield()
            mayGoOn.wait()
        }
        for await _ in folded { break }
        let isRemoved: Bool
        do {
            defer { mayGoOn.signal() }
            isRemoved = try await other.write(as: .groups) { try $0.removeGroup(group) { _, _ in true } }
        }
        try await folding
        #expect(!isRemoved)
        let left = try await store.read { store in
            try store.connection.rows("SELECT group_number, instance, count FROM group_count", []).map(\.values)
        }
        #expect(left == [[.integer(group), .text(""), .integer(1)]])
        #expect(try await Self.count("report_group", in: store) == 1)
    }

    @Test("counts that strangers make grow go before any report does", arguments: TestedStore.all)
    func countsThatStrangersMakeGrowGoBeforeAnyReportDoes(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let today = TurnedClock.start.hour / 24
            for days: Int64 in [0, 1] { try await RetentionTests.add(10, "a.example", days: days, to: store) }
            for ago: Int64 in 0..<20 {
                let keys = (0..<2_000).map {
                    ListRequestKey(
                        name: "a", hour: (today - ago) * 24, source: .log,
                        digest: String(repeating: "0", count: 60) + "\($0)")
                }
                try await store.write { try $0.add(Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) })) }
            }
            // PostgreSQL counts its rows now and then.
            if tested == .postgreSQL { try await store.write { _ = try $0.connection.execute("ANALYZE", []) } }
            let room = StoreRoom(sizes: try await store.sizes(), limit: 1_000_000)
            try #require(room.excess > 0)
            await RetentionTests.look(store, days: 90, megabytes: 1)
            #expect(try await RetentionTests.rows(store)["report"] == 20)
            let oldest = try await store.read {
                try $0.connection.rows("SELECT MIN(hour) / 24 FROM inquiry", []).first?.optionalInteger(0)
            }
            #expect(oldest == today - 18)
        }
    }

    @Test("reports go first where they are the larger part and make the room that is needed")
    func reportsGoFirstWhereTheyAreTheLargerPartAndMakeTheRoomThatIsNeeded() {
        func room(_ reports: Int64, _ counts: Int64) -> Bool {
            StoreRoom(sizes: ["report": reports, "inquiry": counts], limit: 100).beginsWithCounts(besides: reports)
        }
        #expect(!room(110, 0))
        #expect(!room(60, 50))
        #expect(!room(55, 55))
        #expect(room(54, 55))
        #expect(room(10, 101))
        // Counts reach the limit by themselves, although there are more reports.
        #expect(!room(200, 99))
        #expect(room(200, 100))
    }
}
