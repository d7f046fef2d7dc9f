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

@Suite("The sentence of an alarm", .runsPostgreSQL)
struct AlarmSentenceTests {
    @Test("a cause is read back from the sentence that it opens, and has an action of its own")
    func aCauseIsReadBackFromTheSentenceThatItOpens() {
        for kind in LikelyCause.Kind.allCases {
            let alarm = Alarm(.failureRate, .critical, "api.example.com", "since 02:53 UTC", opening: kind.opening)
            #expect(AlarmSentence.cause(of: alarm.detail) == kind)
            #expect(AlarmRunbook.action("failure-rate", alarm.detail) == kind.action)
        }
        #expect(Set(LikelyCause.Kind.allCases.map(\.opening)).count == LikelyCause.Kind.allCases.count)
        #expect(Set(Alarm.Kind.allCases.map(\.opening)).count == Alarm.Kind.allCases.count)
        #expect(AlarmSentence.cause(of: "120 failures") == nil)
        #expect(AlarmRunbook.action("failure-rate", "120 failures") == AlarmRunbook(.failureRate).action)
        #expect(AlarmRunbook.action("of-a-later-version", "x") == nil)
        #expect(AlarmRunbook.action("test", "x") == nil)
    }

    @Test("the subject of an alarm is the one in its key, also where that is an IPv6 address")
    func subjectOfAnAlarmIsTheOneInItsKeyAlsoWhereThatIsAnIPv6Address() {
        let digest = String(repeating: "0", count: 64)
        for subject in ["api.example.com", "2001:db8::1", "::1", "2001:db8::", "hosts of no list"] {
            for alarm in [
                Alarm(.failureRate, .critical, subject, ""), Alarm(.probeFailed, .critical, subject, "", key: "cafe"),
                Alarm(.silence, .warning, subject, "", key: "reports"),
                Alarm(.unexpectedCertificate, .warning, subject, "", key: "com.example.app:\(digest)"),
            ] {
                #expect(Alarm.subject(of: alarm.key) == subject, "\(alarm.key)")
            }
        }
        let more = Alarm(.unexpectedCertificate, .warning, "com.example.app", "over 200 of them")
        #expect(Alarm.subject(of: more.key) == "com.example.app")
        #expect(Alarm.subject(of: "of-a-later-version:api.example.com:x") == "api.example.com")
        #expect(Alarm.subject(of: "failure-rate") == "")
    }

    @Test("an alarm says its cause first, then where, since when, and in how many networks")
    func anAlarmSaysItsCauseFirst() async throws {
        let repository = try RepositorySimulator.story([try .pinned("api.example.com")])
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await store.write { store in
                for (host, kind, count) in [
                    ("api.example.com", "pin", 118), ("api.example.com", "tls", 2), ("", "incident", 50),
                ] {
                    try store.connection.execute(
                        "INSERT INTO report_hour (hour, host, kind, count) VALUES (?, ?, ?, ?)",
                        [.integer(TurnedClock.start.hour), .text(host), .text(kind), .integer(Int64(count))])
                }
            }
            let parts = ServiceParts.story(store, anchors: repository.anchors, clock: TurnedClock())
            #expect(try await parts.lists.reload(from: store).isEmpty)
            let overview = try await parts.overview()
            #expect(overview.alarmingHosts == ["api.example.com"])
            func details(_ causes: [String: LeadingCause]) -> Set<String> {
                Set(AlarmRules.alarms(overview.alarmFacts(causes)).map(\.detail))
            }
            let figures = "120 failures in the last hour, 118 of them pin failures; the usual number is 0"
            let lists =
                "Apps refuse a list or a root that they are offered: lists, 50 failures in the last hour, 0 of them pin "
                + "failures; the usual number is 0"
            let sixty = LeadingCause(.rotation, since: TurnedClock.start, networks: BoundedCount(60))
            #expect(
                details(["api.example.com": sixty]) == [
                    "A server presents a key that no list has: api.example.com, since 00:00 UTC, 60 networks; \(figures)",
                    lists,
                ])
            let day = Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 - 7_200)
            let one = LeadingCause(.interception, since: day, networks: BoundedCount(1))
            #expect(
                details(["api.example.com": one]) == [
                    "Connections are intercepted: api.example.com, since 2026-11-20 22:00 UTC, 1 network; \(figures)",
                    lists,
                ])
            #expect(details([:]) == ["More connections fail than usual: api.example.com, \(figures)", lists])
        }
    }

    @Test("the page Now, a webhook and the status have the same sentence, the same action and the same runbook")
    func thePageAWebhookAndTheStatusHaveTheSameSentence() throws {
        let stored = StoredAlarm(
            key: "failure-rate:api.example.com", kind: "failure-rate", severity: "critical",
            detail: "A server presents a key that no list has: api.example.com, since 02:53 UTC, 60 networks",
            since: TurnedClock.start, endedAt: nil, message: 1, told: nil, acknowledgement: nil)
        let message = StoredAlarmMessage(
            number: 1, key: stored.key, kind: stored.kind, severity: stored.severity, begunAt: stored.since,
            nextAt: stored.since)
        let page = DashboardPages.alarm(stored, [])
        let event = AlarmEvent(.firing, of: message, severity: .critical, [stored], time: stored.since, auditHead: "")
        let status = StatusDocument.Firing(stored, [])
        let action = LikelyCause.Kind.rotation.action
        #expect([page.title, event.detail, status.detail] == Array(repeating: stored.detail, count: 3))
        #expect([page.advice, event.action ?? "", status.action ?? ""] == Array(repeating: action, count: 3))
        #expect(
            [page.runbook ?? "", event.runbook ?? "", status.runbook ?? ""]
                == Array(repeating: "/runbook/failure-rate", count: 3))
        for kind in [AlertTarget.Kind.webhook, .slack, .pagerduty] {
            let target = AlertTarget(kind: kind, name: "t", address: "https://a/", routingKey: "")
            let body = String(decoding: WebhookBody.bytes(event, for: target), as: UTF8.self)
            #expect(body.contains(stored.detail) && body.contains(action), "\(kind)")
        }
    }

    @Test("what most reports of the last hours are about is the cause, not what is oldest", arguments: TestedStore.all)
    func whatMostReportsOfTheLastHoursAreAboutIsTheCause(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            try await RunningService.with(try open()) { service in
                // Without a certificate no more is known than that it fails.
                for _ in 0..<12 { #expect(try await service.report(ReportText.body()).status == 202) }
                let now = service.clock.now
                let causes = try await service.store.read { store in
                    let host = try #require(try store.groups(GroupFilter(), newest: [:]).first?.host)
                    return try store.leadingCauses(of: [host, "", "none.example"], attested: [], newest: [:], at: now)
                }
                #expect(causes.count == 1)
                #expect(causes.values.first?.since == now)
                let later = Timestamp(secondsSince1970: now.secondsSince1970 + 3 * 3_600)
                #expect(
                    try await service.store.read { store in
                        try store.leadingCauses(of: Array(causes.keys), attested: [], newest: [:], at: later).isEmpty
                    })
            }
        }
    }
}
