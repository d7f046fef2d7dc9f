// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import NIOConcurrencyHelpers
import PinListMetadata
import PinningTesting
import ServiceLifecycle
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Forgetting reports", .runsPostgreSQL)
struct RetentionTests {
    /// A report of a number of days ago.
    static func report(_ host: String, days: Int64) throws -> AcceptedReport {
        let report = try ReportText.report(ReportText.body([("noted-hostname", .string(host))]))
        return AcceptedReport(
            report: report, group: ReportGroup(report),
            receivedAt: Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 - days * 86_400),
            networks: NetworkCounter.Count(
                day: TurnedClock.start.secondsSince1970 / 86_400 - days, networks: BoundedCount(1, isMore: false)),
            isSample: false, isListed: true,
            body: report.document)
    }

    static func add(_ count: Int, _ host: String, days: Int64, to store: any ServiceStore) async throws {
        let reports = Array(repeating: try Self.report(host, days: days), count: count)
        try await store.write { try $0.add(reports, countedBy: "a") }
    }

    static func look(_ store: any ServiceStore, days: Int64, megabytes: Int64) async {
        await Retention(
            store: store, limits: .init(days: days, megabytes: megabytes), clock: TurnedClock(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ).look()
    }

    static func rows(_ store: any ServiceStore) async throws -> [String: Int64] {
        try await store.read { store in
            var counts: [String: Int64] = [:]
            for (table, _, _) in StoreMove.tables {
                counts[table] = try store.connection.rows("SELECT COUNT(*) FROM \(table)", []).first?.integer(0)
            }
            return counts.filter { $0.value > 0 }
        }
    }

    /// A service that looks once, and whose store is held up until it is told to end.
    private struct Look: Service {
        let retention: Retention
        let gate: GatedStore

        func run() async throws {
            await withGracefulShutdownHandler {
                await self.retention.look()
            } onGracefulShutdown: {
                self.gate.open()
            }
        }
    }

    @Test("a service that is told to end while it deletes begins nothing more")
    func serviceThatIsToldToEndWhileItDeletesBeginsNothingMore() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let gate = GatedStore(try open())
            let store = WrappedStore(gate)
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let retention = Retention(
                store: store, limits: .init(days: 90, megabytes: 2_048), clock: TurnedClock(), logger: logger)
            let group = ServiceGroup(services: [Look(retention: retention, gate: gate)], logger: logger)
            async let end: Void = group.run()
            // The lease is being taken.
            await gate.untilWriting()
            await group.triggerGracefulShutdown()
            try await end
            #expect(store.writes == 1)
        }
    }

    @Test(
        "by age reports go with all that was counted of them; the log, lists and tokens stay",
        arguments: TestedStore.all)
    func byAgeReportsGoWithAllThatWasCountedOfThemTheLogListsAndTokensStay(on tested: TestedStore) async throws {
        let repository = try RepositorySimulator.story()
        try await tested.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli",
                at: TurnedClock.start)
            let random = (0..<40).map { UInt8($0) }
            let token = try #require(AccessToken.make(.read, names: [], random: random, at: TurnedClock.start)).token
            let old = TurnedClock.start.hour - 100 * 24
            try await store.write { store in
                try store.add(token)
                try store.log("note", "long ago", by: "test", at: Timestamp(secondsSince1970: 0))
                for hour in [old, TurnedClock.start.hour] {
                    try store.add([ListRequestKey(name: "a", hour: hour, source: .log, digest: ""): 3])
                }
            }
            try await Self.add(5, "old.example", days: 91, to: store)
            try await Self.add(3, "new.example", days: 89, to: store)
            await Self.look(store, days: 90, megabytes: 2_048)
            #expect(
                try await Self.rows(store) == [
                    "audit": 3, "root": 1, "list": 1, "publication": 1, "token": 1, "inquiry": 1, "report": 3,
                    "report_group": 1, "group_count": 1, "report_hour": 1, "group_hour": 1, "group_network": 1,
                    "group_leaf": 1,
                ])
            await Self.look(store, days: 1, megabytes: 2_048)
            #expect(
                try await Self.rows(store) == [
                    "audit": 3, "root": 1, "list": 1, "publication": 1, "token": 1, "inquiry": 1,
                ])
        }
    }

    @Test("where reports are kept for a day, what is usual is still that of a week", arguments: TestedStore.all)
    func whereReportsAreKeptForADayWhatIsUsualIsStillThatOfAWeek(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            for days in Int64(0)..<9 { try await Self.add(12, "a.example", days: days, to: store) }
            await Self.look(store, days: 1, megabytes: 2_048)
            #expect(try await Self.rows(store)["report_hour"] == 8)
            let rate = try #require(try await store.read { try $0.hostRates(listed: [], at: TurnedClock.start) }.first)
            #expect(rate.usual == 7.0 * 12 / 167)
        }
    }

    @Test("by size the oldest reports go first")
    func bySizeTheOldestReportsGoFirst() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await Self.add(6_000, "old.example", days: 2, to: store)
            try await Self.add(1_000, "new.example", days: 1, to: store)
            let before = try await store.size()
            #expect(before > 0)
            await Self.look(store, days: 90, megabytes: before / 1_000_000 + 1)
            #expect(try await Self.rows(store)["report"] == 7_000)
            // Under what even an empty database takes: all reports go, and it ends.
            for _ in 0..<3 { await Self.look(store, days: 90, megabytes: 0) }
            #expect(try await Self.rows(store)["report"] == nil)
            #expect(try await Self.rows(store)["report_group"] == 2)
            try await Self.add(1, "old.example", days: 2, to: store)
            let removed = try await store.write { store in
                try store.removeReports(before: Timestamp(secondsSince1970: .max), limit: 5)
            }
            #expect(removed == 1)
        }
    }

    @Test("the room of other tables is not taken from reports, and the log names the largest once an hour")
    func roomOfOtherTablesIsNotTakenFromReportsAndTheLogNamesTheLargestOnceAnHour() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            // More than half of the limit, and less than all of it.
            var count: Int64 = 0
            repeat {
                try await Self.add(500, "a.example", days: 2, to: store)
                count += 500
            } while try await StoreRoom(sizes: store.sizes(), limit: 0).forgotten < 1_400_000
            let envelope = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
            try await store.write { store in
                for version: Int64 in 1...3 { try store.addRoot(envelope, version: version, name: "a") }
            }
            let (lines, clock) = (NIOLockedValueBox([String]()), TurnedClock())
            let retention = Retention(
                store: store, limits: .init(days: 90, megabytes: 2), clock: clock,
                logger: Logger(label: "test") { _ in Lines(lines: lines) })
            for _ in 0..<2 { await retention.look() }
            #expect(lines.withLockedValue { $0.count } == 1)
            let line = lines.withLockedValue { $0.first }
            #expect(line?.contains("of 2 MB: root 4 MB") == true)
            #expect(line?.contains("nothing is forgotten for it") == true)
            clock.turn(by: Retention.complaintInterval)
            await retention.look()
            #expect(lines.withLockedValue { $0.count } == 2)
            #expect(try await Self.rows(store)["report"] == count)
        }
    }

    /// The lines of the log.
    struct Lines: LogHandler {
        let lines: NIOLockedValueBox<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) { self.lines.withLockedValue { $0.append(event.message.description) } }
    }

    @Test("reports and counts go for what they take beyond the limit, whatever the others take")
    func reportsAndCountsGoForWhatTheyTakeBeyondTheLimitWhateverTheOthersTake() {
        func room(_ reports: Int64, _ others: Int64) -> StoreRoom {
            StoreRoom(sizes: ["report": reports, "inquiry": 1, "list": others], limit: 100)
        }
        #expect(room(99, 0).excess == 0)
        #expect(room(109, 0).excess == 10)
        #expect(room(59, 60).excess == 0)
        #expect(room(99, 1_000).excess == 0)
        #expect(room(109, 1_000).excess == 10)
        // Reports that fill the limit are as it is meant; what others take is said.
        #expect(room(99, 10).complaint == nil)
        #expect(room(99, 11).complaint != nil)
        #expect(room(109, 0).complaint != nil)
        #expect(room(9, 90).complaint == nil)
        #expect(room(9, 91).complaint != nil)
    }

    @Test("of a day that alone is too much the oldest reports go, and no more of them the next time", .needsPostgreSQL)
    func ofADayThatAloneIsTooMuchTheOldestReportsGoAndNoMoreOfThemTheNextTime() async throws {
        try await TestedStore.postgreSQL.withDatabase { open in
            let store = try open()
            for host in ["old.example", "new.example"] { try await Self.add(6_000, host, days: 0, to: store) }
            let room = StoreRoom(sizes: try await store.sizes(), limit: 1_000_000)
            try #require(room.excess > 0)
            await Self.look(store, days: 90, megabytes: 1)
            let left = try await Self.rows(store)["report"] ?? 0
            // What is left takes as much as is allowed, about.
            let share = Double(left) / 12_000 * Double(room.sizes["report"] ?? 0)
            #expect((500_000...1_200_000).contains(share))
            let first = try await store.read {
                try $0.connection.rows("SELECT MIN(number), MAX(number) FROM report", []).first?.values
            }
            #expect(first == [.integer(12_001 - left), .integer(12_000)])
            // The files are as large as they were: that is no reason to forget more.
            await Self.look(store, days: 90, megabytes: 1)
            #expect(try await left - (Self.rows(store)["report"] ?? 0) <= 50)
        }
    }

    @Test("counts that are too much by themselves go, although reports still come", .needsPostgreSQL)
    func countsThatAreTooMuchByThemselvesGoAlthoughReportsStillCome() async throws {
        try await TestedStore.postgreSQL.withDatabase { open in
            let store = try open()
            let today = TurnedClock.start.hour / 24
            for ago: Int64 in 0..<20 {
                let keys = (0..<1_000).map {
                    ListRequestKey(name: "a", hour: (today - ago) * 24, source: .log, digest: "\($0)")
                }
                try await store.write { try $0.add(Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) })) }
            }
            let room = StoreRoom(sizes: try await store.sizes(), limit: 1_000_000)
            try #require(room.excess >= room.sizes["report"] ?? 0)
            for _ in 0..<2 {
                try await Self.add(10, "a.example", days: 0, to: store)
                await Self.look(store, days: 90, megabytes: 1)
            }
            #expect(try await Self.rows(store)["report"] == 20)
            let oldest = try await store.read {
                try $0.connection.rows("SELECT MIN(hour) / 24 FROM inquiry", []).first?.optionalInteger(0)
            }
            #expect(try #require(oldest) > today - 19)
        }
    }

    @Test("without any reports left the oldest counts go, and never today's", arguments: TestedStore.all)
    func withoutAnyReportsLeftTheOldestCountsGoAndNeverTodays(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let today = TurnedClock.start.hour / 24
            for ago: Int64 in 0..<40 {
                try await store.write {
                    try $0.add([ListRequestKey(name: "a", hour: (today - ago) * 24, source: .log, digest: ""): 1])
                }
            }
            func oldest() async throws -> Int64? {
                try await store.read {
                    try $0.connection.rows("SELECT MIN(hour) / 24 FROM inquiry", []).first?.optionalInteger(0)
                }
            }
            func forget() async throws {
                let end = try await store.read { try $0.endOfOldestCounts(before: today) }
                guard let end else { return }
                // In batches that are smaller than what goes.
                for _ in 0..<9 { _ = try await store.write { try $0.remove(.inquiry, before: end, limit: 1) } }
            }
            try await forget()
            #expect(try await oldest() == today - 36)
            for _ in 0..<40 { try await forget() }
            #expect(try await oldest() == today)
        }
    }

    @Test("bodies are kept again when those that were kept are forgotten", arguments: TestedStore.all)
    func bodiesAreKeptAgainWhenThoseThatWereKeptAreForgotten(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await Self.add(20, "a.example", days: 91, to: store)
            try await Self.add(1, "a.example", days: 1, to: store)
            await Self.look(store, days: 90, megabytes: 2_048)
            try await Self.add(20, "a.example", days: 0, to: store)
            let bodies = try await store.read {
                try $0.connection.rows("SELECT 1 FROM report WHERE body IS NOT NULL", []).count
            }
            #expect(bodies == 16)
        }
    }

    @Test("bodies are kept again of a group whose oldest reports went by size", arguments: TestedStore.all)
    func bodiesAreKeptAgainOfAGroupWhoseOldestReportsWentBySize(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await Self.add(20, "a.example", days: 2, to: store)
            for _ in 0..<3 { await Self.look(store, days: 90, megabytes: 0) }
            #expect(try await Self.rows(store)["report"] == nil)
            try await Self.add(20, "a.example", days: 0, to: store)
            let bodies = try await store.read {
                try $0.connection.rows("SELECT 1 FROM report WHERE body IS NOT NULL", []).count
            }
            #expect(bodies == 16)
        }
    }

    @Test("of two instances one forgets at a time")
    func ofTwoInstancesOneForgetsAtATime() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await Self.add(5, "old.example", days: 91, to: store)
            _ = try await store.write {
                try $0.takeLease("retention", for: "other", at: TurnedClock.start, seconds: 60)
            }
            await Self.look(store, days: 90, megabytes: 2_048)
            #expect(try await Self.rows(store)["report"] == 5)
        }
    }

    @Test("of several the oldest are removed, and their bodies with them")
    func ofSeveralTheOldestAreRemovedAndTheirBodiesWithThem() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await Self.add(2, "new.example", days: 1, to: store)
            try await Self.add(2, "old.example", days: 3, to: store)
            let removed = try await store.write { store in
                try store.removeReports(before: Timestamp(secondsSince1970: .max), limit: 3)
            }
            #expect(removed == 3)
            let left = try await store.read { store in
                try store.connection.rows(
                    "SELECT received_at FROM report WHERE body IS NOT NULL", []
                ).map { try $0.integer(0) }
            }
            #expect(left == [TurnedClock.start.secondsSince1970 - 86_400])
        }
    }

    @Test("gaps where groups of strangers left do not make the oldest go in larger numbers than is needed")
    func gapsWhereGroupsOfStrangersLeftDoNotMakeTheOldestGoInLargerNumbersThanIs() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await Self.add(6_000, "old.example", days: 3, to: store)
            try await Self.add(30_000, "stranger.example", days: 2, to: store)
            let isRemoved = try await store.write { store in
                let group = try store.connection.rows(
                    "SELECT number FROM report_group WHERE host = 'stranger.example'", []
                ).first?.integer(0)
                return try store.removeGroup(try #require(group)) { _, _ in true }
            }
            #expect(isRemoved)
            // A size that is a fifth to two fifths of a megabyte over a limit.
            var size: Int64
            repeat {
                try await Self.add(500, "new.example", days: 1, to: store)
                size = try await StoreRoom(sizes: store.sizes(), limit: 0).forgotten
            } while !(200_000...400_000).contains(size % 1_000_000)
            let limit = size / 1_000_000
            let room = StoreRoom(sizes: try await store.sizes(), limit: limit * 1_000_000)
            let before = try await Self.rows(store)["report"] ?? 0
            try #require(room.excess > 0)
            // By the range of their numbers there would be many more, each smaller, and more of them would go.
            let range = try await store.read { store in
                try store.connection.rows("SELECT MAX(number) - MIN(number) + 1 FROM report", []).first?.integer(0) ?? 0
            }
            try #require(range >= before + 30_000)
            await Self.look(store, days: 90, megabytes: limit)
            let left = try await Self.rows(store)["report"] ?? 0
            #expect(left < before)
            #expect(before - left <= room.excess / (room.forgotten / before) + 1)
        }
    }
}
