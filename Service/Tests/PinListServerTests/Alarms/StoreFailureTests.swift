// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOConcurrencyHelpers
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("A database that fails is told without it")
struct StoreFailureTests {
    /// Keeps what is posted, and answers as it is told.
    private final class Recorder: WebhookSender {
        private let state = NIOLockedValueBox<(status: Int, events: [AlarmEvent])>((204, []))

        /// The status of every answer.
        var status: Int {
            get { self.state.withLockedValue { $0.status } }
            set { self.state.withLockedValue { $0.status = newValue } }
        }

        var events: [AlarmEvent] { self.state.withLockedValue { $0.events } }

        var phases: [String] { self.events.map(\.phase.rawValue) }

        func post(_ body: [UInt8], to address: String) async throws -> Int {
            self.state.withLockedValue { state in
                if let event = AlarmEvent(body) { state.events.append(event) }
                return state.status
            }
        }
    }

    /// An instance whose store can fail, and its rounds of 15 seconds.
    private struct Story {
        let store: WrappedStore
        let clock = TurnedClock()
        let recorder = Recorder()
        let watch: AlarmWatch

        init(_ store: any ServiceStore) {
            self.store = WrappedStore(store)
            let target = AlertTarget(kind: .webhook, name: "ops", address: "https://ops.example/")
            self.watch = AlarmWatch(
                parts: .story(self.store, anchors: [:], clock: self.clock, alerts: [target]), sender: self.recorder)
        }

        func rounds(_ count: Int) async {
            for _ in 0..<count {
                await self.watch.look()
                await self.watch.send()
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
}
