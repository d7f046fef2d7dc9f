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
}
