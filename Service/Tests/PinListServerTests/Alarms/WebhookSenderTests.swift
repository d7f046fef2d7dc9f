// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import Hummingbird
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Posting to a webhook")
struct WebhookSenderTests {
    @Test("a webhook that sends us on is not followed: what it is told stays with it")
    func webhookThatSendsUsOnIsNotFollowedWhatItIsToldStaysWithIt() async throws {
        let answer = { @Sendable (path: String) in
            path == "/hook"
                ? Response(status: .temporaryRedirect, headers: [.location: "/elsewhere"]) : Response(status: .ok)
        }
        try await WebhookReceiver.with(answering: answer) { receiver in
            let status = try await receiver.sender.post(Array("{}".utf8), to: receiver.address + "/hook")
            #expect(status == 307)
            #expect(receiver.paths == ["/hook"])
        }
    }

    @Test("no webhook is asked over HTTP/2, where a status of -1 ends the process")
    func noWebhookIsAskedOverHTTP2WhereAStatusOfMinusOneEndsTheProcess() {
        #expect(HTTPWebhookSender.configuration.httpVersion == .http1Only)
    }

    @Test(
        "a test that fails beside a webhook ends with its own failure: the client is shut down, and the process lives")
    func testThatFailsBesideAWebhookEndsWithItsOwnFailureTheClientIsShutDown() async throws {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await WebhookReceiver.with { receiver in
                _ = try await receiver.sender.post([], to: receiver.address + "/")
                throw Failure()
            }
        }
    }

    private static func member(_ name: String, _ body: [UInt8]) -> String? {
        guard case .object(let members)? = try? JSONValue(strict: body),
            case .string(let text)? = members.first(where: { $0.name == name })?.value
        else { return nil }
        return text
    }

    @Test(
        "a pager is told that a person has seen an alarm, between its begin and its end, under one key; a chat says who"
    )
    func pagerIsToldThatAPersonHasSeenAnAlarmBetweenItsBeginAndItsEndUnderOneKey() async throws {
        let repository = try RepositorySimulator.story()
        try await WebhookReceiver.with { receiver in
            try await TestedStore.sqlite.withDatabase { open in
                let (store, clock) = (try open(), TurnedClock())
                _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                    [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: clock.now)
                let parts = ServiceParts.story(
                    store, anchors: repository.anchors, clock: clock,
                    alerts: [
                        AlertTarget(
                            kind: .pagerduty, name: "pager", address: receiver.address + "/pager", routingKey: "R1"),
                        AlertTarget(kind: .slack, name: "chat", address: receiver.address + "/chat"),
                        AlertTarget(kind: .webhook, name: "ops", address: receiver.address + "/ops"),
                    ])
                _ = try await parts.lists.reload(from: store)
                let watch = AlarmWatch(parts: parts, sender: receiver.sender)
                func look() async {
                    await watch.look()
                    await watch.send()
                }
                // A list that is about to expire.
                clock.turn(by: RepositorySimulator.listValidity - 10 * 86_400)
                await look()
                let now = clock.now
                func acknowledge() async throws {
                    let isDone = try await store.write {
                        try AlarmHandling.acknowledge("list-expiry:com.example.app", in: $0, by: "t1 (Ann)", at: now)
                    }
                    #expect(isDone)
                }
                try await acknowledge()
                let head = try await store.read { try $0.newestAuditEntry()?.digest }
                // A repetition sends no notification.
                try await acknowledge()
                await look()
                clock.set(TurnedClock.start)
                clock.turn(by: 86_400)
                await look()
                func told(_ path: String, _ name: String) -> [String?] {
                    zip(receiver.paths, receiver.bodies).filter { $0.0 == path }.map { Self.member(name, $0.1) }
                }
                #expect(told("/pager", "event_action") == ["trigger", "acknowledge", "resolve"])
                #expect(Set(told("/pager", "dedup_key")) == ["tumbler:list-expiry:com.example.app"])
                #expect(Set(told("/pager", "routing_key")) == ["R1"])
                #expect(told("/ops", "event") == ["firing", "acknowledged", "recovered"])
                #expect(told("/chat", "text")[1]?.hasPrefix("Acknowledged by t1 (Ann): ") == true)
                #expect(told("/ops", "auditHead")[1] == head)
            }
        }
    }

    @Test("an acknowledgement does not overtake the alarm that a pager has not taken yet: it would be lost")
    func acknowledgementDoesNotOvertakeTheAlarmThatAPagerHasNotTakenYet() async throws {
        let repository = try RepositorySimulator.story()
        try await WebhookReceiver.with { receiver in
            try await TestedStore.sqlite.withDatabase { open in
                let (store, clock) = (try open(), TurnedClock())
                let target = AlertTarget(kind: .webhook, name: "ops", address: receiver.address + "/ops")
                let parts = ServiceParts.story(store, anchors: repository.anchors, clock: clock, alerts: [target])
                let now = clock.now
                let begin = AlarmEvent(
                    .firing, key: "a", kind: "silence", severity: "notice", detail: "x", since: now, time: now,
                    auditHead: "")
                let seen = AlarmEvent(
                    .acknowledged, key: "a", kind: "silence", severity: "notice", detail: "x", since: now, time: now,
                    auditHead: "")
                try await store.write { store in
                    try store.notify("ops", begin.json.bytes, at: now)
                    // It was tried before, and is tried again in half an hour.
                    let first = try store.takeNotifications(for: ["ops"], due: now, until: now, limit: 1)
                    try store.postpone(try #require(first.first).number, until: now.before(-1_800))
                    try store.notify("ops", seen.json.bytes, at: now)
                }
                let watch = AlarmWatch(parts: parts, sender: receiver.sender)
                for _ in 0..<130 {
                    await watch.send()
                    clock.turn(by: 15)
                }
                #expect(receiver.bodies.map { Self.member("event", $0) } == ["firing", "acknowledged"])
            }
        }
    }
}
