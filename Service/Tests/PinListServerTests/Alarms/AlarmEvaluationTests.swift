// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListServer

@Suite("Who is told of an alarm, and when", .runsPostgreSQL)
struct AlarmEvaluationTests {
    private static let targets = [
        AlertTarget(kind: .webhook, name: "ops", address: "https://ops.example/secret"),
        AlertTarget(kind: .slack, name: "chat", address: "https://chat.example/secret"),
    ]
    private static let head = String(repeating: "e", count: 64)

    private static func time(_ seconds: Int64) -> Timestamp {
        Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds)
    }

    private static func apply(
        _ alarms: [Alarm], to store: any ServiceStore, after seconds: Int64
    ) async throws -> [String] {
        let evaluation = AlarmEvaluation(targets: Self.targets)
        return try await store.write { store in
            try evaluation.apply(alarms, in: store, auditHead: Self.head, at: Self.time(seconds))
        }.map { "\($0.phase.rawValue) \($0.severity) \($0.since.secondsSince1970 - Self.time(0).secondsSince1970)" }
    }

    private static func due(_ store: any ServiceStore, after seconds: Int64) async throws -> [StoredNotification] {
        try await store.write {
            try $0.takeNotifications(due: Self.time(seconds), until: Self.time(seconds + 60), limit: 20)
        }
    }

    @Test("begin, more urgent and end are told once each; a text that moves is not", arguments: TestedStore.all)
    func story(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let (store, other) = (try open(), try open())
            func alarm(_ severity: Alarm.Severity, _ detail: String) -> Alarm {
                Alarm(.listExpiry, severity, "a", detail)
            }
            #expect(try await Self.apply([alarm(.notice, "14 days")], to: store, after: 0) == ["firing notice 0"])
            #expect(try await Self.apply([alarm(.notice, "13 days")], to: other, after: 10) == [])
            #expect(try await Self.apply([alarm(.notice, "13 days")], to: store, after: 10) == [])
            #expect(try await store.read { try $0.firingAlarms().map(\.detail) } == ["13 days"])
            #expect(try await Self.apply([alarm(.warning, "7 days")], to: other, after: 20) == ["firing warning 0"])
            #expect(try await Self.apply([], to: store, after: 30) == ["recovered warning 0"])
            #expect(try await Self.apply([], to: other, after: 30) == [])
            #expect(try await store.read { try $0.firingAlarms() }.isEmpty)
            #expect(try await store.read { try $0.endedAlarms(limit: 9).map(\.endedAt) } == [Self.time(30)])
            // It begins anew, and anew since now.
            #expect(try await Self.apply([alarm(.notice, "x")], to: store, after: 40) == ["firing notice 40"])
            let due = try await Self.due(store, after: 50)
            #expect(due.count == 8)
            #expect(Set(due.map(\.target)) == ["ops", "chat"])
            for notification in due {
                #expect(AlarmEvent(notification.body)?.auditHead == Self.head)
            }
        }
    }

    @Test("two alarms of one key are one, the most urgent")
    func sameKey() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let alarms = [Alarm.Severity.warning, .critical, .notice].map { Alarm(.silence, $0, "a", "x") }
            #expect(try await Self.apply(alarms, to: store, after: 0) == ["firing critical 0"])
        }
    }

    @Test("what one instance is sending no other takes, until it has had its time", arguments: TestedStore.all)
    func lease(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let (store, other) = (try open(), try open())
            _ = try await Self.apply([Alarm(.silence, .notice, "a", "x")], to: store, after: 0)
            async let one = Self.due(store, after: 0)
            async let two = Self.due(other, after: 0)
            let taken = try await one + two
            #expect(taken.count == 2)
            #expect(taken.map(\.attempts) == [1, 1])
            #expect(try await Self.due(other, after: 59).isEmpty)
            #expect(try await Self.due(other, after: 60).map(\.attempts) == [2, 2])
        }
    }

    @Test("an older message that did not get through does not arrive after a newer one", arguments: TestedStore.all)
    func order(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let other = Alarm(.silence, .notice, "other", "x")
            _ = try await Self.apply([Alarm(.silence, .notice, "a", "x"), other], to: store, after: 0)
            // Tried once, in vain.
            for notification in try await Self.due(store, after: 0) {
                try await store.write { try $0.postpone(notification.number, until: Self.time(1_000)) }
            }
            _ = try await Self.apply([other], to: store, after: 10)
            let due = try await Self.due(store, after: 2_000).compactMap { AlarmEvent($0.body) }
            #expect(
                due.map { "\($0.phase.rawValue) \($0.key)" }.sorted() == [
                    "firing silence:other", "firing silence:other", "recovered silence:a", "recovered silence:a",
                ])
        }
    }

    @Test("a test of a pager ends by itself, and one of a chat is one message")
    func tests() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            for kind in [AlertTarget.Kind.pagerduty, .slack] {
                let target = AlertTarget(kind: kind, name: kind.rawValue, address: "https://example.com/")
                try await store.write { try AlarmEvaluation.test(target, in: $0, by: "cli", at: Self.time(0)) }
            }
            let due = try await Self.due(store, after: 0)
            let told = due.map { "\($0.target) \(AlarmEvent($0.body)?.phase.rawValue ?? "")" }
            #expect(told == ["pagerduty test", "pagerduty recovered", "slack test"])
            #expect(Set(due.prefix(2).compactMap { AlarmEvent($0.body)?.key }) == ["test:pagerduty"])
        }
    }
}
