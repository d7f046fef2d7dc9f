// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("A log that is shortened", .runsPostgreSQL)
struct AuditRetentionTests {
    private static func time(_ text: String) throws -> Timestamp { try Timestamp(text) }

    /// An entry at noon of each day.
    private static func log(_ days: [String], in store: any ServiceStore) async throws {
        for day in days {
            let time = try Self.time("\(day)T12:00:00Z")
            try await store.write { try $0.log("note", day, by: "test", at: time) }
        }
    }

    private static func look(_ store: any ServiceStore, at day: String, auditDays: Int64 = 400) async throws {
        await Retention(
            store: store, limits: .init(auditDays: auditDays), clock: TurnedClock(try Self.time("\(day)T00:00:00Z")),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ).look()
    }

    private static func entries(_ store: any ServiceStore) async throws -> [AuditEntry] {
        try await store.read { try $0.auditEntries(from: 1, limit: 10_000) }
    }

    /// The log, verified as the command does.
    private static func chain(_ store: any ServiceStore, wanted: String? = nil) async throws -> AuditChain {
        let (seals, entries) = try await store.read {
            (try $0.auditSeals(), try $0.auditEntries(from: 1, limit: 10_000))
        }
        var chain = AuditChain(seals: seals, wanted: wanted)
        for entry in entries { try chain.append(entry) }
        try chain.finish()
        return chain
    }

    private static let days = ["2025-07-03", "2025-07-30", "2025-09-01", "2025-09-30", "2026-11-01", "2026-11-20"]

    @Test(
        "is sealed month by month and removed by age; what is left still proves what is gone",
        arguments: TestedStore.all)
    func isSealedMonthByMonthAndRemovedByAgeWhatIsLeftStillProvesWhatIsGone(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await Self.log(Self.days, in: store)
            let whole = try await Self.entries(store)
            try await Self.look(store, at: "2026-11-21")
            let seals = try await store.read { try $0.auditSeals() }
            #expect(seals.map(\.period.description) == ["2025-07", "2025-09"])
            #expect(seals.map { [$0.first, $0.last] } == [[1, 2], [3, 4]])
            #expect(seals.map(\.head) == [whole[1].digest, whole[3].digest])
            // Before 2025-10-17 the months July and September were over.
            let left = try await Self.entries(store)
            #expect(left.map(\.number) == [5, 6, 7, 8])
            #expect(left.map(\.action) == ["note", "note", "seal", "seal"])
            var chain = try await Self.chain(store, wanted: whole[1].digest)
            // A copy of the log that ended with July has the head of July's seal.
            #expect(chain.hasWanted)
            #expect(chain.count == 8)
            // Another look changes nothing; the seals themselves are sealed with their month.
            try await Self.look(store, at: "2026-11-21")
            #expect(try await Self.entries(store) == left)
            try await Self.look(store, at: "2028-01-15")
            chain = try await Self.chain(store, wanted: left[3].digest)
            #expect(chain.hasWanted)
            #expect(chain.first == 9)
            #expect(try await Self.entries(store).map(\.action) == ["seal"])
            #expect(
                try await store.read { try $0.auditSeals() }.map(\.period.description) == [
                    "2025-07", "2025-09", "2026-11",
                ])
        }
    }

    @Test("keeps the month that is not wholly older, and with the shortest setting all of the last 90 days")
    func keepsTheMonthThatIsNotWhollyOlderAndWithTheShortestSettingAllOfTheLast90Days() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await Self.log(["2026-08-01", "2026-08-23", "2026-08-31", "2026-09-01"], in: store)
            try await Self.look(store, at: "2026-11-21", auditDays: 90)
            #expect(try await Self.entries(store).count == 6)
            try await Self.look(store, at: "2026-11-30", auditDays: 90)
            #expect(try await Self.entries(store).map(\.number) == [4, 5, 6])
        }
    }

    @Test(
        "the database refuses to remove what is not sealed, or sealed by a row that the log does not name",
        arguments: TestedStore.all)
    func databaseRefusesToRemoveWhatIsNotSealedOrSealedByARowThatTheLogDoesNotName(on tested: TestedStore) async throws
    {
        try await tested.withDatabase { open in
            let store = try open()
            try await Self.log(Self.days, in: store)
            let head = try await Self.entries(store)[1].digest
            let refuse: @Sendable (String) async -> Void = { sql in
                let error = await #expect(throws: StoreError.self, "\(sql)") {
                    try await store.write { try $0.connection.execute(sql, []) }
                }
                #expect(error?.detail.contains("the audit log is only appended to") == true, "\(sql)")
            }
            let seal = AuditSeal(
                period: AuditPeriod(try Self.time("2025-07-01T00:00:00Z")), first: 1, last: 2, head: head,
                previous: AuditEntry.origin, entry: 7)
            try await store.write { try $0.add(seal) }
            await refuse("DELETE FROM audit WHERE number = 1")
            try await store.write { try $0.log(AuditSeal.action, seal.detail, by: "service", at: seal.period.end) }
            await refuse("DELETE FROM audit WHERE number = 3")
            await refuse("DELETE FROM audit")
            await refuse("UPDATE audit SET detail = 'x' WHERE number = 1")
            await refuse("UPDATE audit_seal SET last_number = 6")
            await refuse("DELETE FROM audit_seal")
            try await store.write { _ = try $0.connection.execute("DELETE FROM audit WHERE number <= 2", []) }
            #expect(try await Self.chain(store).first == 3)
        }
    }

    @Test("that does not hold is neither sealed nor shortened: what shows the change stays", arguments: [3, 4])
    func thatDoesNotHoldIsNeitherSealedNorShortenedWhatShowsTheChangeStays(entry: Int64) async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await Self.log(Self.days, in: store)
            try await store.write { store in
                try store.connection.execute("DROP TRIGGER audit_update", [])
                try store.connection.execute("UPDATE audit SET detail = 'x' WHERE number = ?", [.integer(entry)])
            }
            try await Self.look(store, at: "2026-11-21")
            // July holds by itself.
            #expect(try await store.read { try $0.auditSeals() }.map(\.period.description) == ["2025-07"])
            #expect(try await Self.entries(store).count == 7)
            await #expect(throws: AuditChain.VerificationError.self) { try await Self.chain(store) }
        }
    }

    @Test("a clock that was ahead or behind for a moment does not stop it, and nothing younger goes with it")
    func clockThatWasAheadOrBehindForAMomentDoesNotStopItAndNothingYoungerGoesWithIt() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await Self.log(
                ["2025-07-03", "2099-01-01", "2025-07-04", "2025-09-01", "2020-01-01", "2026-11-01", "2025-07-05"],
                in: store)
            try await Self.look(store, at: "2026-11-21")
            #expect(try await store.read { try $0.auditSeals() }.map { [$0.first, $0.last] } == [[1, 3], [4, 5]])
            #expect(try await Self.entries(store).map(\.number) == [6, 7, 8, 9])
            #expect(try await Self.chain(store).count == 9)
        }
    }

    @Test("two instances that look at once seal each month once", arguments: TestedStore.all)
    func twoInstancesThatLookAtOnceSealEachMonthOnce(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let stores = [try open(), try open()]
            try await Self.log(Self.days, in: stores[0])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores { group.addTask { try await Self.look(store, at: "2026-11-21") } }
                try await group.waitForAll()
            }
            #expect(try await Self.chain(stores[0]).count == 8)
            #expect(try await stores[1].read { try $0.auditSeals() }.count == 2)
        }
    }

    @Test("evidence goes with the days of the log, and not before", arguments: TestedStore.all)
    func evidenceGoesWithTheDaysOfTheLogAndNotBefore(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            for (index, day) in ["2025-10-16", "2025-10-18"].enumerated() {
                let time = try Self.time("\(day)T00:00:00Z")
                try await store.write { try $0.addEvidence("\(index)", of: "a", [1], at: time) }
            }
            try await Self.look(store, at: "2026-11-21")
            #expect(try await store.read { try $0.hasEvidence("0") } == false)
            #expect(try await store.read { try $0.hasEvidence("1") })
        }
    }

    @Test("months follow each other over the ends of years and of time")
    func monthsFollowEachOtherOverTheEndsOfYearsAndOfTime() throws {
        for (time, end) in [
            ("2026-01-31T23:59:59Z", "2026-02-01T00:00:00Z"), ("2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"),
            ("2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"), ("9999-12-31T23:59:59Z", "9999-12-01T00:00:00Z"),
        ] {
            #expect(AuditPeriod(try Self.time(time)).end == (try Self.time(end)))
        }
        #expect(throws: StoreError.self) { try AuditPeriod(stored: "2026-13") }
        #expect(throws: StoreError.self) { try AuditPeriod(stored: "x") }
        #expect(AuditPeriod(Timestamp(secondsSince1970: .max)).description == "9999-12")
    }
}
