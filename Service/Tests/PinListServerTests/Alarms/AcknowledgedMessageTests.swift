// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("A message that a person has seen", .runsPostgreSQL)
struct AcknowledgedMessageTests {
    private static func time(_ seconds: Int64) -> Timestamp {
        Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds)
    }

    private static func failing(_ hosts: [String], _ severity: Alarm.Severity = .critical) -> [Alarm] {
        hosts.map { Alarm(.failureRate, severity, $0, "\($0) fails") }
    }

    private static func told(
        _ alarms: [Alarm], to store: any ServiceStore, after seconds: Int64
    ) async throws -> [String] {
        try await store.write { store in
            try store.keepTargets(["ops", "pager"], of: "test", at: Self.time(seconds))
            return try AlarmEvaluation(targets: ["ops", "pager"]).apply(
                alarms, in: store, auditHead: "", at: Self.time(seconds))
        }.map { "\($0.phase.rawValue) \($0.key) \($0.count)" }
    }

    private static func acknowledge(_ host: String, in store: any ServiceStore, after seconds: Int64) async throws {
        #expect(
            try await store.write {
                try AlarmHandling.acknowledge("failure-rate:\(host)", in: $0, by: "t1", at: Self.time(seconds))
            })
    }

    private static func silence(
        _ host: String, for seconds: Int64 = 600, in store: any ServiceStore, after begin: Int64
    ) async throws {
        _ = try await store.write { store in
            try AlarmHandling.silence(
                "failure-rate:\(host)", for: seconds, because: "x", upTo: nil, in: store, by: "t1",
                at: Self.time(begin))
        }
    }

    /// The acknowledgements that wait to be sent, one for each target.
    private static func sent(_ store: any ServiceStore) async throws -> [String] {
        try await store.read { try $0.notifications(to: "pager", before: .max) }.compactMap { AlarmEvent($0) }
            .filter { $0.phase == .acknowledged }.map { "\($0.key) \($0.count)" }
    }

    @Test("is told when the last of its alarms is seen, once, and not before", arguments: TestedStore.all)
    func isToldWhenTheLastOfItsAlarmsIsSeenOnceAndNotBefore(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            _ = try await Self.told(Self.failing(["a", "b"]), to: store, after: 0)
            try await Self.acknowledge("a", in: store, after: 10)
            #expect(try await Self.sent(store) == [])
            try await Self.acknowledge("b", in: store, after: 20)
            try await Self.acknowledge("b", in: store, after: 30)
            #expect(try await Self.sent(store) == ["failure-rate:a 2"])
        }
    }

    @Test("is whole although one of its alarms is silenced")
    func isWholeAlthoughOneOfItsAlarmsIsSilenced() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Self.told(Self.failing(["a", "b"]), to: store, after: 0)
            try await Self.silence("b", in: store, after: 5)
            try await Self.acknowledge("a", in: store, after: 10)
            #expect(try await Self.sent(store) == ["failure-rate:a 2"])
        }
    }

    @Test("is whole when the last of its other alarms is silenced; that one rings when the silence ends")
    func isWholeWhenTheLastOfItsOtherAlarmsIsSilencedThatOneRingsWhenTheSilenceEnds() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let (store, both) = (try open(), Self.failing(["a", "b"]))
            _ = try await Self.told(both, to: store, after: 0)
            try await Self.acknowledge("a", in: store, after: 10)
            #expect(try await Self.sent(store) == [])
            try await Self.silence("b", for: 60, in: store, after: 12)
            #expect(try await Self.sent(store) == ["failure-rate:a 2"])
            #expect(try await Self.told(both, to: store, after: 15) == [])
            #expect(try await Self.told(both, to: store, after: 80) == ["firing failure-rate:b 1"])
            #expect(try await Self.sent(store) == ["failure-rate:a 2"])
        }
    }

    @Test("what left it silenced, and was seen since, does not ring when the silence ends, but when it becomes worse")
    func whatLeftItSilencedAndWasSeenSinceDoesNotRingWhenTheSilenceEnds() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let both = Self.failing(["a"]) + Self.failing(["b"], .warning)
            _ = try await Self.told(both, to: store, after: 0)
            try await Self.silence("b", for: 60, in: store, after: 5)
            for host in ["a", "b"] { try await Self.acknowledge(host, in: store, after: 10) }
            #expect(try await Self.told(both, to: store, after: 80) == [])
            #expect(try await Self.sent(store) == ["failure-rate:a 2"])
            #expect(
                try await Self.told(Self.failing(["a", "b"]), to: store, after: 95) == ["firing failure-rate:b 1"])
        }
    }

    @Test("is told although its only alarm was silenced before: the pager was called, and would go on")
    func isToldAlthoughItsOnlyAlarmWasSilencedBefore() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Self.told(Self.failing(["a"]), to: store, after: 0)
            try await Self.silence("a", in: store, after: 5)
            #expect(try await Self.sent(store) == [])
            try await Self.acknowledge("a", in: store, after: 10)
            #expect(try await Self.sent(store) == ["failure-rate:a 1"])
        }
    }

    @Test("is told when the last alarm of it that no person has seen ends; that one rings when it begins anew")
    func isToldWhenTheLastAlarmOfItThatNoPersonHasSeenEnds() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Self.told(Self.failing(["a", "b"]), to: store, after: 0)
            try await Self.acknowledge("a", in: store, after: 10)
            #expect(try await Self.told(Self.failing(["a"]), to: store, after: 15) == ["acknowledged failure-rate:a 1"])
            #expect(try await Self.told(Self.failing(["a"]), to: store, after: 30) == [])
            #expect(try await Self.sent(store) == ["failure-rate:a 1"])
            #expect(try await Self.told(Self.failing(["a", "b"]), to: store, after: 45) == ["firing failure-rate:b 1"])
        }
    }

    @Test("stays one that a person has seen when its alarm is silenced as well: what gets worse rings by itself")
    func staysOneThatAPersonHasSeenWhenItsAlarmIsSilencedAsWell() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Self.told(Self.failing(["a"], .warning), to: store, after: 0)
            try await Self.acknowledge("a", in: store, after: 10)
            try await Self.silence("a", in: store, after: 12)
            #expect(
                try await Self.told(Self.failing(["a"]), to: store, after: 15).sorted() == [
                    "firing failure-rate:a#2 1", "recovered failure-rate:a 0",
                ])
        }
    }

    @Test("is joined by none when its alarm is silenced as well")
    func isJoinedByNoneWhenItsAlarmIsSilencedAsWell() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Self.told(Self.failing(["a"]), to: store, after: 0)
            try await Self.acknowledge("a", in: store, after: 10)
            try await Self.silence("a", in: store, after: 12)
            #expect(try await Self.told(Self.failing(["a", "b"]), to: store, after: 15) == ["firing failure-rate:b 1"])
        }
    }

    @Test("is left by an alarm that becomes as urgent as another of it was: it rings by itself")
    func isLeftByAnAlarmThatBecomesAsUrgentAsAnotherOfItWas() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let a = Self.failing(["a"])
            _ = try await Self.told(a + Self.failing(["b"], .warning), to: store, after: 0)
            for host in ["a", "b"] { try await Self.acknowledge(host, in: store, after: 10) }
            #expect(
                try await Self.told(a + Self.failing(["b"]), to: store, after: 15) == ["firing failure-rate:b 1"])
        }
    }

    @Test("is joined by none: what begins after that rings under a key of its own, or the pager would not call")
    func isJoinedByNoneWhatBeginsAfterThatRingsUnderAKeyOfItsOwn() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            #expect(try await Self.told(Self.failing(["a"]), to: store, after: 0) == ["firing failure-rate:a 1"])
            try await Self.acknowledge("a", in: store, after: 10)
            #expect(try await Self.told(Self.failing(["a", "b"]), to: store, after: 15) == ["firing failure-rate:b 1"])
            // That one is not acknowledged yet: others join it.
            #expect(try await Self.told(Self.failing(["a", "b", "c"]), to: store, after: 30) == [])
            #expect(
                try await Self.told(Self.failing(["a", "b", "c"]), to: store, after: 315) == ["firing failure-rate:b 2"]
            )
            #expect(
                try await Self.told([], to: store, after: 330) == [
                    "recovered failure-rate:a 1", "recovered failure-rate:b 2",
                ])
        }
    }

    @Test("ends when its alarm becomes more urgent, which rings anew under another key")
    func endsWhenItsAlarmBecomesMoreUrgentWhichRingsAnewUnderAnotherKey() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            #expect(
                try await Self.told(Self.failing(["a"], .warning), to: store, after: 0) == ["firing failure-rate:a 1"])
            try await Self.acknowledge("a", in: store, after: 10)
            #expect(
                try await Self.told(Self.failing(["a"]), to: store, after: 15).sorted() == [
                    "firing failure-rate:a#2 1", "recovered failure-rate:a 0",
                ])
            let waiting = try await store.read { try $0.notifications(to: "pager", before: .max) }
            #expect(
                waiting.compactMap { AlarmEvent($0) }.first { $0.phase == .recovered }?.detail
                    == "no alarm of failure-rate is left in this message; one that fires is told in another")
            #expect(try await Self.told([], to: store, after: 30) == ["recovered failure-rate:a#2 1"])
        }
    }

    @Test("is not forgotten when a pager that took nothing yet is told anew of the message")
    func isNotForgottenWhenAPagerThatTookNothingYetIsToldAnewOfTheMessage() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Self.told(Self.failing(["a", "b"]), to: store, after: 0)
            for host in ["a", "b"] { try await Self.acknowledge(host, in: store, after: 10) }
            // Both were tried, in vain.
            _ = try await store.write {
                try $0.takeNotifications(for: ["pager"], due: Self.time(20), until: Self.time(80), limit: 9)
            }
            #expect(try await Self.told(Self.failing(["a"]), to: store, after: 300) == ["firing failure-rate:a 1"])
            let waiting = try await store.read { try $0.notifications(to: "pager", before: .max) }
            #expect(waiting.compactMap { AlarmEvent($0)?.phase } == [.firing, .acknowledged])
            #expect(try await Self.told([], to: store, after: 315) == ["recovered failure-rate:a 1"])
        }
    }
}
