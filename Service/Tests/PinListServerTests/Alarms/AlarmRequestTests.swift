// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Alarms, acknowledged and silenced")
struct AlarmRequestTests {
    private static let key = "failure-rate:api.example.com"
    private static let host: HTTPHeaders = ["Host": "pins.example.com"]

    /// Runs a service at which one alarm fires.
    private static func with(_ body: @Sendable (RunningService) async throws -> Void) async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await store.write { store in
                // Another instance looks, to which it seems to fire.
                _ = try store.takeLease(
                    "alarms", for: "elsewhere", at: TurnedClock.start, seconds: AlarmWatch.evaluationLease)
                try store.put(
                    Alarm(.failureRate, .critical, "api.example.com", "12 failures"), since: TurnedClock.start)
            }
            try await RunningService.with(store) { try await body($0) }
        }
    }

    private static func post(
        _ service: RunningService, _ deed: String, _ body: String, _ token: String
    ) async throws -> RunningService.Answer {
        try await service.ask(
            .POST, "/v1/alarms/\(deed)", Self.host + [("Authorization", "Bearer \(token)")], Array(body.utf8))
    }

    private static func alarms(_ service: RunningService, _ fields: HTTPHeaders) async throws -> String {
        let answer = try await service.ask(.GET, "/v1/alarms", fields)
        return answer.text
    }

    @Test(
        "a token of scope operate acknowledges and silences, for a time; all see it, and the audit log names the token")
    func tokenOfScopeOperateAcknowledgesAndSilencesForATimeAllSeeIt() async throws {
        try await Self.with { service in
            let (token, reader) = (try await service.token(.operate), try await service.token(.read))
            let id = try #require(AccessToken.id(of: token))
            let look: HTTPHeaders = Self.host + [("Authorization", "Bearer \(reader)")]
            let before = try await Self.alarms(service, look)
            #expect(
                before == """
                    {"alarms":[{"key":"\(Self.key)","kind":"failure-rate","subject":"api.example.com",\
                    "severity":"critical","since":"\(TurnedClock.start)",\
                    "detail":"More connections fail than usual: api.example.com, 12 failures",\
                    "action":"open Failures, and compare what was seen with what the host presents",\
                    "runbook":"/runbook/failure-rate"}],"silences":[]}
                    """)
            #expect(try await Self.post(service, "acknowledge", #"{"key": "\#(Self.key)"}"#, token).status == 204)
            let silence = #"{"what": "\#(Self.key)", "seconds": 3600, "because": "a release is on its way"}"#
            #expect(try await Self.post(service, "silence", silence, token).status == 204)
            let end = Timestamp(secondsSince1970: service.clock.now.secondsSince1970 + 3_600)
            let after = try await Self.alarms(service, look)
            #expect(after.contains(#""acknowledgedBy":"\#(id)","acknowledgedAt":"\#(service.clock.now)""#))
            #expect(after.contains(#""silencedUntil":"\#(end)""#))
            #expect(
                after.contains(
                    #""silences":[{"what":"\#(Self.key)","upTo":"critical","until":"\#(end)","by":"\#(id)","#
                        + #""because":"a release is on its way"}]"#))
            let status = try await service.ask(.GET, "/v1/status", look).text
            #expect(status.contains(#""silencedUntil":"\#(end)""#))
            let metrics = try await service.ask(.GET, "/metrics", look).text
            for line in [
                #"tumbler_alarms{kind="failure-rate",severity="critical"} 0"#,
                #"tumbler_alarms_silenced{kind="failure-rate",severity="critical"} 1"#,
            ] { #expect(metrics.contains(line + "\n"), "\(line)") }
            #expect(try await Self.post(service, "unsilence", #"{"what": "\#(Self.key)"}"#, token).status == 204)
            #expect(try await Self.post(service, "unsilence", #"{"what": "\#(Self.key)"}"#, token).status == 404)
            let log = try await service.store.read { try $0.auditEntries(from: 1, limit: 9) }
            #expect(log.map(\.action) == ["alarm-acknowledged", "alarm-silenced", "alarm-unsilenced"])
            #expect(Set(log.map(\.actor)) == [id])
        }
    }

    @Test("no other scope changes anything, and a request without a token changes nothing, on loopback neither")
    func noOtherScopeChangesAnythingAndARequestWithoutATokenChangesNothing() async throws {
        try await Self.with { service in
            let body = #"{"key": "\#(Self.key)"}"#
            for token in [
                try await service.token(.read), try await service.token(.publish, ["a"]),
                try await service.token(.probe, ["a"]),
            ] {
                #expect(try await Self.post(service, "acknowledge", body, token).code == "wrong-scope")
            }
            for path in ["/v1/alarms/acknowledge", "/v1/alarms/silence", "/v1/alarms/unsilence", "/alarms/silence"] {
                #expect(try await service.ask(.POST, path, [:], Array(body.utf8)).status == 401, "\(path)")
            }
            let token = try await service.token(.operate)
            #expect(try await Self.post(service, "acknowledge", #"{"key": "failure-rate:other"}"#, token).status == 404)
            #expect(try await service.actions().isEmpty)
            let fields: HTTPHeaders = Self.host + [("Authorization", "Bearer \(token)")]
            #expect(try await service.ask(.GET, "/metrics", fields).status == 200)
            #expect(try await service.publish([[0x7b, 0x7d]], "a", token: token).code == "wrong-scope")
        }
    }

    @Test("a silence of store-failed, which keeps nothing quiet, is refused, and is not in the audit log")
    func silenceOfStoreFailedIsRefused() async throws {
        try await Self.with { service in
            let token = try await service.token(.operate)
            let silence = #"{"what": "store-failed", "seconds": 3600, "because": "x", "upTo": "critical"}"#
            let answer = try await Self.post(service, "silence", silence, token)
            #expect(answer.status == 400)
            #expect(answer.text.contains("no silence covers it"))
            #expect(try await service.store.read { try $0.silences(at: TurnedClock.start) }.isEmpty)
            #expect(try await service.actions().isEmpty)
        }
    }

    @Test("a page of a sibling subdomain, or of another port, silences nothing by the operator's cookie")
    func pageOfASiblingSubdomainOrOfAnotherPortSilencesNothingByTheOperatorsCookie() async throws {
        try await Self.with { service in
            let token = try await service.token(.operate)
            // What a page may send anywhere without being asked about it first.
            let cookie = Self.host + [("Cookie", "tumbler=\(token)"), ("Content-Type", "text/plain")]
            let silence = #"{"what": "failure-rate", "seconds": 604800, "because": "x", "upTo": "critical"}"#
            let deeds = [
                ("silence", silence), ("acknowledge", #"{"key": "\#(Self.key)"}"#),
                ("unsilence", #"{"what": "failure-rate"}"#),
            ]
            for fields in [
                [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "cross-site")],
                [("Origin", "https://blog.example.com")], [("Origin", "https://pins.example.com:8443")],
                [("Origin", "null")], [("Origin", "https://pins.example.com"), ("Sec-Fetch-Site", "same-site")], [],
            ] as [[(String, String)]] {
                for (deed, body) in deeds {
                    let answer = try await service.ask(
                        .POST, "/v1/alarms/\(deed)", cookie + fields, Array(body.utf8))
                    #expect(answer.status == 403, "\(deed) \(fields)")
                    #expect(answer.code == "foreign-form", "\(deed) \(fields)")
                }
            }
            #expect(try await service.actions().isEmpty)
            // Looking is no change, and a program's token is none that a browser sends by itself.
            let look = try await service.ask(.GET, "/v1/alarms", cookie + [("Sec-Fetch-Site", "same-site")])
            #expect(look.status == 200)
            let bearer = Self.host + [("Authorization", "Bearer \(token)"), ("Sec-Fetch-Site", "same-site")]
            for fields in [bearer, cookie + [("Sec-Fetch-Site", "same-origin")]] {
                let answer = try await service.ask(.POST, "/v1/alarms/silence", fields, Array(silence.utf8))
                #expect(answer.status == 204, "\(fields)")
            }
            #expect(try await service.actions() == ["alarm-silenced", "alarm-silenced"])
        }
    }

    @Test(
        "a silence has an end, a reason and nothing else that is not understood",
        arguments: [
            #"{"what": "silence", "seconds": 604801, "because": "x"}"#,
            #"{"what": "silence", "seconds": 59, "because": "x"}"#, #"{"what": "silence", "seconds": 60}"#,
            #"{"what": "silence", "because": "x"}"#, #"{"seconds": 60, "because": "x"}"#,
            #"{"what": "silence", "seconds": 60, "because": ""}"#,
            #"{"what": "silence", "seconds": 60, "because": "x", "upTo": "all"}"#,
            #"{"what": "silence", "seconds": 60, "because": "x", "until": "never"}"#, "[]", "",
        ])
    func silenceHasAnEndAReasonAndNothingElseThatIsNotUnderstood(_ body: String) async throws {
        try await Self.with { service in
            let token = try await service.token(.operate)
            let answer = try await Self.post(service, "silence", body, token)
            #expect(answer.status == 400)
            #expect(answer.code == "malformed")
            #expect(try await service.actions().isEmpty)
        }
    }

    @Test("the page has forms for an operator alone; they need the page's token, and do what the commands do")
    func pageHasFormsForAnOperatorAloneTheyNeedThePagesTokenAndDoWhatTheCommandsDo() async throws {
        try await Self.with { service in
            let reader = Self.host + [("Cookie", "tumbler=\(try await service.token(.read))")]
            let looking = try await service.ask(.GET, "/alarms", reader).text
            #expect(looking.contains("need a token of scope"))
            #expect(!looking.contains(AlarmsPage.silencePath))
            let token = try await service.token(.operate)
            let cookie = Self.host + [("Cookie", "tumbler=\(token)")]
            let page = try await service.ask(.GET, "/alarms", cookie).text
            #expect(page.contains(AlarmsPage.silencePath) && page.contains(AlarmsPage.acknowledgePath))
            let start = try #require(page.range(of: "name=\"\(PageFrame.tokenField)\" value=\""))
            let csrf = String(page[start.upperBound...].prefix { $0 != "\"" })
            func post(_ path: String, _ fields: String, _ csrf: String) async throws -> Int {
                try await service.ask(
                    .POST, path, cookie + [("Origin", "https://pins.example.com")],
                    Array("\(PageFrame.tokenField)=\(csrf)&key=failure-rate%3Aapi.example.com\(fields)".utf8)
                ).status
            }
            #expect(try await post(AlarmsPage.acknowledgePath, "", String(repeating: "0", count: 64)) == 403)
            #expect(try await post(AlarmsPage.acknowledgePath, "", csrf) == 303)
            for fields in ["&hours=169&because=x", "&hours=x&because=x", "&hours=1&because=", ""] {
                #expect(try await post(AlarmsPage.silencePath, fields, csrf) == 404, "\(fields)")
            }
            #expect(try await post(AlarmsPage.silencePath, "&hours=4&because=we+know", csrf) == 303)
            let after = try await service.ask(.GET, "/alarms", cookie).text
            #expect(after.contains("Acknowledged by") && after.contains("we know"))
            #expect(after.contains(AlarmsPage.unsilencePath))
            #expect(!after.contains(AlarmsPage.acknowledgePath))
            #expect(try await post(AlarmsPage.unsilencePath, "", csrf) == 303)
            #expect(
                try await service.actions() == ["alarm-acknowledged", "alarm-silenced", "alarm-unsilenced"])
        }
    }
}
