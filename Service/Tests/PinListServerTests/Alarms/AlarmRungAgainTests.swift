// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("An alarm that was told, and rings again", .runsPostgreSQL)
struct AlarmRungAgainTests {
    private static func time(_ seconds: Int64) -> Timestamp {
        Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds)
    }

    private static func failing(_ host: String, _ count: Double, _ severity: Alarm.Severity = .critical) -> Alarm {
        Alarm(.failureRate, severity, host, "\(host) fails", count: count)
    }

    /// The notifications: the phase, the key, and the number of alarms.
    private static func told(
        _ alarms: [Alarm], to store: any ServiceStore, after seconds: Int64
    ) async throws -> [String] {
        try await store.write { store in
            try AlarmEvaluation(targets: ["ops"]).apply(alarms, in: store, auditHead: "", at: Self.time(seconds))
        }.map { "\($0.phase.rawValue) \($0.key) \($0.count)" }
    }

    private static func silence(
        _ what: String, for seconds: Int64, upTo severity: Alarm.Severity? = nil, in store: any ServiceStore,
        after begin: Int64
    ) async throws {
        let silence = try await store.write { store in
            try AlarmHandling.silence(
                what, for: seconds, because: "work", upTo: severity, in: store, by: "t1", at: Self.time(begin))
        }
        #expect(silence != nil)
    }

    @Test(
        "a stranger has an alarm end, or warn, for one look: it still rings when it has grown to ten times what was told",
        arguments: TestedStore.all)
    func strangerHasAnAlarmEndOrWarnForOneLookItStillRingsWhenItHasGrown(on tested: TestedStore) async throws {
        for dip in [[], [Self.failing("a", 12, .warning)]] {
            try await tested.withDatabase { open in
                let (store, b) = (try open(), Self.failing("b", 12))
                #expect(try await Self.told([Self.failing("a", 12), b], to: store, after: 0).count == 1)
                #expect(try await Self.told(dip + [b], to: store, after: 15) == [])
                #expect(try await Self.told([Self.failing("a", 12), b], to: store, after: 30) == [])
                #expect(try await Self.told([Self.failing("a", 1_000), b], to: store, after: 45) == [])
                #expect(
                    try await Self.told([Self.failing("a", 1_000), b], to: store, after: 300) == [
                        "firing failure-rate:a 2"
                    ])
                #expect(try await Self.told([Self.failing("a", 9_999), b], to: store, after: 615) == [])
            }
        }
    }

    @Test("an alarm that ended, was told so and begins anew has not grown: what it counted before is over")
    func alarmThatEndedWasToldSoAndBeginsAnewHasNotGrown() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let (store, b) = (try open(), Self.failing("b", 12))
            _ = try await Self.told([Self.failing("a", 12), b], to: store, after: 0)
            _ = try await Self.told([b], to: store, after: 15)
            #expect(try await Self.told([b], to: store, after: 300) == ["firing failure-rate:a 1"])
            _ = try await Self.told([Self.failing("a", 1_000), b], to: store, after: 315)
            let counts = try await store.read { try $0.firingAlarms().map(\.toldCount) }
            #expect(counts.sorted() == [0, 12])
        }
    }

    @Test("an alarm that rang before it was silenced rings when the silence ends by itself", arguments: TestedStore.all)
    func alarmThatRangBeforeItWasSilencedRingsWhenTheSilenceEndsByItself(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let (store, a) = (try open(), [Self.failing("a", 12)])
            #expect(try await Self.told(a, to: store, after: 0) == ["firing failure-rate:a 1"])
            try await Self.silence("failure-rate:a", for: 60, in: store, after: 10)
            #expect(try await Self.told(a, to: store, after: 65) == [])
            #expect(try await Self.told(a, to: store, after: 80) == ["firing failure-rate:a 1"])
            for seconds: Int64 in [95, 300, 3_600, 7_200] {
                #expect(try await Self.told(a, to: store, after: seconds) == [])
            }
        }
    }

    @Test("it rings when a person ends its silence, or makes one in its place that covers less; not while another does")
    func ringsWhenAPersonEndsItsSilenceOrMakesOneInItsPlaceThatCoversLess() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let (store, a) = (try open(), [Self.failing("a", 12)])
            _ = try await Self.told(a, to: store, after: 0)
            try await Self.silence("failure-rate:a", for: 600, in: store, after: 10)
            try await Self.silence("failure-rate", for: 600, in: store, after: 10)
            @Sendable func unsilence(_ what: String, _ seconds: Int64) async throws -> Bool {
                try await store.write {
                    try AlarmHandling.unsilence(what, in: $0, by: "t1", at: Self.time(seconds))
                }
            }
            #expect(try await unsilence("failure-rate:a", 20))
            #expect(try await Self.told(a, to: store, after: 30) == [])
            #expect(try await unsilence("failure-rate", 40))
            #expect(try await Self.told(a, to: store, after: 45) == ["firing failure-rate:a 1"])
            try await Self.silence("failure-rate", for: 600, in: store, after: 50)
            #expect(try await Self.told(a, to: store, after: 60) == [])
            try await Self.silence("failure-rate", for: 600, upTo: .warning, in: store, after: 70)
            #expect(try await Self.told(a, to: store, after: 75) == ["firing failure-rate:a 1"])
        }
    }

    @Test("what a person has seen, and what rang in its silence because it was more urgent, does not ring at its end")
    func whatAPersonHasSeenAndWhatRangInItsSilenceDoesNotRingAtItsEnd() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let (store, warning) = (try open(), [Self.failing("a", 12, .warning)])
            _ = try await Self.told(warning, to: store, after: 0)
            try await Self.silence("failure-rate:a", for: 60, in: store, after: 10)
            let critical = [Self.failing("a", 12)]
            #expect(try await Self.told(critical, to: store, after: 15) == ["firing failure-rate:a 1"])
            #expect(try await Self.told(critical, to: store, after: 80) == [])
            try await Self.silence("failure-rate:a", for: 60, in: store, after: 90)
            #expect(
                try await store.write {
                    try AlarmHandling.acknowledge("failure-rate:a", in: $0, by: "t1", at: Self.time(100))
                })
            #expect(try await Self.told(critical, to: store, after: 160) == [])
        }
    }

    @Test(
        "it rings at its end where the service was off then, where it dipped then, and where less is silenced anew just then",
        arguments: TestedStore.all)
    func ringsAtItsEndWhereTheServiceWasOffWhereItDippedAndWhereLessIsSilenced(on tested: TestedStore) async throws {
        let (a, b) = (Self.failing("a", 12), Self.failing("b", 12))
        try await tested.withDatabase { open in
            let store = try open()
            _ = try await Self.told([a], to: store, after: 0)
            try await Self.silence("failure-rate:a", for: 60, in: store, after: 10)
            #expect(try await Self.told([a], to: store, after: 20) == [])
            #expect(try await Self.told([a], to: store, after: 13 * 3_600) == ["firing failure-rate:a 1"])
        }
        try await tested.withDatabase { open in
            let store = try open()
            #expect(try await Self.told([a, b], to: store, after: 0) == ["firing failure-rate:a 2"])
            try await Self.silence("failure-rate:a", for: 60, in: store, after: 10)
            #expect(try await Self.told([a, b], to: store, after: 20) == [])
            #expect(try await Self.told([b], to: store, after: 75) == [])
            #expect(try await Self.told([a, b], to: store, after: 90) == ["firing failure-rate:a 2"])
        }
        try await tested.withDatabase { open in
            let store = try open()
            _ = try await Self.told([a], to: store, after: 0)
            try await Self.silence("failure-rate:a", for: 60, in: store, after: 10)
            #expect(try await Self.told([a], to: store, after: 20) == [])
            try await Self.silence("failure-rate:a", for: 60, upTo: .warning, in: store, after: 72)
            #expect(try await Self.told([a], to: store, after: 80) == ["firing failure-rate:a 1"])
        }
    }
}
