// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Groups that leave for others", .runsPostgreSQL)
struct LeavingGroupTests {
    @Test(
        "groups of one report leave first, the oldest of them, and at most a hundred for one batch",
        arguments: TestedStore.all)
    func groupsOfOneReportLeaveFirstTheOldestOfThemAndAtMostAHundredForOneBatch(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await StoredReportTests.fill(store, ReportGroup.maximumGroups / 2, isListed: false, reports: 1)
            let reports = try (0..<130).map {
                try StoredReportTests.accepted(host: "invented\($0).example", isListed: false)
            }
            try await store.append { try $0.add(reports, countedBy: "a") }
            #expect(try await StoredReportTests.overflow(in: store) == ["pin  30"])
            let rest = try await store.read { store in
                try store.connection.rows(
                    "SELECT COUNT(*), MIN(first_at) FROM group_count WHERE instance = ?", [.text("x")]
                ).map { [try $0.integer(0), try $0.integer(1)] }
            }
            #expect(rest == [[Int64(ReportGroup.maximumGroups / 2) - 100, 101]])
        }
    }

    @Test(
        "invented groups use up the hundred of their own part: in the same batch a listed host still gets a group",
        arguments: TestedStore.all)
    func inventedGroupsUseUpTheHundredOfTheirOwnPartInTheSameBatchAListedHostStillGetsAGroup(
        on tested: TestedStore
    ) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            for isListed in [false, true] {
                try await StoredReportTests.fill(store, ReportGroup.maximumGroups / 2, isListed: isListed, reports: 1)
            }
            let invented = try (0..<130).map {
                try StoredReportTests.accepted(host: "invented\($0).example", isListed: false)
            }
            let reports = invented + [try StoredReportTests.accepted(host: "known.example")]
            try await store.append { try $0.add(reports, countedBy: "a") }
            #expect(try await StoredReportTests.overflow(in: store) == ["pin  30"])
            let groups = try await store.read { try $0.groups(GroupFilter(host: "known.example"), newest: [:]) }
            #expect(groups.map(\.count) == [1])
        }
    }

    /// A report of a version of an app at one listed host, so many seconds old.
    private static func report(_ version: String, age seconds: Int64 = 0, networks: Int = 1) throws -> AcceptedReport {
        let report = try ReportText.report(
            chain: [], [("noted-hostname", .string("full.example")), ("app-version", .string(version))])
        let time = TurnedClock.start.before(seconds)
        return AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: time,
            networks: NetworkCounter.Count(day: time.hour / 24, networks: BoundedCount(networks, isMore: false)),
            isSample: false, isListed: true, body: report.document)
    }

    /// The versions of which there are groups.
    private static func versions(in store: any ServiceStore) async throws -> Set<String> {
        let versions = try await store.read { store in
            try store.connection.rows(
                "SELECT app_version FROM report_group WHERE reason <> ?", [.text(ReportGroup.overflowReason)]
            ).map { try $0.text(0) }
        }
        return Set(versions)
    }

    @Test(
        "made-up groups fill a host's share, reported twice two days ago: they leave, the oldest first, and no others do",
        arguments: TestedStore.all)
    func madeUpGroupsFillAHostsShareReportedTwiceTwoDaysAgoTheyLeaveTheOldestFirstAndNoOthersDo(
        on tested: TestedStore
    ) async throws {
        let (day, share) = (Int64(86_400), GroupQuota(listed: 0, other: 0).maximumOfShare(isListed: true))
        // Older than those that are made up, and reported again today, often, or by three networks.
        let today = [try Self.report("today", age: 3 * day), try Self.report("today")]
        let often = try (0...GroupQuota.maximumOfSmallGroup).map { _ in try Self.report("often", age: 3 * day) }
        let networks = try (0..<2).map { _ in try Self.report("networks", age: 3 * day, networks: 3) }
        let old = try (0..<(share - 3)).map { try Self.report("old \($0)", age: 2 * day + Int64($0)) }
        let (early, new) = (today + often + networks, [try Self.report("new")])
        try await tested.withDatabase { open in
            let store = try open()
            for reports in [early, old, old, new] {
                try await store.append { try $0.add(reports, countedBy: "a") }
            }
            let versions = try await Self.versions(in: store)
            #expect(versions.count == share)
            #expect(versions.contains("new") && !versions.contains("old \(old.count - 1)"))
            let rows = try await store.read {
                try $0.connection.rows("SELECT COUNT(*) FROM report", []).first?.integer(0)
            }
            #expect(rows == Int64(early.count + 2 * (old.count - 1) + 1))
            // None of these, which are reported twice today, leaves for another.
            for flood in 0..<7 {
                let reports = try (0..<100).map { try Self.report("flood \(flood) \($0)") }
                try await store.append { try $0.add(reports + reports, countedBy: "a") }
            }
            let last = try await Self.versions(in: store)
            #expect(last.count == share)
            #expect(last.filter { !$0.hasPrefix("flood") }.sorted() == ["networks", "often", "today"])
            let overflowed = 2 * (7 * 100 - (share - 3))
            #expect(try await StoredReportTests.overflow(in: store) == ["pin full.example \(overflowed)"])
            let orphans = try await store.read {
                try $0.connection.rows(
                    "SELECT COUNT(*) FROM report WHERE group_number NOT IN (SELECT number FROM report_group)", []
                ).first?.integer(0)
            }
            #expect(orphans == 0)
        }
    }

    @Test(
        "made-up groups fill the part of listed hosts, reported twice long ago: a listed host still gets a group",
        arguments: TestedStore.all)
    func madeUpGroupsFillThePartOfListedHostsReportedTwiceLongAgoAListedHostStillGetsAGroup(
        on tested: TestedStore
    ) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await StoredReportTests.fill(store, ReportGroup.maximumGroups / 2, isListed: true, reports: 2)
            try await store.append {
                try $0.add([try StoredReportTests.accepted(host: "known.example")], countedBy: "a")
            }
            #expect(try await StoredReportTests.overflow(in: store) == [])
            let groups = try await store.read { try $0.groups(GroupFilter(host: "known.example"), newest: [:]) }
            #expect(groups.map(\.count) == [1])
            let rest = try await store.read { store in
                try store.connection.rows(
                    "SELECT COUNT(*), MIN(last_at) FROM group_count WHERE instance = ?", [.text("x")]
                ).map { [try $0.integer(0), try $0.integer(1)] }
            }
            #expect(rest == [[Int64(ReportGroup.maximumGroups / 2) - 1, 2]])
        }
    }
}
