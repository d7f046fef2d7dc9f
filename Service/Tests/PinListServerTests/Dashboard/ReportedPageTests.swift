// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

/// Pages of the running service, after reports that were posted to it.
@Suite("Pages of what was reported")
struct ReportedPageTests {
    private static let day = #"<svg class="spark" viewBox="0 0 24 30""#
    private static let hoursOfAWeek = #"<svg class="spark" viewBox="0 0 168 30""#
    private static let weekInTable = #"<svg class="spark" viewBox="0 0 \#(FailureGroup.maximumWindows) 30""#

    private func run(_ body: @Sendable (RunningService) async throws -> Void) async throws {
        let repository = try RepositorySimulator.story([
            try .pinned("api.example.com"), try .pinned("www.example.net"),
        ])
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await RunningService.with(store, { $0.roots = repository.anchors }, body)
        }
    }

    /// Posts a report of a host, noted under its own name.
    private static func report(_ host: String, to service: RunningService) async throws {
        let names = ["hostname", "noted-hostname"].map { ($0, JSONValue.string(host)) }
        #expect(try await service.report(ReportText.body(names)).status == 202)
    }

    @Test("sparks show 24 hours while there is less than a day, and the week once a report is older")
    func sparksShow24HoursWhileThereIsLessThanADayAndTheWeekOnceAReportIsOlder() async throws {
        try await self.run { service in
            try await Self.report("api.example.com", to: service)
            service.clock.turn(by: 23 * 3_600)
            try await Self.report("api.example.com", to: service)
            let now = try await service.ask(.GET, "/").text
            #expect(now.contains(Self.day) && !now.contains(Self.hoursOfAWeek))
            let failures = try await service.ask(.GET, "/failures").text
            #expect(failures.contains(Self.day) && !failures.contains(Self.weekInTable))

            service.clock.turn(by: 3_600)
            let nowLater = try await service.ask(.GET, "/").text
            #expect(nowLater.contains(Self.hoursOfAWeek) && !nowLater.contains(Self.day))
            let failuresLater = try await service.ask(.GET, "/failures").text
            #expect(failuresLater.contains(Self.weekInTable) && !failuresLater.contains(Self.day))
        }
    }

    @Test("failures have three steps until the first report, and none when later no report comes for a week")
    func failuresHaveThreeStepsUntilTheFirstReportAndNoneWhenLaterNoReportComesForAWeek() async throws {
        try await self.run { service in
            let steps = "<ol class=\"steps\">"
            for path in ["/failures", "/failures?host=api.example.com"] {
                #expect(try await service.ask(.GET, path).text.contains(steps), "\(path)")
            }
            try await Self.report("api.example.com", to: service)
            #expect(try await !service.ask(.GET, "/failures").text.contains(steps))
            service.clock.turn(by: 8 * 86_400)
            let later = try await service.ask(.GET, "/failures").text
            #expect(later.contains("Nothing was reported in this time") && !later.contains(steps))
            #expect(later.contains("<a href=\"/failures?span=all\">"))
            let all = try await service.ask(.GET, "/failures?span=all").text
            #expect(all.replacing("<wbr>", with: "").contains("<bdi>api.example.com</bdi></a>"))
        }
    }

    @Test(
        "a stranger reports a hundred invented hosts more often than a listed one fails: that one is the first on Now")
    func strangerReportsAHundredInventedHostsMoreOftenThanAListedOneFails() async throws {
        try await self.run { service in
            try await Self.report("api.example.com", to: service)
            let hour = service.clock.now.hour
            try await service.store.write { store in
                for number in 0..<100 {
                    try store.connection.execute(
                        "INSERT INTO report_hour (hour, host, kind, count) VALUES (?, ?, 'pin', 30)",
                        [.integer(hour), .text("h\(number).invented")])
                }
            }
            let now = try await service.ask(.GET, "/").text.replacing("<wbr>", with: "")
            let places = ["api.example.com", "h0.invented", "h99.invented"].map {
                now.firstRange(of: "<bdi>\($0)</bdi>")
            }
            let (listed, first) = (try #require(places[0]), try #require(places[1]))
            #expect(listed.lowerBound < first.lowerBound)
            #expect(
                now.contains("1 pin failure reported in the last hour, from 2 hosts, and 3,000 for hosts of no list"))
            let status = try await service.ask(.GET, "/v1/status").text
            let hosts = status.split(separator: #""host":"#)
            #expect(hosts.dropFirst().first?.hasPrefix(#""api.example.com""#) == true)
        }
    }

    @Test("a reported certificate for another host is flagged, one for the host is not")
    func reportedCertificateForAnotherHostIsFlaggedOneForTheHostIsNot() async throws {
        try await self.run { service in
            var pages: [String: String] = [:]
            for host in ["api.example.com", "www.example.net"] {
                try await Self.report(host, to: service)
                let groups = try await service.store.read { try $0.groups(GroupFilter(), newest: [:]) }
                let group = try #require(groups.first { $0.host == host })
                // Names break at their dots.
                pages[host] = try await service.ask(.GET, "/failures/\(group.id)").text.replacing("<wbr>", with: "")
            }
            #expect(pages.values.allSatisfy { $0.contains("<dt>For</dt><dd><bdi>api.example.com</bdi>") })
            #expect(pages["api.example.com"]?.contains("for another host") == false)
            #expect(pages["www.example.net"]?.contains("for another host, not for <bdi>www.example.net</bdi>") == true)
        }
    }
}
