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

@Suite("docs/operations/alarms.md says what the service does")
struct AlarmPageTests {
    private let page: String
    /// The bodies that the page shows: of a webhook, of Slack, of PagerDuty.
    private let bodies: [JSONValue]

    init() throws {
        // This file is in Service/Tests/PinListServerTests/Alarms.
        let checkout = (1...5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(contentsOf: checkout.appendingPathComponent("docs/operations/alarms.md"), encoding: .utf8)
        self.page = page
        self.bodies = try page.components(separatedBy: "```json\n").dropFirst().map { rest in
            try JSONValue(strict: Array(rest.components(separatedBy: "\n```")[0].utf8))
        }
    }

    /// The event that the page shows as Slack and PagerDuty get it.
    private func refusedPublication() throws -> AlarmEvent {
        let time = try Timestamp("2026-11-23T15:11:34Z")
        return AlarmEvent(
            .firing, key: "publish-refused:com.example.app", kind: "publish-refused", severity: "warning",
            detail: "A publication was refused: com.example.app, rollback: version 1 after version 2", since: time,
            time: time, auditHead: "3343…")
    }

    private func body(_ event: AlarmEvent, _ kind: AlertTarget.Kind) throws -> JSONValue {
        let target = AlertTarget(kind: kind, name: "t", address: "https://a/", routingKey: "…")
        return try JSONValue(strict: WebhookBody.bytes(event, for: target))
    }

    private func members(_ value: JSONValue?) -> [JSONValue.Member] {
        guard case .object(let members)? = value else { return [] }
        return members
    }

    private func member(_ name: String, of value: JSONValue?) -> JSONValue? {
        self.members(value).first { $0.name == name }?.value
    }

    private func first(_ value: JSONValue?) -> JSONValue? {
        guard case .array(let values)? = value else { return nil }
        return values.first
    }

    /// The rows of tables that begin with a kind, or with several of which it is one.
    private func rows(of kind: Alarm.Kind) -> [Substring] {
        self.page.split(separator: "\n").filter { row in
            row.hasPrefix("| ") && row.dropFirst(2).prefix { $0 != "|" }.contains("`\(kind.rawValue)`")
        }
    }

    @Test("each kind has a row with its threshold, and one with what it means and the first action")
    func eachKindHasARowWithItsThresholdAndOneWithWhatItMeansAndTheFirstAction() {
        for kind in Alarm.Kind.allCases where kind != .test {
            #expect(self.rows(of: kind).count == 2, "\(kind.rawValue)")
        }
    }

    @Test("the runbook of each kind has the words of the page, and names a page that is there")
    func runbookOfEachKindHasTheWordsOfThePage() throws {
        let checkout = (1...5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        for kind in Alarm.Kind.allCases where kind != .test {
            let row = try #require(self.rows(of: kind).last)
            let cells = row.split(separator: "|").map { cell in
                // A link is its text.
                cell.replacing(#/\[([^\]]*)\]\([^)]*\)/#) { $0.output.1 }.filter { !"`*".contains($0) }
                    .trimmingCharacters(in: .whitespaces)
            }
            let runbook = AlarmRunbook(kind)
            #expect(Array(cells.dropFirst()) == [runbook.users, runbook.left, runbook.action], "\(kind.rawValue)")
            let document = checkout.appendingPathComponent("docs/\(runbook.document)").path
            #expect(FileManager.default.fileExists(atPath: document), "\(runbook.document)")
        }
    }

    @Test("the days before an end are those of the rules")
    func daysBeforeAnEndAreThoseOfTheRules() throws {
        let kinds: [(Alarm.Kind, AlarmRules.Steps)] = [
            (.listExpiry, AlarmRules.list), (.rootExpiry, AlarmRules.root),
            (.certificateExpiry, AlarmRules.certificate), (.pinExpiry, AlarmRules.certificate),
        ]
        for (kind, steps) in kinds {
            let row = try #require(self.rows(of: kind).first)
            let days = steps.reversed().map { "\($0.days)" }.joined(separator: ", ")
            let severities = steps.reversed().map(\.severity.rawValue).joined(separator: ", ")
            #expect(row.contains(" \(days) days "), "\(kind.rawValue)")
            #expect(row.contains("| \(severities) |"), "\(kind.rawValue)")
        }
    }

    @Test("the body of a webhook has the members that it has, in their order")
    func bodyOfAWebhookHasTheMembersThatItHasInTheirOrder() throws {
        try #require(self.bodies.count == 3)
        let message = StoredAlarmMessage(
            number: 1, key: "failure-rate:api.example.com", kind: "failure-rate", severity: "critical",
            begunAt: TurnedClock.start, nextAt: TurnedClock.start)
        let alarm = StoredAlarm(
            key: message.key, kind: message.kind, severity: message.severity, detail: "120 failures",
            since: TurnedClock.start, endedAt: nil, message: 1, told: nil,
            acknowledgement: .init(at: TurnedClock.start, by: "0123456789abcdef"))
        let event = AlarmEvent(
            .firing, of: message, severity: .critical, [alarm], time: TurnedClock.start, auditHead: "9f2c…")
        let sent = try self.body(event, .webhook)
        let shown = self.bodies[0]
        #expect(self.members(shown).map(\.name) == self.members(sent).map(\.name))
        let (shownAlarm, sentAlarm) = (
            self.first(self.member("alarms", of: shown)), self.first(self.member("alarms", of: sent))
        )
        #expect(self.members(shownAlarm).map(\.name) == self.members(sentAlarm).map(\.name))
        #expect(self.members(shownAlarm).count == 7)
    }

    @Test("Slack gets what the page shows, to the letter")
    func slackGetsWhatThePageShowsToTheLetter() throws {
        try #require(self.bodies.count == 3)
        #expect(try self.body(try self.refusedPublication(), .slack) == self.bodies[1])
    }

    @Test("PagerDuty gets what the page shows, and all of the webhook's body beside")
    func pagerDutyGetsWhatThePageShowsAndAllOfTheWebhooksBodyBeside() throws {
        try #require(self.bodies.count == 3)
        let event = try self.refusedPublication()
        let (sent, shown) = (try self.body(event, .pagerduty), self.bodies[2])
        #expect(self.members(shown).map(\.name) == self.members(sent).map(\.name))
        for name in ["routing_key", "event_action", "dedup_key"] {
            #expect(self.member(name, of: shown) == self.member(name, of: sent), "\(name)")
        }
        let (sentPayload, shownPayload) = (self.member("payload", of: sent), self.member("payload", of: shown))
        #expect(self.members(shownPayload).map(\.name) == self.members(sentPayload).map(\.name))
        for member in self.members(shownPayload) where member.name != "custom_details" {
            #expect(member.value == self.member(member.name, of: sentPayload), "\(member.name)")
        }
        let details = self.member("custom_details", of: sentPayload)
        #expect(details == event.json)
        let shownDetails = self.members(self.member("custom_details", of: shownPayload))
        #expect(shownDetails.count == 2)
        for member in shownDetails { #expect(member.value == self.member(member.name, of: details), "\(member.name)") }
    }
}
