// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import NIOConcurrencyHelpers
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("A clock that is wrong", .runsPostgreSQL)
struct WrongClockTests {
    private static let day: Int64 = 86_400
    private static let year: Int64 = 365 * 86_400

    private static func time(_ seconds: Int64) -> Timestamp {
        Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds)
    }

    private static func heartbeat(
        _ store: any ServiceStore, _ clock: TurnedClock, instance: String = "test", serverTime: Timestamp? = nil,
        logger: Logger = RunningService.silent
    ) -> InstanceHeartbeat {
        InstanceHeartbeat(
            parts: .story(store, anchors: [:], clock: clock, instance: instance, logger: logger),
            serverTime: { _ in serverTime })
    }

    private static func forget(_ store: any ServiceStore, _ clock: TurnedClock) async {
        await Retention(
            store: store, instance: "test", limits: .init(days: 90), clock: clock, logger: RunningService.silent
        ).look()
    }

    /// Keeps what is logged.
    private struct Lines: LogHandler {
        let lines: NIOLockedValueBox<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) { self.lines.withLockedValue { $0.append(event.message.description) } }
    }

    // MARK: Forgetting

    private static let forgotten = ["report", "report_group", "report_hour", "evidence", "audit"]

    /// Stores a report, evidence, and an entry of the log.
    private static func fill(_ store: any ServiceStore) async throws {
        let report = try ReportText.report(ReportText.body())
        let accepted = AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: TurnedClock.start, networks: nil, isSample: false,
            isListed: true, body: report.document)
        try await store.write { store in
            try store.add([accepted], countedBy: "a")
            try store.addEvidence("digest", of: "a", [1], at: TurnedClock.start)
            try store.log("note", "x", by: "test", at: TurnedClock.start)
        }
    }

    private static func left(_ store: any ServiceStore) async throws -> [Int64?] {
        try await store.read { store in
            try Self.forgotten.map {
                try store.connection.rows("SELECT COUNT(*) FROM \($0)", []).first?.integer(0)
            }
        }
    }

    @Test(
        "that jumps 500 days ahead forgets nothing, and says so once; a day of looks later it counts",
        arguments: TestedStore.all)
    func thatJumps500DaysAheadForgetsNothingAndSaysSoOnceADayOfLooksLaterItCounts(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let (store, clock, lines) = (try open(), TurnedClock(), NIOLockedValueBox<[String]>([]))
            try await Self.fill(store)
            let heartbeat = Self.heartbeat(store, clock, logger: Logger(label: "test") { _ in Lines(lines: lines) })
            await heartbeat.count()
            #expect(lines.withLockedValue { $0 }.isEmpty)
            clock.turn(by: 500 * Self.day)
            for _ in 0..<2 {
                await heartbeat.count()
                await Self.forget(store, clock)
            }
            #expect(try await Self.left(store) == [1, 1, 1, 1, 1])
            let said = lines.withLockedValue { $0 }
            #expect(said.count == 1)
            #expect(said.first?.contains("the clock shows \(clock.now), and was \(TurnedClock.start)") == true)
            let begin = clock.now.secondsSince1970
            try await store.write(as: .leases) { store in
                for passed in stride(from: 0, through: Self.day, by: 60) {
                    _ = try store.lookAtClock(Timestamp(secondsSince1970: begin + passed))
                }
            }
            clock.turn(by: Self.day + 15)
            await heartbeat.count()
            await Self.forget(store, clock)
            // The month of the entry is sealed, and what says so is left.
            #expect(try await Self.left(store) == [0, 0, 0, 0, 1])
        }
    }

    @Test(
        "is no truth for a database that it sees first: what was written to that last says more",
        arguments: TestedStore.all)
    func isNoTruthForADatabaseThatItSeesFirst(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let (store, clock) = (try open(), TurnedClock(Self.time(500 * Self.day)))
            try await Self.fill(store)
            await Self.heartbeat(store, clock).count()
            await Self.forget(store, clock)
            #expect(try await Self.left(store) == [1, 1, 1, 1, 1])
        }
    }

    @Test("that is ahead of the database's is not looked at, however long")
    func thatIsAheadOfTheDatabasesIsNotLookedAtHoweverLong() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let (store, clock) = (try open(), TurnedClock(Self.time(100 * Self.day)))
            await Self.heartbeat(store, clock, serverTime: TurnedClock.start).count()
            clock.turn(by: 2 * Self.day)
            await Self.heartbeat(store, clock, serverTime: Self.time(15)).count()
            let now = clock.now
            #expect(try await store.read { try $0.believedTime() } == BelievedTime(Self.time(15)))
            #expect(try await store.read { try $0.believedTime(by: now) } == Self.time(15))
        }
    }

    @Test("PostgreSQL says what its clock shows, and SQLite has none", arguments: TestedStore.all)
    func postgreSQLSaysWhatItsClockShowsAndSQLiteHasNone(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let time = try await open().read { try $0.serverTime() }
            #expect((time == nil) == (tested == .sqlite))
            #expect(time.map { $0 > Timestamp(secondsSince1970: 1_600_000_000) } != false)
        }
    }

    @Test("ends no token, no silence and no secret of a day for good")
    func endsNoTokenNoSilenceAndNoSecretOfADayForGood() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let random = (0..<AccessToken.randomBytes).map { UInt8($0) }
            let token = try #require(
                AccessToken.make(.read, names: [], endsAt: Self.time(Self.day), random: random, at: TurnedClock.start))
            let today = TurnedClock.start.hour / 24
            try await store.write { store in
                try store.put(BelievedTime(TurnedClock.start))
                try store.add(token.token)
                try store.put(
                    StoredSilence(
                        what: "silence", severity: .warning, endsAt: Self.time(Self.day), madeAt: TurnedClock.start,
                        madeBy: "t", reason: ""))
                _ = try store.attestationSecret(of: today, orNew: [1])
                // A year ahead.
                try store.forgetEndedTokens(at: Self.time(Self.year))
                try store.removeSilences(endedBy: Self.time(Self.year))
                _ = try store.attestationSecret(of: today + 365, orNew: [2])
            }
            #expect(try await store.read { try $0.tokens().count } == 1)
            #expect(try await store.read { try $0.silences(at: TurnedClock.start).count } == 1)
            #expect(try await store.read { try $0.attestationSecret(of: today) } == [1])
        }
    }

    // MARK: Alarms

    @Test(
        "a year ahead makes no silence that holds for a year, nor one that begins in a year",
        arguments: TestedStore.all)
    func aYearAheadMakesNoSilenceThatHoldsForAYear(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            func silences(_ seconds: Int64) async throws -> Int {
                try await store.read { try $0.silences(at: Self.time(seconds)).count }
            }
            let isMade = try await store.write { store in
                try AlarmHandling.silence(
                    "failure-rate", for: AlarmHandling.maximumSilence, because: "x", upTo: .critical, in: store,
                    by: "t", at: Self.time(Self.year)) != nil
            }
            #expect(isMade)
            // It holds for as long as the clock shows that, and for one that is minutes behind.
            #expect(try await silences(Self.year - 300) == 1)
            for day in [0, 8, 364] { #expect(try await silences(Int64(day) * Self.day) == 0) }
            try await store.write { try $0.removeSilences(endedBy: Self.time(8 * Self.day)) }
            #expect(try await silences(Self.year) == 0)
        }
    }

    @Test("a year ahead logs nothing that is an alarm for a year; minutes ahead, it is one")
    func aYearAheadLogsNothingThatIsAnAlarmForAYear() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await store.write { store in
                for action in ["publish-refused", "equivocation"] {
                    try store.log(action, "a: x", by: "t", at: Self.time(Self.year))
                }
                try store.log("unknown-list", "a: y", by: "t", at: Self.time(300))
            }
            func remembered(_ seconds: Int64) async throws -> [String] {
                try await store.read { store in
                    try Overview(store, [:], RotationPlans(), broken: [:], at: Self.time(seconds)).remembered
                }.map(\.action)
            }
            #expect(try await remembered(0) == ["unknown-list"])
            #expect(try await remembered(8 * Self.day) == [])
            #expect(try await remembered(Self.year + Self.day) == ["publish-refused", "equivocation"])
        }
    }

    @Test("a year ahead begins no message that alarms join for a year, and that tells of each at once")
    func aYearAheadBeginsNoMessageThatAlarmsJoinForAYear() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            func told(_ hosts: [String], after seconds: Int64) async throws -> [String] {
                let alarms = hosts.map { Alarm(.failureRate, .critical, $0, "") }
                return try await store.write { store in
                    try AlarmEvaluation(targets: []).apply(alarms, in: store, auditHead: "", at: Self.time(seconds))
                }.map { "\($0.phase.rawValue) \($0.key) \($0.count)" }
            }
            #expect(try await told(["a"], after: Self.year) == ["firing failure-rate:a 1"])
            #expect(try await told(["a", "b"], after: 0) == ["firing failure-rate:b 1"])
            #expect(try await told(["a", "b", "c"], after: 15) == [])
            // Of another instance, whose clock is behind by less than a look.
            #expect(try await told(["a", "b", "c", "d"], after: -10) == [])
            #expect(try await told(["a", "b", "c", "d"], after: 300) == ["firing failure-rate:b 3"])
        }
    }

    // MARK: Instances

    @Test("of an instance that is gone shares no limit with those that are there", arguments: TestedStore.all)
    func ofAnInstanceThatIsGoneSharesNoLimitWithThoseThatAreThere(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            func stay(_ name: String, after seconds: Int64) async throws -> Int {
                let time = Self.time(seconds)
                return try await store.write(as: .leases) { try $0.stay(name, at: time, seconds: 45) }
            }
            var counts = [try await stay("x", after: Self.year), try await stay("y", after: 0)]
            // A few minutes are no wrong clock.
            counts.append(try await stay("x", after: 200))
            counts.append(try await stay("y", after: 10))
            #expect(counts == [1, 1, 1, 2])
        }
    }

    // MARK: Notifications

    private struct Sender: WebhookSender {
        let status: Int

        func post(_ body: [UInt8], to address: String) async throws -> Int { self.status }
    }

    private static func watch(
        _ store: any ServiceStore, _ clock: TurnedClock, _ instance: String, knows target: String, status: Int
    ) -> AlarmWatch {
        AlarmWatch(
            parts: .story(
                store, anchors: [:], clock: clock,
                alerts: [AlertTarget(kind: .webhook, name: target, address: "https://\(target).example/")],
                instance: instance), sender: Sender(status: status))
    }

    private static let event = AlarmEvent(
        .firing, key: "k", kind: "test", severity: "critical", detail: "x", since: TurnedClock.start,
        time: TurnedClock.start, auditHead: ""
    ).json.bytes

    /// A store with two instances, of which one says that it knows a target, and a notification for that.
    private static func withNotification(
        _ body: @Sendable (any ServiceStore, _ right: TurnedClock, _ ahead: TurnedClock) async throws -> Void
    ) async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let (store, right, ahead) = (try open(), TurnedClock(), TurnedClock(Self.time(2 * Self.day)))
            await Self.heartbeat(store, right, instance: "right").count()
            await Self.heartbeat(store, ahead, instance: "ahead").count()
            try await store.write { store in
                try store.keepTargets(["pager"], of: "right", at: TurnedClock.start)
                try store.notify("pager", Self.event, at: TurnedClock.start)
            }
            try await body(store, right, ahead)
        }
    }

    private static func waiting(_ store: any ServiceStore) async throws -> Int64? {
        try await store.read { try $0.targets().first { $0.name == "pager" }?.waiting }
    }

    @Test("two days ahead gives up no alarm that another instance can deliver")
    func twoDaysAheadGivesUpNoAlarmThatAnotherInstanceCanDeliver() async throws {
        try await Self.withNotification { store, right, ahead in
            await Self.watch(store, ahead, "ahead", knows: "ops", status: 204).send()
            #expect(try await Self.waiting(store) == 1)
            // It has its own targets told, and those of others.
            let known = try await store.write { store in
                try store.keepTargets(["ops"], of: "ahead", at: ahead.now)
                return [try store.knownTargets(at: ahead.now), try store.knownTargets(at: right.now)]
            }
            #expect(known == [["ops", "pager"], ["ops", "pager"]])
            await Self.watch(store, right, "right", knows: "pager", status: 204).send()
            #expect(try await Self.waiting(store) == 0)
        }
    }

    @Test("two days behind gives up no alarm of another instance, and forgets no target of it; that is said once")
    func twoDaysBehindGivesUpNoAlarmOfAnotherInstanceAndForgetsNoTargetOfIt() async throws {
        try await Self.withNotification { store, right, _ in
            let (behind, lines) = (TurnedClock(Self.time(-2 * Self.day)), NIOLockedValueBox<[String]>([]))
            let heartbeat = Self.heartbeat(
                store, behind, instance: "behind", logger: Logger(label: "test") { _ in Lines(lines: lines) })
            for _ in 0..<2 { await heartbeat.count() }
            #expect(lines.withLockedValue { $0.count } == 1)
            let watch = Self.watch(store, behind, "behind", knows: "ops", status: 204)
            await watch.look()
            await watch.send()
            #expect(try await Self.waiting(store) == 1)
            let known = try await store.read { try $0.knownTargets(at: right.now) }
            #expect(known == ["ops", "pager"])
        }
    }

    @Test("an hour behind sends nothing that another instance sends, and gives its own failures no less time")
    func anHourBehindSendsNothingThatAnotherInstanceSends() async throws {
        try await Self.withNotification { store, right, _ in
            let behind = Self.time(-3_600)
            let taken = try await store.write { store in
                let first = try store.takeNotifications(
                    for: ["pager"], due: right.now, until: right.now.before(-60), limit: 9)
                return [first, try store.takeNotifications(for: ["pager"], due: behind, until: behind, limit: 9)]
            }
            #expect(taken.map(\.count) == [1, 0])
            #expect(try await store.read { try $0.latestTime(by: behind) } == right.now)
        }
    }

    @Test("a lasting fault of the evidence keeps no report from being stored")
    func aLastingFaultOfTheEvidenceKeepsNoReportFromBeingStored() async throws {
        for (code, isStored) in [(StoreError.Code.damaged, true), (.notPermitted, true), (.unavailable, false)] {
            #expect(StoreError(code, "evidence").isLasting == isStored)
        }
    }

    @Test("two days ahead gives up no alarm at its first failure, and puts none off for the others")
    func twoDaysAheadGivesUpNoAlarmAtItsFirstFailureAndPutsNoneOffForTheOthers() async throws {
        try await Self.withNotification { store, right, ahead in
            await Self.watch(store, ahead, "ahead", knows: "pager", status: 500).send()
            #expect(try await Self.waiting(store) == 1)
            let next = try await store.read {
                try $0.connection.rows("SELECT next_at FROM notification", []).first?.integer(0)
            }
            #expect(next == ahead.now.secondsSince1970 + 30)
            await Self.watch(store, right, "right", knows: "pager", status: 204).send()
            #expect(try await Self.waiting(store) == 0)
        }
    }

    @Test("before any look at it gives up no alarm at its first failure either")
    func beforeAnyLookAtItGivesUpNoAlarmAtItsFirstFailureEither() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let (store, ahead) = (try open(), TurnedClock(Self.time(2 * Self.day)))
            try await store.write { try $0.notify("pager", Self.event, at: TurnedClock.start) }
            await Self.watch(store, ahead, "ahead", knows: "pager", status: 500).send()
            #expect(try await Self.waiting(store) == 1)
        }
    }

    @Test("a year ahead leaves no alarm that waits for a year, and no target that is known for a year")
    func aYearAheadLeavesNoAlarmThatWaitsForAYearAndNoTargetThatIsKnownForAYear() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let (taken, known) = try await store.write { store in
                try store.keepTargets(["gone"], of: "gone", at: Self.time(Self.year))
                try store.notify("ops", Self.event, at: Self.time(Self.year))
                try store.notify("gone", Self.event, at: Self.time(Self.year))
                // The clock is right again, and the instance has another name.
                try store.put(BelievedTime(TurnedClock.start))
                try store.keepTargets(["ops"], of: "right", at: TurnedClock.start)
                return (
                    try store.takeNotifications(
                        for: ["ops"], due: TurnedClock.start, until: Self.time(60), limit: 9),
                    try store.knownTargets(at: TurnedClock.start)
                )
            }
            #expect(taken.map(\.madeAt) == [TurnedClock.start])
            #expect(known == ["ops"])
            let lost = try await store.write { try $0.loseNotifications(butFor: ["ops"], at: Self.time(60)) }
            #expect(lost.map(\.target) == ["gone"])
            // What this instance dated is as old as it is: a day after its first attempt it is given up.
            let made = try await store.read {
                try $0.connection.rows("SELECT made_at FROM notification", []).map { try $0.integer(0) }
            }
            #expect(made == [TurnedClock.start.secondsSince1970])
        }
    }

    // MARK: Limits of a day, an hour and ten minutes

    @Test("two days ahead uses up nothing of today: neither evidence, nor entries of a token, nor tests of targets")
    func twoDaysAheadUsesUpNothingOfToday() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let target = AlertTarget(kind: .slack, name: "chat", address: "https://example.com/")
            let ahead = Self.time(2 * Self.day)
            let (evidence, hasRoom, wait) = try await store.write { store in
                for number in 0..<16 { try store.addEvidence("\(number)", of: "a", [1], at: ahead) }
                for number in 0..<AuditQuota.maximumPerDay { try store.log("gate", "\(number)", by: "t1", at: ahead) }
                for _ in 0..<AlarmTest.maximum { _ = try AlarmTest.ring(target, in: store, by: "t1", at: ahead) }
                #expect(try store.evidenceCount(of: "a", onDayOf: EquivocationCheck.day(of: ahead)) == 16)
                #expect(try !AuditQuota.hasRoom(for: "gate", by: "t1", in: store, at: ahead))
                #expect(try AlarmTest.ring(target, in: store, by: "t1", at: ahead) != nil)
                return (
                    try store.evidenceCount(of: "a", onDayOf: EquivocationCheck.day(of: TurnedClock.start)),
                    try AuditQuota.hasRoom(for: "gate", by: "t1", in: store, at: TurnedClock.start),
                    try AlarmTest.ring(target, in: store, by: "t1", at: TurnedClock.start)
                )
            }
            #expect(evidence == 0)
            #expect(hasRoom)
            #expect(wait == nil)
        }
    }

    @Test("a year ahead makes no log-in link that holds for a year")
    func aYearAheadMakesNoLogInLinkThatHoldsForAYear() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let random = Array(repeating: UInt8(7), count: LoginCode.randomBytes)
            let ahead = Self.time(Self.year)
            let made = try #require(LoginCode.make(owner: "anna", random: random, at: ahead))
            try await store.write { try $0.add(made.code, by: "cli", at: ahead) }
            #expect(try await store.read { try $0.loginCode(made.text, at: ahead) } != nil)
            #expect(try await store.read { try $0.loginCode(made.text, at: TurnedClock.start) } == nil)
        }
    }

    @Test("a year ahead keeps no probe of today from being seen")
    func aYearAheadKeepsNoProbeOfTodayFromBeingSeen() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            func probe(_ isOK: Bool, after seconds: Int64) -> StoredProbe {
                StoredProbe(
                    name: "a", host: "api.example.com", at: Self.time(seconds), isOK: isOK,
                    result: Array(#"{"host": "api.example.com", "verdict": "\#(isOK ? "allow" : "block")"}"#.utf8))
            }
            let (well, refused) = (probe(true, after: Self.year), probe(false, after: 0))
            try await store.write { store in
                try store.add([well])
                try store.dateBackProbes(of: "a", at: TurnedClock.start)
                try store.add([refused])
            }
            let probes = try await store.read { try $0.probes() }
            #expect(probes.map(\.isOK) == [false])
            #expect(probes.map(\.at) == [TurnedClock.start])
        }
    }
}
