// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("What the page of failures asks of the store", .runsPostgreSQL)
struct FailurePageCostTests {
    /// A chain that the platform refused, reported by a device whose clock shows `TurnedClock.start`.
    private static func refusal(daysAgo days: Int64) throws -> AcceptedReport {
        let tumbler = [
            JSONValue.Member("list-name", .string("com.example.app")), .init("list-version", .integer(7)),
            .init("reason", .string("chain-invalid")),
        ]
        let report = try ReportText.report(
            ReportText.body([("date-time", .string(TurnedClock.start.description)), ("tumbler", .object(tumbler))]))
        return AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: TurnedClock.start.before(days * 86_400),
            networks: nil, isSample: false, isListed: true, body: report.document)
    }

    @Test(
        "a group failed every other day for weeks, when its devices' clocks were wrong: the reports of its last day count",
        arguments: TestedStore.all)
    func groupFailedForWeeksWhenItsClocksWereWrongTheReportsOfItsLastDayCount(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let wrong = try stride(from: 30, to: 0, by: -2).map { try Self.refusal(daysAgo: $0) }
            try await store.write { try $0.add(wrong, countedBy: "a") }
            let record = PlanRecord(tested)
            let recorded = PlanRecord.Store(next: store, record: record)
            @Sendable func cause(_ store: StoreTransaction) throws -> LikelyCause.Kind? {
                try store.groups(GroupFilter(), newest: [:]).first?.cause.kind
            }
            #expect(try await recorded.read { try cause($0) } == .clock)
            let right = try Self.refusal(daysAgo: 0)
            try await store.write { try $0.add([right], countedBy: "a") }
            #expect(try await recorded.read { try cause($0) } != .clock)
            // PostgreSQL has a table for each of the sixteen days. Many groups are on a page.
            let days = record.reportDays(ofStatementsWith: "claimed_at")
            #expect(tested == .sqlite ? days == 0 : (1...2).contains(days), "\(days)")
        }
    }

    @Test("there are more groups than a page shows: it says so, and does not count those that it shows as all")
    func thereAreMoreGroupsThanAPageShowsItSaysSo() async throws {
        for (count, isCut) in [(FailuresPage.maximumGroups, false), (FailuresPage.maximumGroups + 1, true)] {
            try await TestedStore.sqlite.withDatabase { open in
                let store = try open()
                try await StoredReportTests.fill(store, count, isListed: true, reports: 2)
                try await PublishedService.with(store: store) { service in
                    let answer = try await service.ask("GET", "/failures?span=all", service.reader)
                    let text = String(decoding: answer.bytes, as: UTF8.self)
                    #expect(text.contains("100 groups,"))
                    #expect(text.contains("over 100 groups,") == isCut)
                    #expect(text.contains("More groups are not shown") == isCut)
                }
            }
        }
    }

    @Test(
        "of many groups the hours of the first twenty-five are added up and drawn, and the page says so",
        arguments: TestedStore.all)
    func ofManyGroupsTheHoursOfTheFirstTwentyFiveAreAddedUpAndDrawn(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await StoredReportTests.fill(store, FailuresPage.maximumPlots + 20, isListed: true, reports: 2)
            let record = PlanRecord(tested)
            try await PublishedService.with(store: PlanRecord.Store(next: store, record: record)) { service in
                let answer = try await service.ask("GET", "/failures?span=all", service.reader)
                #expect(answer.statuses == [200])
                let text = String(decoding: answer.bytes, as: UTF8.self)
                #expect(text.components(separatedBy: #"<svg class="spark""#).count - 1 == FailuresPage.maximumPlots)
                #expect(text.components(separatedBy: #"class="spark-cell">–</td>"#).count - 1 == 20)
                #expect(text.contains("Only the first 25 groups are drawn over time."))
            }
            #expect(record.timesAsked("FROM group_hour WHERE group_number = ?") == FailuresPage.maximumPlots)
        }
    }
}
