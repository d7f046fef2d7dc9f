// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer

@Suite("Forgetting reports", .runsPostgreSQL)
struct RetentionTests {
    private static func add(_ count: Int, _ host: String, days: Int64, to store: any ServiceStore) async throws {
        let report = try ReportText.report(ReportText.body([("noted-hostname", .string(host))]))
        let accepted = AcceptedReport(
            report: report, group: ReportGroup(report),
            receivedAt: Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 - days * 86_400),
            networks: NetworkCounter.Count(
                day: TurnedClock.start.secondsSince1970 / 86_400 - days, networks: BoundedCount(1, isMore: false)),
            isSample: false, isListed: true,
            body: report.document)
        let reports = Array(repeating: accepted, count: count)
        try await store.write { try $0.add(reports, countedBy: "a") }
    }

    private static func look(_ store: any ServiceStore, days: Int64, megabytes: Int64) async {
        await Retention(
            store: store, limits: .init(days: days, megabytes: megabytes), clock: TurnedClock(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ).look()
    }

    private static func rows(_ store: any ServiceStore) async throws -> [String: Int64] {
        try await store.read { store in
            var counts: [String: Int64] = [:]
            for (table, _, _) in StoreMove.tables {
                counts[table] = try store.connection.rows("SELECT COUNT(*) FROM \(table)", []).first?.integer(0)
            }
            return counts.filter { $0.value > 0 }
        }
    }

    @Test(
        "by age reports go with all that was counted of them; the log, lists and tokens stay",
        arguments: TestedStore.all)
    func age(on tested: TestedStore) async throws {
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
                    try store.add([InquiryKey(name: "a", hour: hour, source: .log, digest: ""): 3])
                }
            }
            try await Self.add(5, "old.example", days: 91, to: store)
            try await Self.add(3, "new.example", days: 89, to: store)
            await Self.look(store, days: 90, megabytes: 2_048)
            #expect(
                try await Self.rows(store) == [
                    "audit": 3, "root": 1, "list": 1, "token": 1, "inquiry": 1, "report": 3, "report_body": 3,
                    "report_group": 1, "report_hour": 1, "group_hour": 1, "group_network": 1, "group_leaf": 1,
                ])
            await Self.look(store, days: 1, megabytes: 2_048)
            #expect(
                try await Self.rows(store) == ["audit": 3, "root": 1, "list": 1, "token": 1, "inquiry": 1])
        }
    }

    @Test("by size the oldest reports go first")
    func size() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await Self.add(6_000, "old.example", days: 2, to: store)
            try await Self.add(1_000, "new.example", days: 1, to: store)
            let before = try await store.size()
            #expect(before > 0)
            await Self.look(store, days: 90, megabytes: before / 1_000_000 + 1)
            #expect(try await Self.rows(store)["report"] == 7_000)
            // Under what even an empty database takes: all reports go, and it ends.
            await Self.look(store, days: 90, megabytes: 0)
            #expect(try await Self.rows(store)["report"] == nil)
            #expect(try await Self.rows(store)["report_group"] == 2)
            try await Self.add(1, "old.example", days: 2, to: store)
            let removed = try await store.write { store in
                try store.removeReports(before: Timestamp(secondsSince1970: .max), limit: 5)
            }
            #expect(removed == 1)
        }
    }

    @Test("of several the oldest are removed, and their bodies with them", arguments: TestedStore.all)
    func oldestFirst(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await Self.add(2, "new.example", days: 1, to: store)
            try await Self.add(2, "old.example", days: 3, to: store)
            let removed = try await store.write { store in
                try store.removeReports(before: Timestamp(secondsSince1970: .max), limit: 3)
            }
            #expect(removed == 3)
            let left = try await store.read { store in
                try store.connection.rows(
                    "SELECT received_at FROM report JOIN report_body ON report_body.report = report.number", []
                ).map { try $0.integer(0) }
            }
            #expect(left == [TurnedClock.start.secondsSince1970 - 86_400])
        }
    }
}
