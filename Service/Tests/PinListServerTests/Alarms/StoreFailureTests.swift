// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import NIOConcurrencyHelpers
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("A database that fails is told without it")
struct StoreFailureTests {
    /// Keeps what is posted, and answers as it is told.
    private final class Recorder: WebhookSender {
        private let state = NIOLockedValueBox<(status: Int, events: [AlarmEvent])>((204, []))
        private let posted: AsyncStream<AlarmEvent>.Continuation
        /// What is posted, as it comes.
        let stream: AsyncStream<AlarmEvent>

        init() { (self.stream, self.posted) = AsyncStream.makeStream(of: AlarmEvent.self) }

        /// The status of every answer.
        var status: Int {
            get { self.state.withLockedValue { $0.status } }
            set { self.state.withLockedValue { $0.status = newValue } }
        }

        var events: [AlarmEvent] { self.state.withLockedValue { $0.events } }

        var phases: [String] { self.events.map(\.phase.rawValue) }

        func post(_ body: [UInt8], to address: String) async throws -> Int {
            let event = AlarmEvent(body)
            let status = self.state.withLockedValue { state in
                if let event { state.events.append(event) }
                return state.status
            }
            if let event { self.posted.yield(event) }
            return status
        }
    }

    /// An instance whose store can fail, and its rounds of 15 seconds.
    private struct Story {
        let store: WrappedStore
        let clock = TurnedClock()
        let recorder = Recorder()
        var watch: AlarmWatch

        init(_ store: any ServiceStore) {
            self.store = WrappedStore(store)
            let target = AlertTarget(kind: .webhook, name: "ops", address: "https://ops.example/")
            self.watch = AlarmWatch(
                parts: .story(self.store, anchors: [:], clock: self.clock, alerts: [target]), sender: self.recorder)
        }

        func rounds(_ count: Int) async {
            for _ in 0..<count {
                await self.watch.round()
                await self.watch.tellOfStore()
                self.clock.turn(by: 15)
            }
        }
    }

    private static func run(_ body: @Sendable (Story) async throws -> Void) async throws {
        try await TestedStore.sqlite.withDatabase { open in try await body(Story(try open())) }
    }

    @Test("a full disk: told after five minutes, once, again after an hour, and its end when there is room")
    func fullDiskIsToldAfterFiveMinutesOnceAgainAfterAnHourAndItsEndWhenThereIsRoom() async throws {
        try await Self.run { story in
            await story.rounds(2)
            let begin = story.clock.now
            story.store.failure = StoreError(.full, "no room in /secret")
            await story.rounds(20)
            #expect(story.recorder.events.isEmpty)
            await story.rounds(240)
            #expect(story.recorder.phases == ["firing"])
            await story.rounds(1)
            #expect(story.recorder.phases == ["firing", "firing"])
            let event = try #require(story.recorder.events.first)
            #expect([event.key, event.kind, event.severity] == ["store-failed:test", "store-failed", "critical"])
            #expect(event.since == begin && event.auditHead.isEmpty)
            #expect(
                event.detail == "The database fails: instance test, since 00:00 UTC: alarms are not evaluated (full), "
                    + "notifications are not sent (full)")
            story.store.failure = nil
            await story.rounds(10)
            #expect(story.recorder.phases == ["firing", "firing", "recovered"])
            #expect(Set(story.recorder.events.map(\.key)).count == 1)
            #expect(story.recorder.events.last?.auditHead == AuditEntry.origin)
        }
    }

    @Test("a database that is started anew within five minutes is told to none, and begins to count anew")
    func databaseThatIsStartedAnewWithinFiveMinutesIsToldToNone() async throws {
        try await Self.run { story in
            for _ in 0..<3 {
                story.store.failure = StoreError(.unavailable, "gone")
                await story.rounds(20)
                story.store.failure = nil
                await story.rounds(1)
            }
            #expect(story.recorder.events.isEmpty)
        }
    }

    @Test("a target that does not take it is tried again, ever more seldom; one that took no begin is told no end")
    func targetThatDoesNotTakeItIsTriedAgainEverMoreSeldom() async throws {
        try await Self.run { story in
            story.recorder.status = 503
            story.store.failure = StoreError(.full, "no room")
            await story.rounds(21)
            #expect(story.recorder.events.count == 1)
            // After 30, 60 and 120 seconds.
            await story.rounds(14)
            #expect(story.recorder.events.count == 4)
            story.store.failure = nil
            story.recorder.status = 204
            await story.rounds(10)
            #expect(story.recorder.phases == ["firing", "firing", "firing", "firing"])
            // The next outage is told at its begin.
            story.store.failure = StoreError(.full, "no room")
            await story.rounds(21)
            #expect(story.recorder.events.count == 5)
            story.store.failure = nil
            await story.rounds(2)
            #expect(story.recorder.phases.last == "recovered")
        }
    }

    @Test("reports that are not stored for five minutes are told although alarms are evaluated, until one is stored")
    func reportsThatAreNotStoredAreToldAlthoughAlarmsAreEvaluated() async throws {
        try await Self.run { story in
            let parts = story.watch.parts
            let report = try ReportText.report(ReportText.body())
            let accepted = AcceptedReport(
                report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil,
                isSample: false, isListed: true, body: report.document)
            func send() async -> Bool {
                do { try await parts.intake.store([accepted]) } catch { return false }
                return true
            }
            // Reports come each minute, and fail; alarms are evaluated between them.
            func failing(_ minutes: Int) async {
                for _ in 0..<minutes {
                    story.store.failure = StoreError(.full, "no room")
                    #expect(await !send())
                    story.store.failure = nil
                    await story.rounds(4)
                }
            }
            await failing(5)
            #expect(story.recorder.events.isEmpty)
            await failing(1)
            #expect(story.recorder.phases == ["firing"])
            #expect(story.recorder.events.first?.detail.hasSuffix(": reports are not stored (full)") == true)
            #expect(await send())
            await story.rounds(2)
            #expect(story.recorder.phases == ["firing", "recovered"])
        }
    }

    @Test("reports that failed and never came again are over after an hour")
    func reportsThatFailedAndNeverCameAgainAreOverAfterAnHour() {
        let (failures, clock) = (StoreFailures(), TurnedClock())
        for _ in 0..<2 {
            failures.note(.reports, .failure(StoreError(.busy, "x")), by: clock)
            clock.turn(by: 300)
        }
        #expect(failures.event(of: "test", by: clock) != nil)
        clock.turn(by: 3_300)
        #expect(failures.event(of: "test", by: clock) != nil)
        clock.turn(by: 1)
        #expect(failures.event(of: "test", by: clock) == nil)
    }

    @Test("a target that takes the begin while the end is stored for others is told the end, too")
    func targetThatTakesTheBeginWhileTheEndIsStoredForOthersIsToldTheEndToo() throws {
        let (failures, clock) = (StoreFailures(), TurnedClock())
        failures.begin(.evaluating, by: clock)
        clock.turn(by: 300)
        let event = try #require(failures.event(of: "test", by: clock))
        func note(_ target: String, isTaken: Bool) {
            failures.note(event, to: target, isTaken: isTaken, at: clock.uptime)
        }
        note("a", isTaken: true)
        note("c", isTaken: false)
        let targets = failures.told?.targets ?? []
        #expect(targets == ["a"])
        note("b", isTaken: true)
        failures.forgetTold(targets)
        #expect(failures.told?.targets == ["b"])
        failures.forgetTold(["b"])
        #expect(failures.told?.targets == nil)
    }

    // MARK: Calls that never return

    @Test(
        "a disk that hangs: told while the rounds wait for it, and its end when it answers", .timeLimit(.minutes(60)))
    func diskThatHangsIsToldWhileTheRoundsWaitForItAndItsEndWhenItAnswers() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let gate = GatedStore(try open())
            var story = Story(gate)
            story.watch.interval = .milliseconds(1)
            let (watch, clock) = (story.watch, story.clock)
            let running = Task { try await watch.run() }
            // A call of a store that hangs ends with nothing but its answer.
            defer {
                running.cancel()
                gate.open()
            }
            await gate.untilWriting()
            clock.turn(by: 299)
            #expect(watch.parts.storeFailures.event(of: "test", by: clock) == nil)
            clock.turn(by: 1)
            var events = story.recorder.stream.makeAsyncIterator()
            let begin = try #require(await events.next())
            #expect([begin.phase.rawValue, begin.key] == ["firing", "store-failed:test"])
            #expect(begin.since == TurnedClock.start)
            #expect(
                begin.detail
                    == "The database fails: instance test, since 00:00 UTC: alarms are not evaluated (no-answer)")
            gate.open()
            let end = try #require(await events.next())
            #expect([end.phase.rawValue, end.key] == ["recovered", "store-failed:test"])
            running.cancel()
            try await running.value
        }
    }

    @Test("reports that hang are told although alarms are evaluated")
    func reportsThatHangAreToldAlthoughAlarmsAreEvaluated() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let (gate, story) = (GatedStore(store), Story(store))
            let intake = ReportIntake(
                store: gate, instance: "test", clock: story.clock, failures: story.watch.parts.storeFailures)
            let report = try ReportText.report(ReportText.body())
            intake.store([
                AcceptedReport(
                    report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil,
                    isSample: false, isListed: true, body: report.document)
            ]) { _ in }
            defer { gate.open() }
            await gate.untilWriting()
            await story.rounds(20)
            #expect(story.recorder.events.isEmpty)
            await story.rounds(1)
            #expect(story.recorder.phases == ["firing"])
            #expect(story.recorder.events.first?.detail.hasSuffix(": reports are not stored (no-answer)") == true)
        }
    }

    /// A store that tells when a call has been answered.
    private final class ObservedStore: ServiceStore {
        private let store: any ServiceStore
        private let answered: @Sendable () -> Void

        init(_ store: any ServiceStore, answered: @escaping @Sendable () -> Void) {
            (self.store, self.answered) = (store, answered)
        }

        func read<Result: Sendable>(
            for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
        ) async throws -> Result {
            defer { self.answered() }
            return try await self.store.read(for: reader, body)
        }

        func write<Result: Sendable>(
            as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
        ) async throws -> Result {
            defer { self.answered() }
            return try await self.store.write(as: lock, body)
        }

        func size() async throws -> Int64 { try await self.store.size() }

        func sizes() async throws -> [String: Int64] { try await self.store.sizes() }

        func backUp(to path: String) async throws { try await self.store.backUp(to: path) }
    }

    @Test("an evaluation of many calls that are slow, but answered, is no failure")
    func evaluationOfManyCallsThatAreSlowButAnsweredIsNoFailure() async throws {
        let repository = try RepositorySimulator.story([try .pinned("api.example.com")])
        let name = "com.example.app"
        try await TestedStore.sqlite.withDatabase { open in
            let (store, clock) = (try open(), TurnedClock())
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: name, by: "cli", at: clock.now)
            try await store.write { store in
                let told = StoredSighting(
                    name: name, identity: "1", evaluated: .unknown, host: "", isEnforced: false, list: "",
                    key: Pin(kind: .publicKey, hashing: [1]).description, servedAt: nil, notBefore: clock.now,
                    notAfter: clock.now, isPrecertificate: false, log: "", loggedAt: nil, firstAt: clock.now,
                    toldBy: "t", acknowledgement: nil, serialNumber: "", issuer: "", issuers: [],
                    names: ["api.example.com"])
                _ = try store.add(
                    [(told, [])], of: name, by: SightingRules(repository.list), of: "another", at: clock.now)
            }
            let watched = NIOLockedValueBox<StoreFailures?>(nil)
            let told = NIOLockedValueBox<[Bool]>([])
            let slow = ObservedStore(store) {
                clock.turn(by: 299)
                guard let failures = watched.withLockedValue({ $0 }) else { return }
                let isTold = failures.event(of: "test", by: clock) != nil
                told.withLockedValue { $0.append(isTold) }
            }
            let parts = ServiceParts.story(slow, anchors: repository.anchors, clock: clock)
            _ = try await parts.lists.reload(from: store)
            watched.withLockedValue { $0 = parts.storeFailures }
            await AlarmWatch(parts: parts, sender: Recorder()).look()
            // Four, and three for what is evaluated anew.
            #expect(told.withLockedValue { $0 } == Array(repeating: false, count: 7))
        }
    }

    @Test("a call that hung and failed in the end has failed since its begin, and one that succeeds ends it")
    func callThatHungAndFailedInTheEndHasFailedSinceItsBegin() {
        let (failures, clock) = (StoreFailures(), TurnedClock())
        failures.begin(.evaluating, by: clock)
        clock.turn(by: 300)
        failures.note(.evaluating, .failure(StoreError(.unavailable, "x")), by: clock)
        let event = failures.event(of: "test", by: clock)
        #expect(event?.since == TurnedClock.start)
        #expect(event?.detail.hasSuffix("(unavailable)") == true)
        failures.begin(.evaluating, by: clock)
        #expect(failures.event(of: "test", by: clock) != nil)
        failures.note(.evaluating, .success(()), by: clock)
        #expect(failures.event(of: "test", by: clock) == nil)
    }

    @Test("a call that is slow is no failure; behind one that failed it counts after the limit")
    func callThatIsSlowIsNoFailureBehindOneThatFailedItCountsAfterTheLimit() {
        let (failures, clock) = (StoreFailures(), TurnedClock())
        func isTold() -> Bool { failures.event(of: "test", by: clock) != nil }
        for _ in 0..<10 {
            failures.begin(.sending, by: clock)
            clock.turn(by: 299)
            #expect(!isTold())
            failures.note(.sending, .success(()), by: clock)
            #expect(!isTold())
        }
        failures.note(.sending, .failure(StoreError(.busy, "x")), by: clock)
        clock.turn(by: 270)
        failures.begin(.sending, by: clock)
        clock.turn(by: 59)
        #expect(!isTold())
        clock.turn(by: 1)
        #expect(isTold())
    }
}
