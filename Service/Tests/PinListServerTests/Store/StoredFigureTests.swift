// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The figures that a store adds up", .runsPostgreSQL)
struct StoredFigureTests {
    private static let now = Timestamp(secondsSince1970: 1_795_219_200)

    private static func report(_ host: String, hoursAgo: Int64 = 0) throws -> AcceptedReport {
        let text = """
            {"date-time": "\(Self.now)", "hostname": "\(host)", "port": 443, "noted-hostname": "\(host)",
             "validation-result": 1, "tumbler": {"list-name": "com.example.app", "list-version": 1,
             "reason": "no-matching-pin", "signals": []}}
            """
        let time = Self.now.before(hoursAgo * 3_600)
        let report = try #require(try CollectedReport.read(Array(text.utf8), at: time).reports.first)
        return AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: time, networks: nil, isSample: false,
            isListed: true,
            body: report.document)
    }

    @Test("the lists of clients, by windows: each hour in one of them, the oldest first", arguments: TestedStore.all)
    func listsOfClientsByWindowsEachHourInOneOfThemTheOldestFirst(on tested: TestedStore) async throws {
        let hour = Self.now.hour
        @Sendable func key(_ ago: Int64, _ digest: String) -> ListRequestKey {
            ListRequestKey(name: "a", hour: hour - ago, source: .installation, digest: digest)
        }
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { store in
                try store.add([key(0, "x"): 1, key(11, "x"): 2, key(12, "x"): 4, key(23, "y"): 8, key(24, "x"): 16])
            }
            let windows = try await store.read { try $0.listRequests(of: "a", windows: 2, of: 12, until: hour) }
            #expect(windows == [[key(12, "x"): 4, key(23, "y"): 8], [key(0, "x"): 3]])
            let totals = try await store.read { try $0.inquiryTotals(of: "a", since: hour - 12) }
            #expect(totals == [hour: 1, hour - 11: 2, hour - 12: 4])
        }
    }

    @Test("reports by hours and by days", arguments: TestedStore.all)
    func reportsByHoursAndByDays(on tested: TestedStore) async throws {
        let reports = try [0, 0, 3, 30, 168].map { try Self.report("a.example.com", hoursAgo: $0) }
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { try $0.add(reports, countedBy: "one") }
            let (week, all) = (HourGrid(.week, until: Self.now.hour), HourGrid(.all, until: Self.now.hour))
            let counts = try await store.read { store in
                let group = try #require(try store.groups(GroupFilter(), newest: [:]).first).number
                return (
                    try store.groupCounts([group], in: week)[group], try store.groupCounts([group], in: all)[group],
                    try store.kindCounts(in: all).map { [$0.window, $0.count] }.sorted { $0[0] < $1[0] }
                )
            }
            // The hour that is a week old is outside of the week; midnight is where the last day begins.
            #expect(counts.0 == [167: 2, 164: 1, 137: 1])
            #expect(counts.1 == [89: 2, 88: 1, 87: 1, 82: 1])
            #expect(counts.2 == [[82, 1], [87, 1], [88, 1], [89, 2]])
            #expect(all.series([89: 2]).end == Timestamp(secondsSince1970: Self.now.secondsSince1970 + 86_400))
        }
    }

    @Test("hosts that strangers made up do not crowd out those of the lists", arguments: TestedStore.all)
    func hostsThatStrangersMadeUpDoNotCrowdOutThoseOfTheLists(on tested: TestedStore) async throws {
        var reports = [try Self.report("listed.example.com")]
        for number in 0..<(HostRate.maximumUnlisted + 50) {
            for _ in 0..<2 { reports.append(try Self.report("h\(number).example.com")) }
        }
        let all = reports
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { try $0.add(all, countedBy: "one") }
            let rates = try await store.read { try $0.hostRates(listed: ["listed.example.com"], at: Self.now) }
            #expect(rates.count == HostRate.maximumUnlisted + 1)
            #expect(rates.first?.host == "listed.example.com")
            #expect(rates.first?.hours.last == 1)
        }
    }

    @Test("old hours are forgotten, of a group that still fails, too", arguments: TestedStore.all)
    func oldHoursAreForgottenOfAGroupThatStillFailsToo(on tested: TestedStore) async throws {
        let reports = try [0, 100].map { try Self.report("a.example.com", hoursAgo: $0) }
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { try $0.add(reports, countedBy: "one") }
            for table in CountTable.allCases {
                _ = try await store.write {
                    try $0.remove(table, before: Self.now.before(50 * 3_600).hour, limit: 1_000)
                }
            }
            let kept = try await store.read { store in
                let group = try #require(try store.groups(GroupFilter(), newest: [:]).first).number
                return try store.groupCounts([group], in: HourGrid(.all, until: Self.now.hour))[group]
            }
            #expect(kept == [89: 1])
        }
    }
}
