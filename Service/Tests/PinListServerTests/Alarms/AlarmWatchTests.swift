// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import NIOConcurrencyHelpers
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Sending alarms")
struct AlarmWatchTests {
    /// Keeps what is posted, and answers as it is told.
    private final class Recorder: WebhookSender {
        struct Unreachable: Error, CustomStringConvertible {
            let description: String
        }

        private let state = NIOLockedValueBox<(status: Int?, posts: [(address: String, body: [UInt8])])>((200, []))

        /// The status of every answer; `nil` for a target that does not answer.
        var status: Int? {
            get { self.state.withLockedValue { $0.status } }
            set { self.state.withLockedValue { $0.status = newValue } }
        }

        var posts: [(address: String, body: [UInt8])] { self.state.withLockedValue { $0.posts } }

        func post(_ body: [UInt8], to address: String) async throws -> Int {
            let status = self.state.withLockedValue { state in
                state.posts.append((address, body))
                return state.status
            }
            guard let status else { throw Unreachable(description: "no way to \(address)") }
            return status
        }
    }

    /// Keeps what is logged.
    private struct Lines: LogHandler {
        let lines: NIOLockedValueBox<[String]>
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) { self.lines.withLockedValue { $0.append(event.message.description) } }
    }

    private static let target = AlertTarget(kind: .webhook, name: "ops", address: "https://ops.example/SECRET")

    private static func run(
        _ body: @Sendable (AlarmWatch, Recorder, TurnedClock, NIOLockedValueBox<[String]>) async throws -> Void
    ) async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { open in
            let (store, clock, recorder) = (try open(), TurnedClock(), Recorder())
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: clock.now)
            let lines = NIOLockedValueBox<[String]>([])
            let parts = ServiceParts.story(
                store, anchors: repository.anchors, clock: clock, alerts: [Self.target],
                logger: Logger(label: "test") { _ in Lines(lines: lines) })
            _ = try await parts.lists.reload(from: store)
            // A list that is about to expire.
            clock.turn(by: RepositorySimulator.listValidity - 10 * 86_400)
            try await body(AlarmWatch(parts: parts, sender: recorder), recorder, clock, lines)
        }
    }

    @Test(
        "a service that was off for hours blames nobody for that: what is silent three hours later is an alarm, and stays one"
    )
    func serviceThatWasOffForHoursBlamesNobodyForThat() async throws {
        let repository = try RepositorySimulator.story(
            ["back.example", "gone.example"].map { try .pinned($0) })
        try await TestedStore.sqlite.withDatabase { open in
            let (store, clock, hour) = (try open(), TurnedClock(), TurnedClock.start.hour)
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: clock.now)
            @Sendable func add(_ host: String, in hours: Range<Int64>) async throws {
                try await store.write { store in
                    for hour in hours {
                        try store.connection.execute(
                            "INSERT INTO report_hour (hour, host, kind, count) VALUES (?, ?, 'tls', 9)",
                            [.integer(hour), .text(host)])
                    }
                }
            }
            for host in ["back.example", "gone.example"] { try await add(host, in: hour - 168..<hour - 8) }
            let parts = ServiceParts.story(store, anchors: repository.anchors, clock: clock)
            _ = try await parts.lists.reload(from: store)
            func silent(_ watch: AlarmWatch) async throws -> [String] {
                await watch.look()
                return try await store.read { try $0.firingAlarms().map(\.key) }.filter { $0.hasPrefix("silence:") }
            }
            let watch = AlarmWatch(parts: parts, sender: Recorder())
            #expect(try await silent(watch) == [])
            try await add("back.example", in: hour..<hour + 1)
            clock.turn(by: 3 * 3_600 - 1)
            #expect(try await silent(watch) == [])
            clock.turn(by: 1)
            #expect(try await silent(watch) == ["silence:gone.example:reports"])
            // It starts anew.
            #expect(
                try await silent(AlarmWatch(parts: parts, sender: Recorder())) == ["silence:gone.example:reports"])
            // A clock that was a month ahead at the start makes no silence wait for a month.
            clock.turn(by: 4 * 3_600 + 30 * 86_400)
            let ahead = AlarmWatch(parts: parts, sender: Recorder())
            clock.turn(by: -30 * 86_400)
            #expect(
                try await silent(ahead).sorted() == ["silence:back.example:reports", "silence:gone.example:reports"])
        }
    }

    @Test("of two messages the second does not overtake the first when that fails: no end comes before its begin")
    func ofTwoMessagesTheSecondDoesNotOvertakeTheFirstWhenThatFails() async throws {
        try await Self.run { watch, recorder, clock, _ in
            let (begin, end) = (Self.event(.test, "begin"), Self.event(.recovered, "end"))
            try await watch.parts.store.write { store in
                for body in [begin, end] { try store.notify("ops", body, at: clock.now) }
            }
            recorder.status = 500
            await watch.send()
            recorder.status = 204
            for _ in 0..<5 {
                clock.turn(by: 15)
                await watch.send()
            }
            #expect(recorder.posts.compactMap { AlarmEvent($0.body)?.detail } == ["begin", "begin", "end"])
        }
    }

    private static func event(_ phase: AlarmEvent.Phase, _ detail: String) -> [UInt8] {
        let start = TurnedClock.start
        return AlarmEvent(
            phase, key: "test", kind: "test", severity: "info", detail: detail, since: start, time: start, auditHead: ""
        ).json.bytes
    }

    @Test("a target that is not reached is tried again, ever more seldom, until it takes it; its address is not logged")
    func targetThatIsNotReachedIsTriedAgainEverMoreSeldomUntilItTakesIt() async throws {
        try await Self.run { watch, recorder, clock, lines in
            await watch.look()
            for status in [nil, 500, 404] as [Int?] {
                recorder.status = status
                let before = recorder.posts.count
                await watch.send()
                #expect(recorder.posts.count == before + 1)
                await watch.send()
                #expect(recorder.posts.count == before + 1)
                clock.turn(by: 15 << Int64(before + 1) - 1)
                await watch.send()
                #expect(recorder.posts.count == before + 1)
                clock.turn(by: 1)
            }
            recorder.status = 204
            await watch.send()
            clock.turn(by: 3_600)
            await watch.look()
            await watch.send()
            #expect(recorder.posts.count == 4)
            #expect(Set(recorder.posts.map(\.address)) == [Self.target.address])
            #expect(Set(recorder.posts.map(\.body)).count == 1)
            let head = try await watch.parts.store.read { try $0.newestAuditEntry()?.digest }
            let event = try #require(AlarmEvent(recorder.posts[0].body))
            #expect(event.auditHead == head)
            #expect(event.key == "list-expiry:com.example.app")
            let logged = lines.withLockedValue { $0 }
            #expect(logged.contains { $0.contains("cannot be reached") })
            #expect(logged.contains { $0.contains("ops answers 500") })
            #expect(!logged.contains { $0.contains("SECRET") || $0.contains("ops.example") })
        }
    }

    @Test("a notification that is not taken for a day is given up, and said")
    func notificationThatIsNotTakenForADayIsGivenUpAndSaid() async throws {
        try await Self.run { watch, recorder, clock, lines in
            recorder.status = 503
            await watch.look()
            var rounds = 0
            while try await watch.parts.store.read({
                try !$0.connection.rows("SELECT 1 FROM notification", []).isEmpty
            }), rounds < 200 {
                await watch.send()
                clock.turn(by: 1_800)
                rounds += 1
            }
            #expect(rounds == 50)
            #expect(lines.withLockedValue { $0 }.contains { $0.contains("ops was not reached for a day; given up") })
            recorder.status = 200
            let count = recorder.posts.count
            await watch.send()
            #expect(recorder.posts.count == count)
        }
    }

    @Test("an instance takes only what it can deliver: the other one's target is told by the other, whichever looks")
    func instanceTakesOnlyWhatItCanDeliverTheOtherOnesTargetIsToldByTheOther() async throws {
        try await Self.run { watch, recorder, clock, _ in
            let pager = AlertTarget(kind: .webhook, name: "pager", address: "https://pager.example/SECRET")
            let parts = ServiceParts.story(
                watch.parts.store, anchors: watch.parts.configuration.roots, clock: clock, alerts: [pager],
                instance: "other")
            _ = try await parts.lists.reload(from: parts.store)
            let theirs = Recorder()
            let other = AlarmWatch(parts: parts, sender: theirs)
            // It says which target it knows, and has not the turn.
            #expect(
                try await parts.store.write {
                    try $0.takeLease("alarms", for: "test", at: clock.now, seconds: AlarmWatch.evaluationLease)
                })
            await other.look()
            await watch.look()
            await watch.send()
            #expect(recorder.posts.map(\.address) == [Self.target.address])
            #expect(theirs.posts.isEmpty)
            await other.send()
            #expect(theirs.posts.map(\.address) == [pager.address])
            #expect(Set((recorder.posts + theirs.posts).map(\.body)).count == 1)
        }
    }

    @Test("a notification that no instance can deliver waits a day, is shown meanwhile, and is given up aloud")
    func notificationThatNoInstanceCanDeliverWaitsADayIsShownMeanwhileAndIsGivenUpAloud() async throws {
        try await Self.run { watch, recorder, clock, lines in
            let store = watch.parts.store
            let made = clock.now
            try await store.write { store in
                try store.keepTargets(["pager"], of: "gone", at: made)
                try store.notify("pager", Self.event(.test, "x"), at: made)
            }
            func waiting() async throws -> Int64 {
                try await store.read { try $0.targets().first { $0.name == "pager" }?.waiting ?? 0 }
            }
            clock.turn(by: 86_399)
            await watch.send()
            #expect(try await waiting() == 1)
            let parts = watch.parts
            let metrics = ServiceMetrics.text(try await parts.overview(), parts.reportCounters.current, (0, 0), nil)
            #expect(metrics.contains("tumbler_notifications_waiting{target=\"pager\",known=\"false\"} 1\n"))
            #expect(!lines.withLockedValue { $0 }.contains { $0.contains("pager") })
            clock.turn(by: 1)
            await watch.send()
            #expect(try await waiting() == 0)
            #expect(
                lines.withLockedValue { $0 }.contains(
                    "1 notifications were not delivered and are given up: no instance has known target pager for a day")
            )
            let after = ServiceMetrics.text(try await parts.overview(), parts.reportCounters.current, (0, 0), nil)
            #expect(after.contains("tumbler_notifications_lost_total{target=\"pager\"} 1\n"))
            #expect(recorder.posts.isEmpty)
        }
    }

    @Test("after ten minutes without an instance that knows a target the log says that notifications wait for it, once")
    func afterTenMinutesWithoutAnInstanceThatKnowsATargetTheLogSaysThatNotificationsWaitForItOnce() async throws {
        try await Self.run { watch, _, clock, lines in
            let made = clock.now
            try await watch.parts.store.write { store in
                try store.keepTargets(["pager"], of: "gone", at: made)
                try store.notify("pager", Self.event(.test, "x"), at: made)
            }
            func said() -> Int {
                lines.withLockedValue { $0 }.count {
                    $0.hasPrefix("notifications wait for target pager, and no instance")
                }
            }
            clock.turn(by: 600)
            await watch.look()
            #expect(said() == 0)
            clock.turn(by: 1)
            for _ in 0..<2 { await watch.look() }
            #expect(said() == 1)
            // An instance comes that knows it, and goes.
            try await watch.parts.store.write { try $0.keepTargets(["pager"], of: "back", at: clock.now) }
            await watch.look()
            clock.turn(by: 601)
            await watch.look()
            #expect(said() == 2)
        }
    }

    @Test("a notification of a later version is left for an instance of that version, and not dropped as sent")
    func notificationOfALaterVersionIsLeftForAnInstanceOfThatVersionAndNotDroppedAsSent() async throws {
        try await Self.run { watch, recorder, clock, _ in
            try await watch.parts.store.write { try $0.notify("ops", Array("{}".utf8), at: clock.now) }
            await watch.send()
            #expect(recorder.posts.isEmpty)
            let kept = try await watch.parts.store.read { store in
                (try store.connection.rows("SELECT 1 FROM notification", []).count, try store.deliveries()["ops"])
            }
            #expect(kept.0 == 1)
            #expect(kept.1?.trouble?.contains("later version") == true)
        }
    }

    @Test("two instances tell of a change once")
    func twoInstancesTellOfAChangeOnce() async throws {
        try await Self.run { watch, recorder, clock, _ in
            let parts = ServiceParts.story(
                watch.parts.store, anchors: watch.parts.configuration.roots, clock: clock, alerts: [Self.target],
                instance: "other")
            _ = try await parts.lists.reload(from: parts.store)
            let other = AlarmWatch(parts: parts, sender: recorder)
            for _ in 0..<3 {
                async let one: Void = watch.look()
                async let two: Void = other.look()
                _ = await (one, two)
                async let three: Void = watch.send()
                async let four: Void = other.send()
                _ = await (three, four)
            }
            #expect(recorder.posts.count == 1)
        }
    }

    @Test("an instance that sees another state does not take back what the one whose turn it is told")
    func instanceThatSeesAnotherStateDoesNotTakeBackWhatTheOneWhoseTurnItIsTold() async throws {
        try await Self.run { watch, recorder, clock, _ in
            await watch.look()
            await watch.send()
            #expect(recorder.posts.count == 1)
            // To this one nothing seems to expire.
            let early = TurnedClock(TurnedClock.start)
            let parts = ServiceParts.story(
                watch.parts.store, anchors: watch.parts.configuration.roots, clock: early, alerts: [Self.target],
                instance: "other")
            _ = try await parts.lists.reload(from: parts.store)
            @Sendable func isLeased(_ instance: String, after seconds: Int64) async throws -> Bool {
                let time = Timestamp(secondsSince1970: clock.now.secondsSince1970 + seconds)
                return try await parts.store.write { store in
                    try store.takeLease("alarms", for: instance, at: time, seconds: AlarmWatch.evaluationLease)
                }
            }
            // One that is gone keeps it no longer than its turn, and one whose clock was wrong not at all.
            let turns = [
                try await isLeased("other", after: AlarmWatch.evaluationLease - 1),
                try await isLeased("test", after: AlarmWatch.evaluationLease - 1),
                try await isLeased("other", after: AlarmWatch.evaluationLease),
                try await isLeased("other", after: 2 * AlarmWatch.evaluationLease - 1),
                try await isLeased("test", after: -86_400),
            ]
            #expect(turns == [false, true, false, true, true])
            early.set(Timestamp(secondsSince1970: clock.now.secondsSince1970 - 86_399))
            await AlarmWatch(parts: parts, sender: recorder).look()
            let firing = try await parts.store.read { store in try store.firingAlarms().map(\.key) }
            #expect(firing == ["list-expiry:com.example.app"])
        }
    }

    @Test("the result of the last delivery is kept for the dashboard, without the address")
    func resultOfTheLastDeliveryIsKeptForTheDashboardWithoutTheAddress() async throws {
        try await Self.run { watch, recorder, clock, _ in
            func delivery() async throws -> StoredDelivery? {
                try await watch.parts.store.read { store in try store.deliveries()["ops"] }
            }
            var kept = [try await delivery()]
            recorder.status = nil
            await watch.look()
            await watch.send()
            kept.append(try await delivery())
            for (wait, status) in [(60 as Int64, 503), (600, 202)] {
                recorder.status = status
                clock.turn(by: wait)
                await watch.send()
                kept.append(try await delivery())
            }
            #expect(kept.map { $0?.trouble } == [nil, "it cannot be reached", "it answers 503", nil])
            #expect(kept[0] == nil && kept[3]?.at == clock.now)
        }
    }
}
