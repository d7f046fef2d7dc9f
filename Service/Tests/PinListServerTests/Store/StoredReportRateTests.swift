// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The sampling rates that a publication changes", .runsPostgreSQL)
struct StoredReportRateTests {
    private static let start = TurnedClock.start

    private static func rows(_ store: any ServiceStore) async throws -> [String] {
        try await store.read { store in
            try store.connection.rows("SELECT host, since, per_million FROM report_rate ORDER BY since, host", []).map {
                try "\($0.text(0)) \($0.integer(1) - Self.start.secondsSince1970) \($0.integer(2))"
            }
        }
    }

    private static func report(_ host: String, _ reason: String, at time: Timestamp) throws -> AcceptedReport {
        let text = """
            {"date-time": "\(time)", "hostname": "\(host)", "port": 443, "noted-hostname": "\(host)",
             "validation-result": 1, "tumbler": {"list-name": "com.example.app", "list-version": 1,
             "reason": "\(reason)", "signals": []}}
            """
        let report = try #require(try CollectedReport.read(Array(text.utf8), at: time).reports.first)
        return AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: time, networks: nil, isSample: false,
            isListed: true, body: report.document)
    }

    @Test("a row for each host whose number changes, none for what stays", arguments: TestedStore.all)
    func rowForEachHostWhoseNumberChangesNoneForWhatStays(on tested: TestedStore) async throws {
        var repository = try RepositorySimulator.story(["a.example", "b.example"].map { try .pinned($0) })
        let second = try repository.publishList { list in
            list.reportPerMillion = 10_000
            list.domains[1].reportPerMillion = 1_000_000
        }
        let third = try repository.publishList { list in
            list.reportPerMillion = 10_000
            list.domains[1].reportPerMillion = 5
        }
        let fourth = try repository.publishList { list in
            list.reportPerMillion = 1_000_000
            list.domains[1].reportPerMillion = nil
        }
        let (anchors, root, first) = (repository.anchors, repository.roots[0], repository.lists[0])
        try await tested.withDatabase { open in
            let store = try open()
            let publisher = Publisher(store: store, anchors: anchors)
            for (place, envelopes) in [[root, first], [second], [second], [third], [fourth]].enumerated() {
                _ = try await publisher.publish(
                    envelopes, name: "com.example.app", by: "cli", at: Self.start.advanced(by: Int64(place) * 60))
            }
            #expect(
                try await Self.rows(store) == [
                    "a.example 60 10000", "b.example 180 5", "a.example 240 1000000", "b.example 240 1000000",
                ])
            // A refused publication notes nothing.
            await #expect(throws: PublicationError.self) {
                try await publisher.publish([second], name: "com.example.app", by: "cli", at: Self.start)
            }
            #expect(try await Self.rows(store).count == 4)
        }
    }

    @Test(
        "the chart of all failures multiplies by host and hour; denied keys and groups stay as they came",
        arguments: TestedStore.all)
    func chartOfAllFailuresMultipliesByHostAndHour(on tested: TestedStore) async throws {
        var list = try RepositorySimulator.story(["a.example", "b.example"].map { try .pinned($0) }).list
        list.domains[0].reportPerMillion = 10_000
        let quiet = list
        let (now, hour) = (Self.start, Int64(3_600))
        var reports: [AcceptedReport] = []
        for (host, reason, ago) in [
            ("a.example", "no-matching-pin", 0), ("a.example", "no-matching-pin", 0), ("a.example", "denied-key", 0),
            ("a.example", "no-matching-pin", 30), ("b.example", "no-matching-pin", 0),
            ("c.example", "no-matching-pin", 0),
        ] as [(String, String, Int64)] {
            reports.append(try Self.report(host, reason, at: now.before(ago * hour)))
        }
        let all = reports
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { store in
                try store.add(all, countedBy: "one")
                try store.noteReportRates(of: quiet, at: now.before(10 * hour))
            }
            try await store.read { store in
                let grid = HourGrid(.week, until: now.hour)
                let unreported = try store.unreported(in: grid)
                #expect(unreported.windows == [grid.count - 1: 198])
                #expect(unreported.factors == [1, 100])
                let kinds = try store.kindCounts(in: grid)
                #expect(kinds.filter { CountedKind.isPinFailure($0.kind) }.reduce(0) { $0 + $1.count } == 6)
                let rate = try #require(
                    try store.hostRates(listed: ["a.example", "b.example"], at: now).first { $0.host == "a.example" })
                #expect(rate.lastHour == 3 && rate.pinFailures == 3)
                #expect(rate.multiplied.hours.last == 201)
                let shown = DashboardPages.rate(rate, now)
                #expect(shown.lastHour == 201 && shown.reported == 3)
                #expect(shown.caption == "Multiplied by up to 100, for as few as one in 100 installations reports.")
                #expect(try store.groups(GroupFilter(host: "a.example"), newest: [:]).map(\.count).sorted() == [1, 3])
            }
        }
    }

    @Test(
        "a host that left its list is a host of no list: its reports are multiplied until then",
        arguments: TestedStore.all)
    func hostThatLeftItsListIsAHostOfNoListItsReportsAreMultipliedUntilThen(on tested: TestedStore) async throws {
        var list = try RepositorySimulator.story(["a.example", "b.example"].map { try .pinned($0) }).list
        list.domains[0].reportPerMillion = 10_000
        let quiet = list
        list.domains.removeFirst()
        let without = list
        let (now, hour) = (Self.start, Int64(3_600))
        let reports = try [0, 30].map { try Self.report("a.example", "no-matching-pin", at: now.before($0 * hour)) }
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { store in
                for (ago, list) in [(40, quiet), (10, without), (5, without)] as [(Int64, PinList)] {
                    try store.noteReportRates(of: list, at: now.before(ago * hour))
                }
            }
            #expect(try await Self.rows(store) == ["a.example -144000 10000", "a.example -36000 0"])
            try await store.write { try $0.add(reports, countedBy: "one") }
            try await store.read { store in
                let unreported = try store.unreported(in: HourGrid(.week, until: now.hour))
                #expect(Array(unreported.windows.values) == [99])
                let rate = try #require(try store.hostRates(listed: [], at: now).first { $0.host == "a.example" })
                #expect(rate.multiplied.lastHour == 1 && rate.multiplied.hours.last == 1)
            }
        }
    }

    @Test(
        "numbers that a newer one replaced go when no chart and no alarm looks that far back; what is shown stays",
        arguments: TestedStore.all, [90, 1] as [Int64])
    func numbersThatANewerOneReplacedGoWhenNoChartAndNoAlarmLooksThatFarBack(on tested: TestedStore, days: Int64)
        async throws
    {
        var list = try RepositorySimulator.story(["a.example", "b.example"].map { try .pinned($0) }).list
        let day: Int64 = 86_400
        let now = Self.start
        try await tested.withDatabase { open in
            let store = try open()
            for (ago, share) in [(200, 10_000), (100, 5_000), (50, 7_000), (3, 20_000)] as [(Int64, Int64)] {
                list.domains[0].reportPerMillion = share
                let quiet = list
                try await store.write { try $0.noteReportRates(of: quiet, at: now.before(ago * day)) }
            }
            list.domains[1].reportPerMillion = 9
            let last = list
            let reports = try (0..<80).map { try Self.report("a.example", "no-matching-pin", at: now.before($0 * day)) }
            try await store.write { store in
                try store.noteReportRates(of: last, at: now.before(150 * day))
                try store.add(reports, countedBy: "one")
            }
            let before = try await store.read { try $0.unreported(in: HourGrid(.week, until: now.hour)).windows }
            await Retention(
                store: store, limits: .init(days: days, megabytes: 2_048), clock: TurnedClock(now),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ).look()
            let kept = ["a.example -8640000 5000", "a.example -4320000 7000", "a.example -259200 20000"]
            let rows = try await Self.rows(store).filter { $0.hasPrefix("a.") }
            #expect(rows == (days == 90 ? kept : Array(kept.dropFirst())))
            // The newest of a host stays, however old it is.
            #expect(try await Self.rows(store).filter { $0.hasPrefix("b.") } == ["b.example -12960000 9"])
            guard days == 90 else { return }
            #expect(
                try await store.read { try $0.unreported(in: HourGrid(.week, until: now.hour)).windows } == before)
        }
    }
}
