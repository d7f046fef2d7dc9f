// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// The monitor: when it looks, what it keeps, what it does.
@Suite struct MonitorTests {
    private let agent = TamperSignal(.codeWithoutFile, .high, "one")
    private let pages = TamperSignal(.changedCodePages, .high, "two")

    @Test("before a connection only the quick detectors look; at everything, all do")
    func beforeAConnectionOnlyTheQuickDetectorsLookAtEverythingAllDo() async {
        let quick = ScriptedDetector("quick", .connection) { _ in [] }
        let slow = ScriptedDetector("slow", .occasional) { _ in [] }
        let monitor = IntegrityMonitor(DetectorSet([quick, slow]), on: RecordedMachine())
        #expect(quick.count == 0 && slow.count == 0)
        monitor.check()
        #expect(quick.count == 1 && slow.count == 0)
        await monitor.look()
        #expect(quick.count == 2 && slow.count == 1)
    }

    @Test("who attached and left before the next look is still known")
    func whoAttachedAndLeftBeforeTheNextLookIsStillKnown() {
        let detector = ScriptedDetector("once", .connection) { [agent] look in look == 1 ? [agent] : [] }
        let policy = TamperPolicy([TamperRule(.codeWithoutFile, [.refuse])])
        let monitor = IntegrityMonitor(DetectorSet([detector]), on: RecordedMachine(), policy: policy)
        #expect(!monitor.decision.refuses)
        #expect(monitor.check().refuses)
        #expect(monitor.check().refuses)
        #expect(monitor.decision.attached == ["code-without-file"])
    }

    @Test("a signal is kept once, with its highest confidence, and when it was seen first and last")
    func signalIsKeptOnceWithItsHighestConfidenceAndWhenItWasSeenFirstAndLast() async {
        let low = TamperSignal(.jailbreakFile, .low, "low")
        let high = TamperSignal(.jailbreakFile, .high, "high")
        let detector = ScriptedDetector("more", .occasional) { $0 == 2 ? [high] : [low] }
        let clock = ManualClock(waits: 2)
        let monitor = IntegrityMonitor(
            DetectorSet([detector]), on: RecordedMachine(),
            schedule: IntegritySchedule(minimumSeconds: 5, maximumSeconds: 5),
            clock: clock)
        await monitor.run()
        #expect(detector.count == 3)
        #expect(monitor.sightings == [TamperSighting(signal: high, firstSeen: 1, lastSeen: 10_000_000_001)])
    }

    @Test("changes are streamed once each: the past first, a higher confidence again")
    func changesAreStreamedOnceEachThePastFirstAHigherConfidenceAgain() async {
        let low = TamperSignal(.jailbreakFile, .low, "low")
        let high = TamperSignal(.jailbreakFile, .high, "high")
        let detector = ScriptedDetector("more", .connection) { [agent] look in
            [[agent], [agent, low], [agent, low], [high]][min(look, 4) - 1]
        }
        let monitor = IntegrityMonitor(DetectorSet([detector]), on: RecordedMachine())
        monitor.check()
        var changes = monitor.changes().makeAsyncIterator()
        for _ in 0..<3 { monitor.check() }
        #expect(await changes.next() == self.agent)
        #expect(await changes.next() == low)
        #expect(await changes.next() == high)
    }

    @Test("it looks at start and at random times within the schedule, until it is cancelled")
    func itLooksAtStartAndAtRandomTimesWithinTheScheduleUntilItIsCancelled() async {
        let detector = ScriptedDetector("all", .occasional) { _ in [] }
        let clock = ManualClock(waits: 50)
        let monitor = IntegrityMonitor(
            DetectorSet([detector]), on: RecordedMachine(),
            schedule: IntegritySchedule(minimumSeconds: 10, maximumSeconds: 20), clock: clock,
            randomness: SeededOrder(state: 5))
        await monitor.run()
        #expect(detector.count == 51)
        #expect(clock.waits.count == 50)
        #expect(clock.waits.allSatisfy { (10_000_000_000...20_000_000_000).contains($0) })
        #expect(Set(clock.waits).count > 40)
    }

    @Test("it ends when its task is cancelled while it waits")
    func itEndsWhenItsTaskIsCancelledWhileItWaits() async {
        let detector = ScriptedDetector("all", .occasional) { [agent] _ in [agent] }
        let monitor = IntegrityMonitor(
            DetectorSet([detector]), on: RecordedMachine(),
            schedule: IntegritySchedule(minimumSeconds: 86_400, maximumSeconds: 86_400))
        var changes = monitor.changes().makeAsyncIterator()
        let task = Task { await monitor.run() }
        #expect(await changes.next() == self.agent)
        task.cancel()
        await task.value
        #expect(detector.count == 1)
    }

    @Test("a schedule that makes no sense is made one that does")
    func scheduleThatMakesNoSenseIsMadeOneThatDoes() {
        #expect(IntegritySchedule(minimumSeconds: 0, maximumSeconds: 0).minimum == 1_000_000_000)
        #expect(IntegritySchedule(minimumSeconds: 9, maximumSeconds: 3).maximum == 9_000_000_000)
        #expect(IntegritySchedule(minimumSeconds: .max, maximumSeconds: .max).minimum == 86_400_000_000_000)
    }

    @Test("two independent signals wipe and then end, once")
    func twoIndependentSignalsWipeAndThenEndOnce() {
        let detector = ScriptedDetector("two", .connection) { [agent, pages] look in
            look == 1 ? [agent] : [agent, pages]
        }
        let counter = CallNotes()
        let rules = [TamperRule(.codeWithoutFile, [.wipe, .end]), TamperRule(.changedCodePages, [.wipe, .end])]
        let monitor = IntegrityMonitor(
            DetectorSet([detector]), on: RecordedMachine(), policy: TamperPolicy(rules, ignoresDebuggers: false),
            response: TamperResponse(wipe: { counter.note("wipe") }, end: { counter.note("end") }))
        monitor.check()
        #expect(counter.all.isEmpty)
        for _ in 0..<3 { monitor.check() }
        #expect(counter.all == ["wipe", "end"])
    }

    @Test("what cannot be looked at is kept, once")
    func whatCannotBeLookedAtIsKeptOnce() {
        var machine = RecordedMachine()
        machine.ways[.status] = .refused
        let monitor = IntegrityMonitor(.ofRecordings, on: machine)
        monitor.check()
        monitor.check()
        #expect(monitor.blindSpots == [BlindSpot(detector: "status", reason: ObservationError(.refused, "status"))])
        #expect(monitor.sightings.isEmpty)
    }

    @Test("a canary that is accepted is a signal of the monitor's")
    func canaryThatIsAcceptedIsASignalOfTheMonitors() async {
        let monitor = IntegrityMonitor(
            DetectorSet([]), on: RecordedMachine(), canary: Canary([CanaryCheck("verdict", [.bad { true }])]))
        monitor.check()
        #expect(monitor.sightings.isEmpty)
        await monitor.look()
        #expect(monitor.sightings.map(\.signal.name) == [.canaryAccepted])
    }

    @Test("an app's detector that makes up names without end fills nothing")
    func appsDetectorThatMakesUpNamesWithoutEndFillsNothing() {
        let detector = ScriptedDetector("endless", .connection) { look in
            SignalName("name-\(look)", family: .app).map { [TamperSignal($0, .low, "")] } ?? []
        }
        let monitor = IntegrityMonitor(DetectorSet([detector]), on: RecordedMachine())
        for _ in 0..<200 { monitor.check() }
        #expect(monitor.sightings.count == SightingLedger.maximum)
    }

    @Test("many connections at once are checked at once")
    func manyConnectionsAtOnceAreCheckedAtOnce() async {
        let detector = ScriptedDetector("quick", .connection) { [agent] _ in [agent] }
        let monitor = IntegrityMonitor(DetectorSet([detector]), on: RecordedMachine())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { monitor.check() } }
        }
        #expect(detector.count == 100)
        #expect(monitor.sightings.count == 1)
    }
}
