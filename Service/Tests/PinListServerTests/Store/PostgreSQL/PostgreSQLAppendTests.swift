// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Several instances that take reports on one PostgreSQL", .needsPostgreSQL, .runsPostgreSQL)
struct PostgreSQLAppendTests {
    private let server: TestPostgreSQL

    /// For an instance that stands still for as long as a slow machine needs for the others, each of which waits for a lock
    /// for five seconds at most.
    private static let patient: PostgreSQLLimits = {
        var limits = PostgreSQLLimits()
        limits.idleInTransactionMilliseconds = 600_000
        return limits
    }()

    init() throws { self.server = try #require(TestPostgreSQL.current) }

    private static func reports(_ count: Int, hosts: Int = 5, at time: Timestamp = TurnedClock.start) throws
        -> [AcceptedReport]
    {
        try (0..<count).map { number in
            let report = try ReportText.report(
                chain: SketchedChain.chain(leafKey: number % 3),
                [("noted-hostname", .string("h\(number % hosts).example"))])
            let networks = NetworkCounter.Count(day: time.hour / 24, networks: BoundedCount(number + 1, isMore: false))
            return AcceptedReport(
                report: report, group: ReportGroup(report), receivedAt: time, networks: networks, isSample: false,
                isListed: number % hosts != 0, body: report.document)
        }
    }

    /// Five reports about hosts that no list has and that no other number has.
    private static func invented(_ number: Int) throws -> [AcceptedReport] {
        try (0..<5).map { index in
            let host = "h\(index).n\(number).invented.example"
            let report = try ReportText.report(chain: [], [("noted-hostname", .string(host))])
            return AcceptedReport(
                report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil,
                isSample: false, isListed: false, body: report.document)
        }
    }

    /// The number of reports that instances counted in groups.
    private static func counted(in store: any ServiceStore) async throws -> Int64 {
        try await store.read { store in
            let rows = try store.connection.rows(
                "SELECT COALESCE(SUM(count), 0) FROM group_count WHERE instance <> ?", [.text("x")])
            return try #require(rows.first).integer(0)
        }
    }

    @Test(
        "one that stands still in the middle of a batch keeps no other one waiting, nor what is published or looked at")
    func oneThatStandsStillInTheMiddleOfABatchKeepsNoOtherOneWaiting() async throws {
        let name = try self.server.makeDatabase()
        let stores = try (0..<3).map { try self.server.open(name, $0 == 0 ? Self.patient : PostgreSQLLimits()) }
        let reports = try Self.reports(60)
        try await stores[0].append { try $0.add(reports, countedBy: "first") }
        let (added, hasAdded) = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        async let still: Void = stores[0].append { store in
            try store.add(reports, countedBy: "0")
            hasAdded.yield()
            mayGoOn.wait()
        }
        for await _ in added { break }
        do {
            // Each of these would wait for the one above, and fail when it does not end.
            defer { mayGoOn.signal() }
            for (number, store) in stores.enumerated().dropFirst() {
                try await store.append { try $0.add(reports, countedBy: "\(number)") }
                try await store.append {
                    try $0.add(
                        [ListRequestKey(name: "a", hour: 1, source: .log, digest: ""): 1], countedBy: "\(number)")
                }
            }
            try await stores[1].note("noted")
            _ = try await stores[1].write(as: .leases) {
                try $0.takeLease("alarms", for: "1", at: TurnedClock.start, seconds: 60)
            }
            #expect(
                try await stores[2].read { try $0.groups(GroupFilter(), newest: [:]).map(\.count).reduce(0, +) } == 180)
        }
        try await still
        let groups = try await stores[2].read { try $0.groups(GroupFilter(), newest: [:]) }
        #expect(groups.map(\.count) == Array(repeating: 48, count: 5))
        #expect(groups.allSatisfy { $0.leaves == BoundedCount(3, isMore: false) })
        let stored = try await stores[2].read {
            try $0.connection.rows("SELECT COUNT(*) FROM report", []).first?.integer(0)
        }
        #expect(stored == 240)
    }

    @Test("one that stands still while it changes something else keeps no report waiting")
    func oneThatStandsStillWhileItChangesSomethingElseKeepsNoReportWaiting() async throws {
        let name = try self.server.makeDatabase()
        let (store, other) = (try self.server.open(name, Self.patient), try self.server.open(name))
        let reports = try Self.reports(10)
        try await other.append { try $0.add(reports, countedBy: "a") }
        for lock in StoreLock.allCases where lock != .groups {
            let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
            let mayGoOn = DispatchSemaphore(value: 0)
            async let still: Void = store.write(as: lock) { _ in
                hasBegun.yield()
                mayGoOn.wait()
            }
            for await _ in begun { break }
            do {
                defer { mayGoOn.signal() }
                try await other.append { try $0.add(reports, countedBy: "a") }
            }
            try await still
        }
        #expect(try await store.read { try $0.groups(GroupFilter(), newest: [:]).map(\.count).reduce(0, +) } == 60)
    }

    /// The statements that wait for a lock in this database. Not counted is the moment in which a file grows, which the
    /// server itself guards.
    private static func lockWaits(_ store: StoreTransaction) throws -> [String] {
        try store.connection.rows(
            """
            SELECT wait_event || ': ' || left(query, 100) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event <> 'extend'
            """, []
        ).map { try $0.text(0) }
    }

    @Test("one that stands still while it makes groups: known groups, and invented ones without room, wait for nothing")
    func oneThatStandsStillWhileItMakesGroupsKnownGroupsAndInventedOnesWithoutRoomWaitForNothing() async throws {
        let name = try self.server.makeDatabase()
        let (store, other) = (try self.server.open(name, Self.patient), try self.server.open(name))
        let known = try Self.reports(10)
        try await other.append { try $0.add(known, countedBy: "a") }
        try await StoredReportTests.fill(other, ReportGroup.maximumGroups / 2, isListed: false)
        try await other.append { try $0.add(Self.invented(0), countedBy: "a") }
        let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        async let still: Void = store.append { store in
            try store.connection.lock(.groups)
            hasBegun.yield()
            mayGoOn.wait()
        }
        for await _ in begun { break }
        do {
            // Each of these would wait for the one above, and fail when it does not end.
            defer { mayGoOn.signal() }
            try await other.append { try $0.add(known, countedBy: "a") }
            try await other.append { try $0.add(known + Self.invented(1), countedBy: "a") }
        }
        try await still
        #expect(try await Self.counted(in: other) == 40)
    }

    @Test(
        "one that stands still while it makes groups, and there is room: known groups wait for nothing, new ones in line"
    )
    func oneThatStandsStillWhileItMakesGroupsAndThereIsRoomKnownGroupsWaitForNothing() async throws {
        let name = try self.server.makeDatabase()
        let (store, other) = (try self.server.open(name, Self.patient), try self.server.open(name))
        let (known, new) = (try Self.reports(10), try Self.invented(1))
        try await other.append { try $0.add(known, countedBy: "a") }
        let intake = ReportIntake(store: other, instance: "a", clock: TurnedClock())
        let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        async let still: Void = store.append { store in
            try store.add(Self.invented(2), countedBy: "b")
            hasBegun.yield()
            mayGoOn.wait()
        }
        for await _ in begun { break }
        async let late: Void = intake.store(new)
        do {
            // Known groups would wait for the one above, and fail when it does not end.
            defer { mayGoOn.signal() }
            while intake.waitingCount < new.count { await Task.yield() }
            for _ in 0..<3 { try await intake.store(known) }
            #expect(intake.waitingCount == new.count)
            #expect(try await store.read { try Self.lockWaits($0) } == [])
        }
        _ = try await (still, late)
        #expect(try await Self.counted(in: other) == 50)
        #expect(intake.waitingCount == 0)
    }

    @Test("one that stands still while it removes a group: a report of that one makes it anew, others wait for nothing")
    func oneThatStandsStillWhileItRemovesAGroupAReportOfThatOneMakesItAnew() async throws {
        let name = try self.server.makeDatabase()
        let (store, other) = (try self.server.open(name, Self.patient), try self.server.open(name))
        let reports = try Self.reports(10)
        try await other.append { try $0.add(reports, countedBy: "a") }
        let intake = ReportIntake(store: other, instance: "a", clock: TurnedClock())
        let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        async let still: Bool = store.append { store in
            let row = try store.connection.rows(
                "SELECT number FROM report_group WHERE host = ?", [.text("h1.example")]
            ).first
            // As retention does, which does not take the lock of groups.
            let isGone = try store.removeGroup(try #require(row).integer(0), if: { _, _ in true })
            hasBegun.yield()
            mayGoOn.wait()
            return isGone
        }
        for await _ in begun { break }
        let ofIt = reports.filter { $0.group.notedHostname == "h1.example" }
        let others = reports.filter { $0.group.notedHostname != "h1.example" }
        async let late: Void = intake.store(ofIt)
        do {
            defer { mayGoOn.signal() }
            while intake.waitingCount < ofIt.count { await Task.yield() }
            for _ in 0..<3 { try await intake.store(others + Self.invented(1)) }
            #expect(intake.waitingCount == ofIt.count)
            #expect(try await store.read { try Self.lockWaits($0) } == [])
        }
        #expect(try await still)
        try await late
        let groups = try await other.read { try $0.groups(GroupFilter(host: "h1.example"), newest: [:]) }
        #expect(groups.map(\.count) == [2])
        #expect(try await Self.counted(in: other) == 49)
    }

    @Test("four under load, and room for groups that strangers invent: none is ever seen to wait, nothing is lost")
    func fourUnderLoadAndRoomForGroupsThatStrangersInventNoneIsEverSeenToWait() async throws {
        let name = try self.server.makeDatabase()
        let stores = try (0..<4).map { _ in try self.server.open(name) }
        let reports = try Self.reports(60)
        try await stores[0].append { try $0.add(reports, countedBy: "first") }
        let rounds = 40
        let waits = try await withThrowingTaskGroup(of: [String].self) { group in
            for (number, store) in stores.enumerated() {
                let intake = ReportIntake(store: store, instance: "\(number)", clock: TurnedClock())
                group.addTask {
                    var waits: [String] = []
                    for round in 1...rounds {
                        // Of its own, and the same at all four.
                        let (own, same) = (try Self.invented(number * rounds + round), try Self.invented(1_000 + round))
                        async let new: Void = intake.store(own)
                        async let shared: Void = intake.store(same)
                        try await intake.store(reports)
                        // The three others are in the middle of theirs.
                        waits += try await store.read { try Self.lockWaits($0) }
                        _ = try await (new, shared)
                    }
                    return waits
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(waits == [])
        #expect(try await Self.counted(in: stores[3]) == Int64(60 + 70 * 4 * rounds))
        let groups = try await stores[3].read {
            try $0.connection.rows("SELECT COUNT(*) FROM report_group", []).first?.integer(0)
        }
        #expect(groups == Int64(5 + 5 * 4 * rounds + 5 * rounds))
    }

    @Test("four under load, and no room for groups that strangers invent: none is ever seen to wait, nothing is lost")
    func fourUnderLoadAndNoRoomForGroupsThatStrangersInventNoneIsEverSeenToWait() async throws {
        let name = try self.server.makeDatabase()
        let stores = try (0..<4).map { _ in try self.server.open(name) }
        let reports = try Self.reports(60)
        try await stores[0].append { try $0.add(reports, countedBy: "first") }
        try await StoredReportTests.fill(stores[0], ReportGroup.maximumGroups / 2, isListed: false)
        try await stores[0].append { try $0.add(Self.invented(0), countedBy: "first") }
        let rounds = 40
        let waits = try await withThrowingTaskGroup(of: [String].self) { group in
            for (number, store) in stores.enumerated() {
                group.addTask {
                    var waits: [String] = []
                    for round in 1...rounds {
                        try await store.append {
                            try $0.add(reports + Self.invented(number * rounds + round), countedBy: "\(number)")
                        }
                        // The three others are in the middle of theirs.
                        waits += try await store.read { try Self.lockWaits($0) }
                    }
                    return waits
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(waits == [])
        #expect(try await Self.counted(in: stores[3]) == Int64(65 * (4 * rounds + 1)))
    }

    @Test("the same new groups come to four at once: each is there once")
    func sameNewGroupsComeToFourAtOnceEachIsThereOnce() async throws {
        let name = try self.server.makeDatabase()
        let stores = try (0..<4).map { _ in try self.server.open(name) }
        let reports = try Self.reports(40, hosts: 20)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, store) in stores.enumerated() {
                let intake = ReportIntake(store: store, instance: "\(number)", clock: TurnedClock())
                group.addTask { try await intake.store(reports) }
            }
            try await group.waitForAll()
        }
        let groups = try await stores[0].read { try $0.groups(GroupFilter(), newest: [:]) }
        #expect(groups.map(\.count) == Array(repeating: 8, count: 20))
    }

    @Test("each day has a table of its own, and one that has ended goes as a whole")
    func eachDayHasATableOfItsOwnAndOneThatHasEndedGoesAsAWhole() async throws {
        let store = try self.server.open()
        let start = TurnedClock.start
        for day: Int64 in [0, 1, 2, 5] {
            let reports = try Self.reports(10, at: start.before(day * 86_400))
            try await store.append { try $0.add(reports, countedBy: "a") }
        }
        let parts = {
            try await store.read {
                try $0.connection.rows("SELECT part FROM report_day_parts() ORDER BY 1", []).map { try $0.text(0) }
            }
        }
        let today = start.hour / 24
        #expect(try await parts() == ([5, 2, 1, 0] as [Int64]).map { "report_day_\(today - $0)" })
        let removed = try await store.write { try $0.removeReports(before: start.before(86_400), limit: 1) }
        #expect(removed == 2)
        #expect(try await parts() == ([1, 0] as [Int64]).map { "report_day_\(today - $0)" })
        let stored = try await store.read {
            try $0.connection.rows("SELECT COUNT(*) FROM report", []).first?.integer(0)
        }
        #expect(stored == 20)
    }

    @Test("many rows are copied with what a text format would have to escape")
    func manyRowsAreCopiedWithWhatATextFormatWouldHaveToEscape() async throws {
        let store = try self.server.open()
        let rows: [[SQLValue]] = (0..<4_000).map { number in
            [
                .integer(Int64(number) - 5), number % 2 == 0 ? .null : .real(0.5), .text("a\tb\n\\.\(number)"),
                .blob([0, 255]),
            ]
        }
        let insertion = SQLInsertion(into: "trial", ["number", "part", "words", "bytes"])
        let found = try await store.write { store in
            try store.connection.execute(TestedStore.postgreSQL.trialTable, [])
            try store.connection.insert(rows, insertion)
            return try store.connection.rows("SELECT number, part, words, bytes FROM trial ORDER BY number", []).map(
                \.values)
        }
        #expect(found == rows)
    }

    @Test("rows that are refused while they are copied leave nothing, and the connection goes on")
    func rowsThatAreRefusedWhileTheyAreCopiedLeaveNothingAndTheConnectionGoesOn() async throws {
        let store = try self.server.open()
        let insertion = SQLInsertion(into: "evidence", ["digest", "name", "at", "envelope"])
        let rows: [[SQLValue]] = (0..<8_000).map {
            [.text("d\($0)"), .text("n"), $0 == 6_000 ? .null : .integer(1), .blob([1])]
        }
        for _ in 0..<2 {
            let error = await #expect(throws: StoreError.self) {
                try await store.write { try $0.connection.insert(rows, insertion) }
            }
            #expect(error?.detail.contains("23502") == true)
        }
        let unknown = await #expect(throws: StoreError.self) {
            try await store.write {
                try $0.connection.insert(rows, SQLInsertion(into: "nothing", ["digest", "a", "b", "c"]))
            }
        }
        #expect(unknown?.code == .damaged)
        try await store.write { try $0.connection.insert(Array(rows.prefix(100)), insertion) }
        let stored = try await store.read {
            try $0.connection.rows("SELECT COUNT(*) FROM evidence", []).first?.integer(0)
        }
        #expect(stored == 100)
    }
}
