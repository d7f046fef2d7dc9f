// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Retention beside instances that change the same rows on one PostgreSQL", .needsPostgreSQL, .runsPostgreSQL)
struct PostgreSQLRetentionTests {
    private static let old = TurnedClock.start.before(86_400)

    /// The store of an instance that stands still, and that of retention.
    private let stores: (still: PostgreSQLStore, retention: PostgreSQLStore)

    init() throws {
        let server = try #require(TestPostgreSQL.current)
        let name = try server.makeDatabase()
        var patient = PostgreSQLLimits()
        patient.idleInTransactionMilliseconds = 600_000
        self.stores = (try server.open(name, patient), try server.open(name))
    }

    /// Does something while an instance stands still after a change, before its commit. What would wait for that instance
    /// fails when it does not end.
    private func whileOneStandsStill(
        as lock: StoreLock? = nil, after change: @escaping @Sendable (StoreTransaction) throws -> Void,
        _ body: (PostgreSQLStore) async throws -> Void
    ) async throws {
        let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        async let still: Void = self.stores.still.write(as: lock) { store in
            defer { hasBegun.finish() }
            try change(store)
            // What nothing waits for is sent with this.
            _ = try store.connection.rows("SELECT ?", [.integer(1)])
            hasBegun.yield()
            mayGoOn.wait()
        }
        for await _ in begun { break }
        do {
            defer { mayGoOn.signal() }
            try await body(self.stores.retention)
        }
        try await still
    }

    private func counts(_ host: String) async throws -> [[SQLValue]] {
        try await self.stores.retention.read { store in
            try store.connection.rows(
                """
                SELECT instance, group_count.count, bodies FROM group_count
                JOIN report_group ON report_group.number = group_number WHERE host = ? ORDER BY instance
                """, [.text(host)]
            ).map(\.values)
        }
    }

    @Test("a group is leaving for another one: what is old is forgotten round its rows, and neither waits crosswise")
    func groupIsLeavingForAnotherOneWhatIsOldIsForgottenRoundItsRows() async throws {
        let retention = self.stores.retention
        for host in ["leaves.example", "stays.example"] {
            try await RetentionTests.add(2, host, days: 3, to: retention)
        }
        let old = Self.old
        try await self.whileOneStandsStill(after: { store in
            let row = try store.connection.rows(
                "SELECT number FROM report_group WHERE host = ?", [.text("leaves.example")]
            ).first
            let isGone = try store.removeGroup(try #require(row).integer(0)) { _, _ in true }
            #expect(isGone)
        }) { retention in
            for table in [CountTable.groupHour, .groupNetwork] {
                let removed = try await retention.write(as: .retention) {
                    try $0.remove(table, before: old.hour, limit: 10)
                }
                #expect(removed == 1, "\(table)")
            }
            #expect(try await retention.write(as: .retention) { try $0.removeOldestReports(limit: 1) } == 1)
            try await retention.write(as: .retention) { try $0.countNoBodies(before: old) }
            // The other report of the group that stays, and the group.
            #expect(try await retention.write(as: .retention) { try $0.removeGroups(before: old, limit: 10) } == 2)
        }
        #expect(try await RetentionTests.rows(retention) == ["report_hour": 2])
    }

    @Test("reports come to a group that was quiet for days: its counts are left alone, the others are added up")
    func reportsComeToAGroupThatWasQuietForDaysItsCountsAreLeftAlone() async throws {
        let retention = self.stores.retention
        for host in ["woken.example", "quiet.example"] {
            try await RetentionTests.add(2, host, days: 3, to: retention)
        }
        let old = Self.old
        try await self.whileOneStandsStill(after: { store in
            try store.add([RetentionTests.report("woken.example", days: 0)], countedBy: "a")
        }) { retention in
            try await retention.write(as: .retention) { try $0.countNoBodies(before: old) }
            try await retention.write(as: .retention) { try $0.foldCounts(before: old.hour) }
        }
        #expect(try await self.counts("woken.example") == [[.text("a"), .integer(3), .integer(3)]])
        #expect(try await self.counts("quiet.example") == [[.text(""), .integer(2), .integer(0)]])
    }

    @Test("an alarm fires again after years: the others of that time are forgotten meanwhile, it stays")
    func alarmFiresAgainAfterYearsTheOthersOfThatTimeAreForgottenMeanwhile() async throws {
        let alarms = ["a", "b"].map { Alarm(.publishRefused, .warning, $0, "refused") }
        let old = Self.old
        try await self.stores.retention.write { store in
            for alarm in alarms {
                try store.put(alarm, since: old.before(20))
                try store.endAlarm(alarm.key, at: old.before(10))
            }
        }
        let again = alarms[0]
        try await self.whileOneStandsStill(as: .changes, after: { try $0.put(again, since: TurnedClock.start) }) {
            try await $0.write(as: .retention) { try $0.removeAlarms(endedBefore: old) }
        }
        let left = try await self.stores.retention.read { store in
            try store.firingAlarms().map(\.key) + store.endedAlarms(limit: 9).map(\.key)
        }
        #expect(left == [again.key])
    }
}
