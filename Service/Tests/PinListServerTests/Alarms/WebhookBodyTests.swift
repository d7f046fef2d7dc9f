// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The bodies of webhooks")
struct WebhookBodyTests {
    private static let head = String(repeating: "e", count: 64)

    private func event(
        _ phase: AlarmEvent.Phase = .firing, _ severity: Alarm.Severity = .critical,
        key: String = "failure-rate:api.example.com", detail: String = "1 < 2 & <!channel> \"3\""
    ) -> AlarmEvent {
        AlarmEvent(
            phase, key: key, kind: "failure-rate", severity: severity.rawValue, detail: detail,
            since: TurnedClock.start, time: Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + 60),
            auditHead: Self.head)
    }

    private func text(_ event: AlarmEvent, _ kind: AlertTarget.Kind) -> String {
        let target = AlertTarget(kind: kind, name: "t", address: "https://a/", routingKey: "R123")
        return String(decoding: WebhookBody.bytes(event, for: target), as: UTF8.self)
    }

    private func members(_ value: JSONValue) -> [String: JSONValue] {
        guard case .object(let members) = value else { return [:] }
        return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }

    @Test("our own JSON, whole")
    func ourOwnJSONWhole() {
        #expect(
            self.text(self.event(), .webhook) == """
                {"event":"firing","key":"failure-rate:api.example.com","kind":"failure-rate","severity":"critical",\
                "detail":"1 < 2 & <!channel> \\"3\\"","action":"\(AlarmRunbook(.failureRate).action)",\
                "runbook":"/runbook/failure-rate","since":"2026-11-21T00:00:00Z","time":"2026-11-21T00:01:00Z",\
                "auditHead":"\(Self.head)"}
                """)
        for phase in [AlarmEvent.Phase.firing, .recovered, .test] {
            let event = self.event(phase)
            #expect(AlarmEvent(event.json.bytes) == event)
        }
        #expect(AlarmEvent(Array("{}".utf8)) == nil)
    }

    @Test("a message of 42 alarms names ten of them in every form, and the key is that of the message")
    func messageOf42AlarmsNamesTenOfThemInEveryFormAndTheKeyIsThatOfTheMessage() throws {
        let message = StoredAlarmMessage(
            number: 1, key: "failure-rate:h00", kind: "failure-rate", severity: "critical", begunAt: TurnedClock.start,
            nextAt: TurnedClock.start)
        let alarms = (0..<42).map { number in
            StoredAlarm(
                key: "failure-rate:h\(number / 10)\(number % 10)", kind: "failure-rate", severity: "critical",
                detail: "\(number) <fail>", since: TurnedClock.start, endedAt: nil, message: 1, told: nil,
                acknowledgement: number == 0 ? .init(at: TurnedClock.start, by: "t1") : nil)
        }
        for phase in [AlarmEvent.Phase.firing, .recovered] {
            let event = AlarmEvent(
                phase, of: message, severity: .critical, alarms, time: TurnedClock.start, auditHead: Self.head)
            #expect(AlarmEvent(event.json.bytes) == event)
            let body = self.members(try JSONValue(strict: Array(self.text(event, .webhook).utf8)))
            #expect(body["key"] == .string("failure-rate:h00"))
            #expect(body["count"] == .integer(42))
            guard case .array(let named)? = body["alarms"] else {
                Issue.record("no alarms")
                return
            }
            #expect(named.count == 10)
            #expect(self.members(named[0])["acknowledgedBy"] == .string("t1"))
            #expect(self.members(named[1])["subject"] == .string("h01"))
            let slack = self.text(event, .slack)
            #expect(slack.contains("and 32 more\\u000a• 0 &lt;fail&gt;\\u000a• 1 "))
            #expect(!slack.contains("• 10 "))
            let pager = self.members(try JSONValue(strict: Array(self.text(event, .pagerduty).utf8)))
            #expect(pager["dedup_key"] == .string("tumbler:failure-rate:h00"))
        }
    }

    @Test("Slack gets one text, in which nothing is a mention or a link")
    func slackGetsOneTextInWhichNothingIsAMentionOrALink() throws {
        let body = self.members(try JSONValue(strict: Array(self.text(self.event(), .slack).utf8)))
        #expect(Set(body.keys) == ["text"])
        #expect(
            body["text"]
                == .string(
                    "CRITICAL: 1 &lt; 2 &amp; &lt;!channel&gt; \"3\"\nWhat to do: \(AlarmRunbook(.failureRate).action)\nfailure-rate:api.example.com, "
                        + "since 2026-11-21T00:00:00Z. Audit log: \(Self.head)"))
        #expect(self.text(self.event(.recovered), .slack).hasPrefix(#"{"text":"Recovered: "#))
        #expect(self.text(self.event(.test), .slack).hasPrefix(#"{"text":"Test: "#))
        #expect(self.text(self.event(.firing, .notice), .slack).hasPrefix(#"{"text":"Notice: "#))
    }

    @Test(
        "PagerDuty gets events of its version 2: trigger and resolve of one key, a severity that it knows",
        arguments: [
            (AlarmEvent.Phase.firing, Alarm.Severity.critical, "trigger", "critical"),
            (.firing, .warning, "trigger", "warning"), (.firing, .notice, "trigger", "info"),
            (.recovered, .critical, "resolve", "critical"), (.test, .notice, "trigger", "info"),
        ])
    func pagerDutyGetsEventsOfItsVersion2TriggerAndResolveOfOneKey(
        phase: AlarmEvent.Phase, severity: Alarm.Severity, action: String, level: String
    ) throws {
        let body = self.members(try JSONValue(strict: Array(self.text(self.event(phase, severity), .pagerduty).utf8)))
        #expect(Set(body.keys) == ["routing_key", "event_action", "dedup_key", "payload"])
        #expect(body["routing_key"] == .string("R123"))
        #expect(body["event_action"] == .string(action))
        #expect(body["dedup_key"] == .string("tumbler:failure-rate:api.example.com"))
        let payload = self.members(try #require(body["payload"]))
        #expect(Set(payload.keys) == ["summary", "source", "severity", "timestamp", "class", "custom_details"])
        #expect(payload["severity"] == .string(level))
        #expect(payload["timestamp"] == .string("2026-11-21T00:01:00Z"))
        let details = self.members(try #require(payload["custom_details"]))
        #expect(details["auditHead"] == .string(Self.head))
    }

    @Test("a text that is longer than PagerDuty takes is cut, and a key is the same each time")
    func textThatIsLongerThanPagerDutyTakesIsCutAndAKeyIsTheSameEachTime() throws {
        let long = (0..<64).map { "label\($0)" }.joined(separator: ".")
        let event = self.event(key: "certificate-expiry:\(long)", detail: String(repeating: "x", count: 5_000))
        let body = self.members(try JSONValue(strict: Array(self.text(event, .pagerduty).utf8)))
        guard case .string(let key)? = body["dedup_key"],
            case .string(let summary)? = self.members(body["payload"] ?? .null)["summary"]
        else {
            Issue.record("a member is missing")
            return
        }
        #expect(key.count <= 255)
        #expect(summary.count <= 1_024)
        let again = self.event(.recovered, key: "certificate-expiry:\(long)")
        #expect(self.text(again, .pagerduty).contains("\"\(key)\""))
        let other = self.event(key: "certificate-expiry:\(long)x")
        #expect(!self.text(other, .pagerduty).contains("\"\(key)\""))
    }
}
