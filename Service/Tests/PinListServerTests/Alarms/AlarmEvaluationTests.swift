// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The notifications of an alarm, and their times", .runsPostgreSQL)
struct AlarmEvaluationTests {
    private static let targets = ["ops", "chat"]
    private static let head = String(repeating: "e", count: 64)

    private static func time(_ seconds: Int64) -> Timestamp {
        Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds)
    }

    @discardableResult
    private static func events(
        _ alarms: [Alarm], to store: any ServiceStore, after seconds: Int64
    ) async throws -> [AlarmEvent] {
        let evaluation = AlarmEvaluation(targets: Self.targets)
        return try await store.write { store in
            try evaluation.apply(alarms, in: store, auditHead: Self.head, at: Self.time(seconds))
        }
    }

    private static func apply(
        _ alarms: [Alarm], to store: any ServiceStore, after seconds: Int64
    ) async throws -> [String] {
        try await Self.events(alarms, to: store, after: seconds).map {
            "\($0.phase.rawValue) \($0.severity) \($0.since.secondsSince1970 - Self.time(0).secondsSince1970)"
        }
    }

    /// The notifications: the phase, the key, and the number of alarms.
    private static func told(
        _ alarms: [Alarm], to store: any ServiceStore, after seconds: Int64
    ) async throws -> [String] {
        try await Self.events(alarms, to: store, after: seconds).map { "\($0.phase.rawValue) \($0.key) \($0.count)" }
    }

    private static func failing(_ hosts: [String], _ severity: Alarm.Severity = .critical) -> [Alarm] {
        hosts.map { Alarm(.failureRate, severity, $0, "\($0) fails") }
    }

    private static func due(_ store: any ServiceStore, after seconds: Int64) async throws -> [StoredNotification] {
        try await store.write {
            try $0.takeNotifications(
                for: Self.targets, due: Self.time(seconds), until: Self.time(seconds + 60), limit: 20)
        }
    }

    private static func silence(
        _ what: String, for seconds: Int64, upTo severity: Alarm.Severity? = nil, in store: any ServiceStore,
        after begin: Int64
    ) async throws -> StoredSilence? {
        try await store.write { store in
            try AlarmHandling.silence(
                what, for: seconds, because: "work", upTo: severity, in: store, by: "t1", at: Self.time(begin))
        }
    }

    @Test("begin, more urgent and end are told once each; a text that moves is not", arguments: TestedStore.all)
    func beginMoreUrgentAndEndAreToldOnceEachATextThatMovesIsNot(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let (store, other) = (try open(), try open())
            func alarm(_ severity: Alarm.Severity, _ detail: String) -> Alarm {
                Alarm(.listExpiry, severity, "a", detail)
            }
            #expect(try await Self.apply([alarm(.notice, "14 days")], to: store, after: 0) == ["firing notice 0"])
            #expect(try await Self.apply([alarm(.notice, "13 days")], to: other, after: 10) == [])
            #expect(try await Self.apply([alarm(.notice, "13 days")], to: store, after: 10) == [])
            #expect(
                try await store.read { try $0.firingAlarms().map(\.detail) } == [
                    "The list is about to expire: a, 13 days"
                ])
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
    func twoAlarmsOfOneKeyAreOneTheMostUrgent() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let alarms = [Alarm.Severity.warning, .critical, .notice].map { Alarm(.silence, $0, "a", "x") }
            #expect(try await Self.apply(alarms, to: store, after: 0) == ["firing critical 0"])
        }
    }

    @Test("an outage of 42 hosts is one message that names 10, and its end is one", arguments: TestedStore.all)
    func outageOf42HostsIsOneMessageThatNames10AndItsEndIsOne(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let hosts = (0..<42).map { "h\($0 / 10)\($0 % 10).example" }
            var alarms = Self.failing(hosts, .warning)
            alarms[7] = Self.failing([hosts[7]])[0]
            let begun = try await Self.events(alarms + [Alarm(.silence, .notice, "a", "x")], to: store, after: 0)
            #expect(begun.map { "\($0.kind) \($0.count)" } == ["failure-rate 42", "silence 1"])
            let event = try #require(begun.first)
            #expect(event.key == "failure-rate:h00.example")
            #expect(event.severity == "critical")
            #expect(event.alarms.count == 10)
            #expect(event.alarms.first?.subject == "h07.example")
            #expect(event.detail.hasPrefix("42 alarms of failure-rate: h07.example, h00.example, "))
            #expect(event.detail.hasSuffix(" and 32 more"))
            #expect(try await Self.due(store, after: 0).count == 2 * Self.targets.count)
            #expect(try await store.read { try $0.firingAlarms().count } == 43)
            let ended = try await Self.told([], to: store, after: 60)
            #expect(ended == ["recovered failure-rate:h00.example 42", "recovered silence:a 1"])
            #expect(try await store.read { try $0.alarmMessages() }.isEmpty)
        }
    }

    @Test("hosts that join within an hour ring twice at most, while others come and go; later ones ring anew")
    func hostsThatJoinWithinAnHourRingTwiceAtMostWhileOthersComeAndGo() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            var hosts = ["h00.example"]
            var all: [String] = []
            // Every minute another host, and one that comes and goes all the time.
            for look in 0..<120 {
                let seconds = Int64(look * 60)
                if look > 0 { hosts.append("h\(look).example") }
                let failing = look == 0 || look % 2 == 1 ? hosts : hosts + ["flaps.example"]
                let alarms = Self.failing(failing, .warning)
                all += try await Self.told(alarms, to: store, after: seconds).map { "\(seconds) \($0)" }
            }
            #expect(
                all == [
                    "0 firing failure-rate:h00.example 1", "300 firing failure-rate:h00.example 6",
                    "3600 firing failure-rate:h00.example 61", "3600 firing failure-rate:h60.example 1",
                    "3900 firing failure-rate:h60.example 6",
                ])
            let ends = try await Self.told([], to: store, after: 7_200).map { $0.split(separator: " ").first ?? "" }
            #expect(ends == ["recovered", "recovered"])
        }
    }

    @Test(
        "a stranger rings two listed hosts: the lock-out of another one that begins later is told within five minutes")
    func strangerRingsTwoListedHostsTheLockOutOfAnotherIsToldWithinFiveMinutes() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let (rung, real) = (Self.failing(["a", "b"]), Self.failing(["c"]))
            #expect(try await Self.told(Self.failing(["a"]), to: store, after: 0) == ["firing failure-rate:a 1"])
            #expect(try await Self.told(rung, to: store, after: 300) == ["firing failure-rate:a 2"])
            #expect(try await Self.told(rung + real, to: store, after: 600) == [])
            #expect(try await Self.told(rung + real, to: store, after: 899) == [])
            #expect(try await Self.told(rung + real, to: store, after: 900) == ["firing failure-rate:a 3"])
            #expect(try await Self.told(rung + real, to: store, after: 1_200) == [])
            // More of them in one go are told in one go.
            let more = Self.failing(["d", "e"])
            #expect(try await Self.told(rung + real + more, to: store, after: 1_300) == [])
            #expect(try await Self.told(rung + real + more, to: store, after: 1_600) == ["firing failure-rate:a 5"])
        }
    }

    @Test(
        "ten reports of a stranger were seen and acknowledged: ten times as many ring anew, and fewer later do not",
        arguments: TestedStore.all)
    func tenReportsOfAStrangerWereSeenAndAcknowledgedTenTimesAsManyRingAnew(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            @Sendable func failing(_ count: Double) -> [Alarm] {
                [Alarm(.failureRate, .critical, "a", "\(count)", count: count)]
            }
            #expect(try await Self.told(failing(12), to: store, after: 0) == ["firing failure-rate:a 1"])
            @Sendable func acknowledge(_ seconds: Int64) async throws -> Bool {
                try await store.write { store in
                    try AlarmHandling.acknowledge("failure-rate:a", in: store, by: "t1", at: Self.time(seconds))
                }
            }
            #expect(try await Self.told(failing(20), to: store, after: 15) == [])
            #expect(try await acknowledge(60))
            // A person saw twenty.
            _ = try await Self.told(failing(199), to: store, after: 75)
            #expect(try await store.read { try $0.firingAlarms().first?.acknowledgement } != nil)
            // What was acknowledged has another key for a pager than what rings now.
            #expect(
                try await Self.told(failing(200), to: store, after: 90).sorted() == [
                    "firing failure-rate:a#2 1", "recovered failure-rate:a 0",
                ])
            #expect(try await store.read { try $0.firingAlarms().first?.acknowledgement } == nil)
            #expect(try await Self.told(failing(30), to: store, after: 105) == [])
            #expect(try await Self.told(failing(2_000), to: store, after: 390) == ["firing failure-rate:a#2 1"])
            // Not at once: of many hosts each grows in a moment of its own.
            #expect(try await Self.told(failing(100_000), to: store, after: 1_000) == [])
            #expect(try await Self.told(failing(20), to: store, after: 1_299) == [])
            #expect(try await Self.told(failing(20), to: store, after: 1_300) == ["firing failure-rate:a#2 1"])
            #expect(try await Self.told(failing(100_000), to: store, after: 9_900) == [])
            #expect(try await Self.told([], to: store, after: 9_915) == ["recovered failure-rate:a#2 1"])
            #expect(try await Self.told(failing(15), to: store, after: 9_930) == ["firing failure-rate:a 1"])
        }
    }

    @Test("fifty hosts grow a hundredfold, each in moments of its own: people are told every five minutes at most")
    func fiftyHostsGrowAHundredfoldEachInMomentsOfItsOwnPeopleAreToldEveryFiveMinutesAtMost() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            var times: [Int64] = []
            for look in 0..<240 {
                let alarms = (0..<50).map { host in
                    let count = [10, 100, 1_000][min(max((look - host * 3) / 20, 0), 2)]
                    return Alarm(.failureRate, .critical, "h\(host)", "x", count: Double(count))
                }
                let told = try await Self.told(alarms, to: store, after: Int64(look * 15))
                if !told.isEmpty { times.append(Int64(look * 15)) }
            }
            #expect(times.first == 0)
            #expect((5...12).contains(times.count), "\(times)")
            #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 300 }, "\(times)")
        }
    }

    @Test("an acknowledged warning that grew joins a message that others began, and is told within five minutes")
    func acknowledgedWarningThatGrewJoinsAMessageThatOthersBeganAndIsToldWithinFiveMinutes() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            func failing(_ host: String, _ count: Double) -> Alarm {
                Alarm(.failureRate, .warning, host, "x", count: count)
            }
            _ = try await Self.told([failing("a", 10)], to: store, after: 0)
            _ = try await store.write { store in
                try AlarmHandling.acknowledge("failure-rate:a", in: store, by: "t1", at: Self.time(60))
            }
            var others = [failing("b", 10)]
            _ = try await Self.told([failing("a", 10)] + others, to: store, after: 75)
            others.append(failing("c", 10))
            #expect(
                try await Self.told([failing("a", 10)] + others, to: store, after: 375) == ["firing failure-rate:b 2"])
            let ended = try await Self.told([failing("a", 100)] + others, to: store, after: 1_000)
            #expect(ended.filter { $0.hasPrefix("firing") } == [])
            #expect(
                try await Self.told([failing("a", 100)] + others, to: store, after: 1_300) == [
                    "firing failure-rate:b 3"
                ])
        }
    }

    @Test("a host of many that ends is told with the next message, and the key stays, so that a pager closes")
    func hostOfManyThatEndsIsToldWithTheNextMessageAndTheKeyStaysSoThatAPagerCloses() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let (a, b) = (Self.failing(["a"]), Self.failing(["b"]))
            #expect(try await Self.told(a + b, to: store, after: 0) == ["firing failure-rate:a 2"])
            #expect(try await Self.told(b, to: store, after: 299) == [])
            #expect(try await Self.told(b, to: store, after: 300) == ["firing failure-rate:a 1"])
            // An alarm that begins anew after an hour is a message of its own, with a key of its own.
            #expect(try await Self.told(a + b, to: store, after: 4_000) == ["firing failure-rate:a#2 1"])
            #expect(try await Self.told(a, to: store, after: 4_015) == ["recovered failure-rate:a 1"])
            #expect(try await Self.told([], to: store, after: 4_030) == ["recovered failure-rate:a#2 1"])
        }
    }

    @Test("an alarm that becomes more urgent rings at once: by itself where others of its message do not, else with it")
    func alarmThatBecomesMoreUrgentRingsAtOnceByItselfWhereOthersOfItsMessageDoNot() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let (a, b) = (Self.failing(["a"], .warning), Self.failing(["b"], .warning))
            #expect(try await Self.told(a, to: store, after: 0) == ["firing failure-rate:a 1"])
            #expect(try await Self.told(a + b, to: store, after: 15) == [])
            let worse = Self.failing(["b"])
            #expect(try await Self.told(a + worse, to: store, after: 30) == ["firing failure-rate:b 1"])
            #expect(try await Self.told(a + worse, to: store, after: 300) == [])
            // Less urgent ones join the newest message, and one that is more urgent than that never does.
            let c = Self.failing(["c"], .warning)
            #expect(try await Self.told(a + worse + c, to: store, after: 330) == ["firing failure-rate:b 2"])
            #expect(
                try await Self.told(Self.failing(["a"]) + worse + c, to: store, after: 345) == [
                    "firing failure-rate:a 1"
                ])
            #expect(
                try await Self.told([], to: store, after: 360) == [
                    "recovered failure-rate:a 1", "recovered failure-rate:b 2",
                ])
        }
    }

    @Test("a stranger's noise does not keep a lock-out from a pager: what is more urgent has a key of its own")
    func strangersNoiseDoesNotKeepALockOutFromAPagerWhatIsMoreUrgentHasAKeyOfItsOwn() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let noise = Self.failing(["hosts of no list"], .warning)
            #expect(try await Self.told(noise, to: store, after: 0) == ["firing failure-rate:hosts of no list 1"])
            #expect(
                try await Self.told(noise + Self.failing(["api"]), to: store, after: 15) == [
                    "firing failure-rate:api 1"
                ])
        }
    }

    @Test(
        "a silenced alarm sends nothing until the silence ends by itself; then what fires rings",
        arguments: TestedStore.all)
    func silencedAlarmSendsNothingUntilTheSilenceEndsByItselfThenWhatFiresRings(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            // In advance: a kind, and as urgent as a warning.
            let silence = try await Self.silence("failure-rate", for: 600, in: store, after: 0)
            #expect(silence?.severity == .warning)
            let (a, b) = (Self.failing(["a"], .warning), Self.failing(["b"], .warning))
            #expect(try await Self.told(a + b, to: store, after: 15) == [])
            #expect(try await store.read { try $0.firingAlarms().count } == 2)
            #expect(try await Self.told(a, to: store, after: 30) == [])
            // More urgent than what was silenced.
            #expect(try await Self.told(Self.failing(["a"]) + b, to: store, after: 45) == ["firing failure-rate:a 1"])
            #expect(try await Self.told(Self.failing(["a"]) + b, to: store, after: 599) == [])
            #expect(try await Self.told(Self.failing(["a"]) + b, to: store, after: 600) == ["firing failure-rate:a 2"])
            #expect(try await store.read { try $0.connection.rows("SELECT 1 FROM alarm_silence", []) }.isEmpty)
        }
    }

    @Test("an alarm that rang before it was silenced is closed when it ends, and its silence is as urgent as it was")
    func alarmThatRangBeforeItWasSilencedIsClosedWhenItEndsAndItsSilenceIsAsUrgentAsItWas() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let (a, b) = (Self.failing(["a"]), Self.failing(["b"]))
            _ = try await Self.told(a, to: store, after: 0)
            let silence = try await Self.silence("failure-rate:a", for: 900_000, in: store, after: 10)
            #expect(silence?.severity == .critical)
            #expect(silence?.endsAt == Self.time(10 + AlarmHandling.maximumSilence))
            #expect(try await Self.silence("failure-rate:none", for: 60, in: store, after: 10) == nil)
            // Another host of the kind is not silenced.
            #expect(try await Self.told(a + b, to: store, after: 300) == ["firing failure-rate:a 2"])
            #expect(try await Self.told([], to: store, after: 315) == ["recovered failure-rate:a 2"])
            let ended = try await store.write { store in
                [
                    try AlarmHandling.unsilence("failure-rate:a", in: store, by: "t2", at: Self.time(320)),
                    try AlarmHandling.unsilence("failure-rate:a", in: store, by: "t2", at: Self.time(320)),
                ]
            }
            #expect(ended == [true, false])
            let log = try await store.read { try $0.auditEntries(from: 1, limit: 9) }
            #expect(log.map { "\($0.action) \($0.actor)" } == ["alarm-silenced t1", "alarm-unsilenced t2"])
            #expect(log.first?.detail == "failure-rate:a until \(Self.time(10 + 604_800)), up to critical: work")
        }
    }

    @Test("an acknowledgement is told with the alarm, and ends with it or when it becomes more urgent")
    func acknowledgementIsToldWithTheAlarmAndEndsWithItOrWhenItBecomesMoreUrgent() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            @Sendable func acknowledge(_ seconds: Int64) async throws -> Bool {
                try await store.write { store in
                    try AlarmHandling.acknowledge("failure-rate:a", in: store, by: "t1", at: Self.time(seconds))
                }
            }
            func seen() async throws -> [String?] {
                try await store.read { try $0.firingAlarms().map { $0.acknowledgement?.by } }
            }
            #expect(try await acknowledge(0) == false)
            let warning = Self.failing(["a"], .warning)
            _ = try await Self.told(warning, to: store, after: 0)
            _ = try await Self.told(warning + Self.failing(["b"], .warning), to: store, after: 5)
            #expect(try await acknowledge(10))
            let update = try await Self.events(warning + Self.failing(["b"], .warning), to: store, after: 300)
            #expect(update.first?.alarms.map(\.acknowledgedBy) == ["t1", nil])
            #expect(try await seen() == ["t1", nil])
            _ = try await Self.told(Self.failing(["a"]), to: store, after: 315)
            #expect(try await seen() == [nil])
            #expect(try await acknowledge(320))
            _ = try await Self.told([], to: store, after: 330)
            _ = try await Self.told(Self.failing(["a"]), to: store, after: 345)
            #expect(try await seen() == [nil])
            let log = try await store.read { try $0.auditEntries(from: 1, limit: 9) }
            #expect(
                log.map { "\($0.action) \($0.actor) \($0.detail)" }
                    == Array(repeating: "alarm-acknowledged t1 failure-rate:a", count: 2))
        }
    }

    @Test("a notification that one instance is sending is taken by no other for its time", arguments: TestedStore.all)
    func notificationThatOneInstanceIsSendingIsTakenByNoOtherForItsTime(on tested: TestedStore) async throws {
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
    func olderMessageThatDidNotGetThroughDoesNotArriveAfterANewerOne(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let other = Alarm(.listExpiry, .notice, "other", "x")
            _ = try await Self.apply([Alarm(.silence, .notice, "a", "x"), other], to: store, after: 0)
            // Tried once, in vain.
            for notification in try await Self.due(store, after: 0) {
                try await store.write { try $0.postpone(notification.number, until: Self.time(1_000)) }
            }
            _ = try await Self.apply([other], to: store, after: 10)
            let due = try await Self.due(store, after: 2_000).compactMap { AlarmEvent($0.body) }
            #expect(
                due.map { "\($0.phase.rawValue) \($0.key)" }.sorted() == [
                    "firing list-expiry:other", "firing list-expiry:other", "recovered silence:a",
                    "recovered silence:a",
                ])
        }
    }

    @Test("a test of a pager ends by itself, and one of a chat is one message")
    func testOfAPagerEndsByItselfAndOneOfAChatIsOneMessage() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            for (kind, name) in [(AlertTarget.Kind.pagerduty, "ops"), (.slack, "chat")] {
                let target = AlertTarget(kind: kind, name: name, address: "https://example.com/")
                let wait = try await store.write { try AlarmTest.ring(target, in: $0, by: "t1", at: Self.time(0)) }
                #expect(wait == nil)
            }
            let due = try await Self.due(store, after: 0)
            let told = due.map { "\($0.target) \(AlarmEvent($0.body)?.phase.rawValue ?? "")" }
            #expect(told == ["ops test", "ops recovered", "chat test"])
            #expect(Set(due.prefix(2).compactMap { AlarmEvent($0.body)?.key }) == ["test:ops"])
        }
    }

    @Test("a token rings three tests an hour, whichever instances it asks", arguments: TestedStore.all)
    func tokenRingsThreeTestsAnHourWhicheverInstancesItAsks(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let stores = [try open(), try open()]
            let target = AlertTarget(kind: .slack, name: "chat", address: "https://example.com/")
            func ring(_ number: Int, _ actor: String, _ seconds: Int64) async throws -> Int64? {
                try await stores[number % 2].write {
                    try AlarmTest.ring(target, in: $0, by: actor, at: Self.time(seconds))
                }
            }
            var waits: [Int64?] = []
            for number in 0..<5 { waits.append(try await ring(number, "t1", Int64(number) * 10)) }
            #expect(waits == [nil, nil, nil, 3_570, 3_560])
            #expect(try await ring(0, "t2", 60) == nil)
            #expect(try await ring(0, "t1", 3_599) == 1)
            #expect(try await ring(0, "t1", 3_600) == nil)
            let actors = try await stores[0].read { try $0.auditEntries(from: 1, limit: 9).map(\.actor) }
            #expect(actors == ["t1", "t1", "t1", "t2", "t1"])
        }
    }
}
