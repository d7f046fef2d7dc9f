// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("A database that an earlier version made", .runsPostgreSQL)
struct StoreMigrationTests {
    @Test(
        "goes forward with all that is in it, once, and the earlier version no longer touches it",
        arguments: TestedStore.all)
    func goesForwardWithAllThatIsInItOnceAndTheEarlierVersionNoLongerTouchesIt(on tested: TestedStore) async throws {
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

    /// The tables as version 2 made them, in the place of those that are there.
    private static func goBack(_ store: StoreTransaction, _ tested: TestedStore) throws {
        if tested == .sqlite {
            let tables = try store.connection.rows(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'", [])
            for table in tables { try store.connection.execute("DROP TABLE \(try table.text(0))", []) }
        } else {
            for sql in ["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"] { try store.connection.execute(sql, []) }
        }
        let dialect = tested.dialect
        try store.connection.execute("CREATE TABLE migration (number \(dialect.integer) PRIMARY KEY)", [])
        for (number, statements) in StoreSchema.migrations(dialect).prefix(2).enumerated() {
            for statement in statements { try store.connection.execute(statement, []) }
            try store.connection.execute("INSERT INTO migration (number) VALUES (\(number + 1))", [])
        }
    }

    /// Rows as version 2 had them: two groups, of 20 and of 3 reports, each of which has its body for the first 16.
    private static func fillSecond(_ store: StoreTransaction, at start: Int64) throws {
        var report = 0
        for (number, count) in [(1, 20), (2, 3)] {
            try store.connection.execute(
                """
                INSERT INTO report_group (id, kind, reason, host, app, app_version, list_name, list_version, issuer,
                    is_validated, first_at, last_at, count) VALUES (?, 'pin', 'no-matching-pin', ?, 'app', '1', 'name', 1,
                    'issuer', 1, ?, ?, ?)
                """,
                [
                    .text("id\(number)"), .text("h\(number).example"), .integer(start),
                    .integer(start + Int64(count)), .integer(Int64(count)),
                ])
            for index in 0..<count {
                report += 1
                try store.connection.execute(
                    """
                    INSERT INTO report (group_number, received_at, host, platform, signals, sampled)
                    VALUES (?, ?, ?, 'IOS 18', '', 0)
                    """, [.integer(Int64(number)), .integer(start + Int64(index)), .text("h\(number).example")])
                guard index < 16 else { continue }
                try store.connection.execute(
                    "INSERT INTO report_body (report, group_number, body) VALUES (?, ?, ?)",
                    [.integer(Int64(report)), .integer(Int64(number)), .blob([UInt8(index)])])
            }
            for (table, values) in [
                ("group_hour (group_number, hour, count)", "\(number), \(start / 3_600), \(count)"),
                ("report_hour (host, hour, kind, count)", "'h\(number).example', \(start / 3_600), 'pin', \(count)"),
                ("group_leaf (group_number, pin, not_before, not_after)", "\(number), 'p', 1, 2"),
                ("inquiry (name, hour, source, digest, count)", "'n\(number)', \(start / 3_600), 'log', 'd', \(count)"),
            ] { try store.connection.execute("INSERT INTO \(table) VALUES (\(values))", []) }
        }
        try store.connection.execute("DELETE FROM report WHERE number = 23", [])
        try store.connection.execute("DELETE FROM report_body WHERE report = 23", [])
    }

    @Test(
        "reports of version 2 have the same numbers afterwards, and what comes is added to them",
        arguments: TestedStore.all)
    func reportsOfVersion2HaveTheSameNumbersAfterwardsAndWhatComesIsAddedToThem(on tested: TestedStore) async throws {
        let start = TurnedClock.start
        try await tested.withDatabase { open in
            try await open().write { store in
                try Self.goBack(store, tested)
                try Self.fillSecond(store, at: start.secondsSince1970)
            }
            let store = try open()
            let groups = try await store.read { try $0.groups(GroupFilter(), newest: [:]) }
            #expect(groups.map { "\($0.id) \($0.count) \($0.leaves.number)" } == ["id1 20 1", "id2 3 1"])
            #expect(groups.map(\.seen.lowerBound) == [start, start])
            #expect(groups.map { $0.seen.upperBound.secondsSince1970 - start.secondsSince1970 } == [20, 3])
            let bodies = try await store.read { store in
                try store.connection.rows("SELECT number, body FROM report WHERE body IS NOT NULL ORDER BY number", [])
                    .map { "\(try $0.integer(0)) \(try $0.blob(1))" }
            }
            #expect(bodies == (0..<16).map { "\($0 + 1) [\($0)]" } + ["21 [0]", "22 [1]"])
            let rates = try await store.read { try $0.hostRates(listed: ["h1.example"], at: start) }
            #expect(rates.map { "\($0.host) \($0.lastHour)" } == ["h1.example 20.0", "h2.example 3.0"])
            #expect(try await store.read { try $0.inquiryTotals(of: "n2", since: 0) } == [start.hour: 3])
            try await store.append { try $0.add([try StoreMoveTests.report("h1.example")], countedBy: "a") }
            let rows = try await store.read { store in
                try store.exportRows(
                    after: 0, since: start, until: Timestamp(secondsSince1970: .max), limit: 100
                ).map { $0[0] }
            }
            // The number of a report that is gone is not given again.
            let numbers: [Int64] = Array(1...22) + [24]
            #expect(rows == numbers.map { SQLValue.integer($0) })
            guard tested == .sqlite else { return }
            let damage = try await store.read { store in
                try store.connection.rows("PRAGMA integrity_check", []).map { try $0.text(0) }
            }
            #expect(damage == ["ok"])
        }
    }

    @Test(
        "alarms that fire while a database of version 2 is brought up to date go on: none rings again, and each is resolved",
        arguments: TestedStore.all)
    func alarmsThatFireWhileADatabaseOfVersion2IsBroughtUpToDateGoOnNoneRingsAgain(on tested: TestedStore) async throws
    {
        let start = TurnedClock.start
        @Sendable func time(_ seconds: Int64) -> Timestamp {
            Timestamp(secondsSince1970: start.secondsSince1970 + seconds)
        }
        let alarms = [
            Alarm(.failureRate, .critical, "a.example", "12 failures"),
            Alarm(.failureRate, .warning, "b.example", "11 failures"), Alarm(.listExpiry, .notice, "list", "14 days"),
        ]
        try await tested.withDatabase { open in
            try await open().write { store in
                try Self.goBack(store, tested)
                for (index, alarm) in alarms.enumerated() {
                    try store.connection.execute(
                        "INSERT INTO alarm (key, kind, severity, detail, since) VALUES (?, ?, ?, ?, ?)",
                        [
                            .text(alarm.key), .text(alarm.kind.rawValue), .text(alarm.severity.rawValue),
                            .text(alarm.detail), .integer(time(Int64(index)).secondsSince1970),
                        ])
                }
                try store.connection.execute(
                    "INSERT INTO alarm (key, kind, severity, detail, since, ended_at) VALUES ('silence:x', 'silence', "
                        + "'notice', 'ended', 1, 2)", [])
            }
            let store = try open()
            func told(_ alarms: [Alarm], _ seconds: Int64) async throws -> [String] {
                try await store.write { store in
                    try AlarmEvaluation(targets: ["ops"]).apply(alarms, in: store, auditHead: "", at: time(seconds))
                }.map { "\($0.phase.rawValue) \($0.key) \($0.severity) \($0.count)" }
            }
            let kept = try await store.read { try $0.firingAlarms() }
            #expect(kept.map(\.key) == alarms.map(\.key))
            #expect(kept.map(\.since) == [time(0), time(1), time(2)])
            #expect(kept.map(\.told) == ["critical", "warning", "notice"])
            for seconds in [10, 400, 4_000] as [Int64] { #expect(try await told(alarms, seconds) == []) }
            #expect(
                try await told([alarms[1]], 4_015) == [
                    "recovered failure-rate:a.example critical 1", "recovered list-expiry:list notice 1",
                ])
            #expect(try await told([], 4_030) == ["recovered failure-rate:b.example warning 1"])
            #expect(try await told([], 4_045) == [])
            let rows = try await store.read { try $0.endedAlarms(limit: 9).map(\.key) }
            #expect(Set(rows) == Set(alarms.map(\.key) + ["silence:x"]))
        }
    }

    @Test("a migration that fails in its middle leaves everything as it was", arguments: TestedStore.all)
    func migrationThatFailsInItsMiddleLeavesEverythingAsItWas(on tested: TestedStore) async throws {
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
            // As if it had not been tried: the tables can be made, and an instance of this version opens it.
            _ = try open()
            try await store.write { store in
                for name in ["extra", "more"] { try store.connection.execute("CREATE TABLE \(name) (a TEXT)", []) }
            }
        }
    }
}
