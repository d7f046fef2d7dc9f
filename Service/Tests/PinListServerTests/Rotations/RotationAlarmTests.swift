// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinRotation
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Alarms of rotations")
struct RotationAlarmTests {
    private static let day: Int64 = 86_400
    private static let host = "api.example.com"

    /// The alarms of a service that has plans and probes, so many days after the start.
    private static func alarms(
        _ plans: [StoredRotation], probes: [StoredProbe] = [], pins: [KnownPin] = [KnownPin(RotationPlan.pin(9))],
        mode: PinnedDomain.Mode = .enforce, after days: Int64 = 0
    ) async throws -> [Alarm] {
        let repository = try RepositorySimulator.story([
            PinList.Domain(PinnedDomain(try HostName(Self.host), mode: mode, pins: pins))
        ])
        var found: [Alarm] = []
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await store.write { store in
                for plan in plans { #expect(try store.put(plan, if: .absent) == .stored(isNew: true)) }
                try store.add(probes)
            }
            let clock = TurnedClock()
            clock.turn(by: days * Self.day)
            let parts = ServiceParts.story(store, anchors: repository.anchors, clock: clock)
            #expect(try await parts.lists.reload(from: store).isEmpty)
            found = AlarmRules.rotations(try await parts.overview().alarmFacts)
        }
        return found
    }

    private static func texts(_ alarms: [Alarm]) -> [String] {
        alarms.map { "\($0.kind.rawValue) \($0.severity) \($0.subject)" }
    }

    /// The result of a probe: the pins of a path, leaf first, and in how many days the leaf ends.
    private static func probe(_ path: [Pin], days: Int64) -> StoredProbe {
        let end = Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + days * Self.day)
        let certificates = path.map { "{\"pin\": \"\($0)\", \"notAfter\": \"\(end)\"}" }.joined(separator: ", ")
        let result = "{\"host\": \"\(Self.host)\", \"ok\": true, \"path\": [\(certificates)]}"
        return StoredProbe(
            name: "com.example.app", host: Self.host, at: TurnedClock.start, isOK: true, result: Array(result.utf8))
    }

    @Test("a gate is overdue a day after its time, and more so after a week; what is over is not")
    func gateIsOverdueADayAfterItsTimeAndMoreSoAfterAWeekWhatIsOverIsNot() async throws {
        let announced = try RotationPlan.story(Self.host, [.announced]).stored()
        // It was to be ready by day 30.
        for (days, expected) in [(31, nil), (32, "notice"), (37, "notice"), (38, "warning")] as [(Int64, String?)] {
            let found = Self.texts(try await Self.alarms([announced], after: days))
            #expect(found == (expected.map { ["rotation-gate \($0) \(Self.host)"] } ?? []), "\(days)")
        }
        let over = try RotationPlan.story(Self.host, [.announced, .ready, .switched, .retired]).stored()
        #expect(try await Self.alarms([over], after: 300).isEmpty)
        let aborted = try RotationPlan.story(Self.host, [.announced, .aborted]).stored()
        #expect(try await Self.alarms([aborted], after: 300).isEmpty)
    }

    @Test("a state that is said to begin in the future keeps no overdue gate quiet")
    func stateThatIsSaidToBeginInTheFutureKeepsNoOverdueGateQuiet() async throws {
        var plan = try RotationPlan.story(Self.host)
        try plan.enter(RotationStep(.announced, at: Timestamp("9999-12-31T23:59:59Z"), version: 2))
        let found = Self.texts(try await Self.alarms([plan.stored()], after: 38))
        #expect(found == ["rotation-gate warning \(Self.host)"])
    }

    @Test("a gate that closed again is told of at once, with what the gate said")
    func gateThatClosedAgainIsToldOfAtOnceWithWhatTheGateSaid() async throws {
        var plan = try RotationPlan.story(Self.host, [.announced, .ready])
        let at = Timestamp(secondsSince1970: plan.since.secondsSince1970 + 1)
        try plan.enter(RotationStep(.announced, at: at, reason: "12 % refuse it"))
        let found = try await Self.alarms([plan.stored()], after: 3)
        #expect(Self.texts(found) == ["rotation-gate warning \(Self.host)"])
        #expect(found.first?.detail.contains("12 % refuse it") == true)
    }

    @Test("a server that presents the new key before the gate said so is critical; after that it is the plan")
    func serverThatPresentsTheNewKeyBeforeTheGateSaidSoIsCritical() async throws {
        let seen = Self.probe([RotationPlan.pin(10), RotationPlan.pin(1)], days: 300)
        for (states, expected) in [
            ([], true), ([.announced], true), ([.announced, .ready], false),
            ([.announced, .ready, .switched], false), ([.announced, .aborted], false),
        ] as [([RotationState], Bool)] {
            let plan = try RotationPlan.story(Self.host, states).stored()
            let found = Self.texts(try await Self.alarms([plan], probes: [seen]))
            #expect(found == (expected ? ["early-switch critical \(Self.host)"] : []), "\(states)")
        }
        let plan = try RotationPlan.story(Self.host, [.announced]).stored()
        // One address of two, of which the host's path is not.
        let addresses = [RotationPlan.pin(9), RotationPlan.pin(10)].map { #"{"address": "a", "pin": "\#($0)"}"# }
        let path = #"[{"pin": "\#(RotationPlan.pin(9))"}]"#
        let result = #"{"path": \#(path), "addresses": [\#(addresses.joined(separator: ", "))]}"#
        let one = StoredProbe(
            name: "com.example.app", host: Self.host, at: TurnedClock.start, isOK: true, result: Array(result.utf8))
        #expect(Self.texts(try await Self.alarms([plan], probes: [one])) == ["early-switch critical \(Self.host)"])
        let old = Self.probe([RotationPlan.pin(9), RotationPlan.pin(1)], days: 300)
        #expect(try await Self.alarms([plan], probes: [old]).isEmpty)
    }

    @Test("a certificate that ends within 30 days and whose own key alone is pinned wants a plan")
    func certificateThatEndsWithin30DaysAndWhoseOwnKeyAloneIsPinnedWantsAPlan() async throws {
        let soon = Self.probe([RotationPlan.pin(9), RotationPlan.pin(1)], days: 30)
        let wanted = ["no-rotation-plan notice \(Self.host)"]
        #expect(Self.texts(try await Self.alarms([], probes: [soon])) == wanted)
        let late = Self.probe([RotationPlan.pin(9), RotationPlan.pin(1)], days: 31)
        #expect(try await Self.alarms([], probes: [late]).isEmpty)
        // A rotation is or was in progress: an aborted one is no plan.
        let plan = try RotationPlan.story(Self.host, [.announced]).stored()
        #expect(try await Self.alarms([plan], probes: [soon]).isEmpty)
        let aborted = try RotationPlan.story(Self.host, [.aborted]).stored()
        #expect(Self.texts(try await Self.alarms([aborted], probes: [soon])) == wanted)
        // A pinned issuer outlives the leaf, and what is not enforced locks no client out.
        let issuer = [KnownPin(RotationPlan.pin(9)), KnownPin(RotationPlan.pin(1))]
        #expect(try await Self.alarms([], probes: [soon], pins: issuer).isEmpty)
        #expect(try await Self.alarms([], probes: [soon], mode: .report).isEmpty)
        #expect(try await Self.alarms([]).isEmpty)
    }

    @Test("a plan that cannot be read takes no other alarm with it, and is told of")
    func planThatCannotBeReadTakesNoOtherAlarmWithItAndIsToldOf() async throws {
        let later = StoredRotation(
            name: "com.example.app", host: Self.host, storedAt: TurnedClock.start,
            bytes: Array("{\"schema\": 2}".utf8))
        let found = Self.texts(try await Self.alarms([later]))
        #expect(found == ["rotation-gate warning \(Self.host)"])
    }
}
