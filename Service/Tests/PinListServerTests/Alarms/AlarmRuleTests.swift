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

@Suite("The rules of alarms")
struct AlarmRuleTests {
    private static let day: Int64 = 86_400

    /// The alarms of a store, each as kind, severity and subject, at a time after the start.
    private static func alarms(
        _ store: any ServiceStore, _ repository: RepositorySimulator, after seconds: Int64 = 0
    ) async throws -> [String] {
        let clock = TurnedClock()
        clock.turn(by: seconds)
        let parts = ServiceParts.story(store, anchors: repository.anchors, clock: clock)
        #expect(try await parts.lists.reload(from: store).isEmpty)
        return AlarmRules.alarms(try await parts.overview().alarmFacts).map {
            "\($0.kind.rawValue) \($0.severity) \($0.subject)"
        }
        .sorted()
    }

    private static func published(
        _ repository: RepositorySimulator, _ body: @Sendable (any ServiceStore) async throws -> Void
    ) async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0]] + [repository.lists[repository.lists.count - 1]], name: "com.example.app",
                by: "cli", at: TurnedClock.start)
            try await body(store)
        }
    }

    @Test("a list that expires in 14, 7 and 2 days; a root in 180, 60 and 14")
    func listThatExpiresIn147And2DaysARootIn18060And14() async throws {
        let repository = try RepositorySimulator.story()
        try await Self.published(repository) { store in
            let list = RepositorySimulator.listValidity
            let root = RepositorySimulator.rootValidity
            let name = "com.example.app"
            for (end, days, kind) in [
                (list, [14, 7, 2], "list-expiry"), (root, [180, 60, 14], "root-expiry"),
            ] as [(Int64, [Int64], String)] {
                let steps =
                    [
                        (days[0] * Self.day + 1, nil), (days[0] * Self.day, "notice"),
                        (days[1] * Self.day + 1, "notice"),
                        (days[1] * Self.day, "warning"), (days[2] * Self.day + 1, "warning"),
                        (days[2] * Self.day, "critical"), (-1, "critical"),
                    ] as [(Int64, String?)]
                for (left, severity) in steps {
                    let all = try await Self.alarms(store, repository, after: end - left)
                    let found = all.filter { $0.hasPrefix(kind) }
                    #expect(found == (severity.map { ["\(kind) \($0) \(name)"] } ?? []), "\(left)")
                }
            }
        }
    }

    @Test("the pins of a domain and a certificate that is served, 30, 14 and 3 days ahead; a probe that failed")
    func pinsOfADomainAndACertificateThatIsServed3014And3DaysAheadAProbeThatFailed() async throws {
        let end = Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + 40 * Self.day)
        let repository = try RepositorySimulator.story([try .pinned("api.example.com", expiresAt: end)])
        try await Self.published(repository) { store in
            let result = Array(
                #"{"host": "api.example.com", "ok": true, "path": [{"pin": "x", "notAfter": "\#(end)"}]}"#.utf8)
            func probe(_ isOK: Bool, _ result: [UInt8], _ seconds: Int64) async throws {
                let found = StoredProbe(
                    name: "com.example.app", host: "api.example.com",
                    at: Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds), isOK: isOK,
                    result: result)
                try await store.write { try $0.add([found]) }
            }
            try await probe(true, result, 0)
            for (days, severity) in [(10, "notice"), (26, "warning"), (37, "critical")] as [(Int64, String)] {
                #expect(
                    try await Self.alarms(store, repository, after: days * Self.day) == [
                        "certificate-expiry \(severity) api.example.com", "pin-expiry \(severity) api.example.com",
                        "probe-missing notice api.example.com",
                    ])
            }
            #expect(
                try await Self.alarms(store, repository, after: 10 * Self.day - 1) == [
                    "probe-missing notice api.example.com"
                ])
            try await probe(
                false, Array(#"{"verdict": "block", "reason": "no-matching-pin", "path": []}"#.utf8), 1)
            #expect(try await Self.alarms(store, repository) == ["probe-failed critical api.example.com"])
            // An older result does not replace a newer one.
            try await probe(true, result, 0)
            #expect(try await Self.alarms(store, repository) == ["probe-failed critical api.example.com"])
            try await probe(true, result, 2)
            #expect(try await Self.alarms(store, repository) == [])
            // The newest list has the key, and those who hold an older one are locked out.
            try await probe(
                false, Array(#"{"ok": false, "verdict": "allow", "refusedBy": [3, 4], "path": []}"#.utf8), 3)
            #expect(try await Self.alarms(store, repository) == ["probe-failed critical api.example.com"])
        }
    }

    @Test("a probe that does not reach a host is a notice, and takes back nothing that an earlier one found")
    func probeThatDoesNotReachAHostIsANoticeAndTakesBackNothingThatAnEarlierOneFound() async throws {
        let repository = try RepositorySimulator.story([try .pinned("api.example.com")])
        try await Self.published(repository) { store in
            func probe(_ result: String, _ seconds: Int64) async throws -> [String] {
                let found = StoredProbe(
                    name: "com.example.app", host: "api.example.com",
                    at: Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds),
                    isOK: result.contains("\"ok\": true"), result: Array(result.utf8))
                try await store.write { try $0.add([found]) }
                return try await Self.alarms(store, repository)
            }
            let missed = #"{"ok": false, "error": "connection refused"}"#
            let refused = #"{"ok": false, "verdict": "block", "reason": "no-matching-pin"}"#
            let invalid = #"{"ok": false, "verdict": "block", "error": "the chain ends nowhere"}"#
            let well = #"{"ok": true, "verdict": "allow"}"#
            let (notice, critical) = (
                "probe-unreached notice api.example.com", "probe-failed critical api.example.com"
            )
            // Never reached, and a result that says nothing at all.
            let first = try await probe(missed, 0)
            #expect(first == [notice])
            #expect(try await probe(#"{"ok": false}"#, 1) == [notice])
            #expect(try await probe(well, 2) == [])
            #expect(try await probe(missed, 3) == [notice])
            #expect(try await probe(refused, 4) == [critical])
            #expect(try await probe(missed, 6) == [critical, notice])
            // Older than the last attempt, newer than what was found.
            #expect(try await probe(invalid, 5) == [critical, notice])
            #expect(try await probe(well, 7) == [])
            #expect(try await probe(missed, 6) == [])
        }
    }

    @Test("a job of probes that died is a notice after three days; one that does not reach a host has not died")
    func jobOfProbesThatDiedIsANoticeAfterThreeDays() async throws {
        let hosts = ["api.example.com", "www.example.com"]
        let repository = try RepositorySimulator.story(try hosts.map { try .pinned($0) })
        try await Self.published(repository) { store in
            func probe(_ hosts: [String], _ result: String, after seconds: Int64) async throws {
                let found = hosts.map {
                    StoredProbe(
                        name: "com.example.app", host: $0,
                        at: Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds), isOK: true,
                        result: Array(result.utf8))
                }
                try await store.write { try $0.add(found) }
            }
            let (well, missing) = (#"{"ok": true, "verdict": "allow"}"#, "probe-missing notice ")
            try await probe(hosts, well, after: 0)
            try await probe(["www.example.com"], #"{"ok": false, "error": "no route"}"#, after: 3_600)
            let unreached = "probe-unreached notice www.example.com"
            #expect(try await Self.alarms(store, repository, after: 3 * Self.day) == [unreached])
            #expect(
                try await Self.alarms(store, repository, after: 3 * Self.day + 1) == [
                    missing + "api.example.com", unreached,
                ])
            #expect(
                try await Self.alarms(store, repository, after: 3 * Self.day + 3_601) == [
                    missing + "api.example.com", missing + "www.example.com", unreached,
                ])
            try await probe(hosts, well, after: 3 * Self.day)
            #expect(try await Self.alarms(store, repository, after: 3 * Self.day + 3_601) == [])
        }
    }

    @Test("a host that is no longer listed raises no alarm any more")
    func hostThatIsNoLongerListedRaisesNoAlarmAnyMore() async throws {
        var simulator = try RepositorySimulator.story([try .pinned("old.example.com"), try .pinned("api.example.com")])
        let first = simulator
        let second = try simulator.publishList { $0.domains.removeFirst() }
        try await Self.published(first) { store in
            let failed = Array(#"{"verdict": "block"}"#.utf8)
            let hosts = ["old.example.com", "api.example.com"].map {
                StoredProbe(name: "com.example.app", host: $0, at: TurnedClock.start, isOK: false, result: failed)
            }
            try await store.write { try $0.add(hosts) }
            #expect(try await Self.alarms(store, first).count == 2)
            _ = try await Publisher(store: store, anchors: first.anchors).publish(
                [second], name: "com.example.app", by: "cli", at: TurnedClock.start)
            #expect(try await Self.alarms(store, first) == ["probe-failed critical api.example.com"])
            // Another instance takes a probe by the list of before, just after that: nothing can replace it any more.
            try await store.write { try $0.add(hosts) }
            #expect(try await Self.alarms(store, first) == ["probe-failed critical api.example.com"])
        }
    }

    @Test("a name that was taken out of the configuration raises no alarm any more, and is shown nowhere")
    func nameThatWasTakenOutOfTheConfigurationRaisesNoAlarmAnyMore() async throws {
        let repository = try RepositorySimulator.story([try .pinned("api.example.com")])
        try await Self.published(repository) { store in
            let result = #"{"ok": true, "path": [{"pin": "x", "notAfter": "\#(TurnedClock.start)"}]}"#
            let probe = StoredProbe(
                name: "com.example.app", host: "api.example.com", at: TurnedClock.start, isOK: true,
                result: Array(result.utf8))
            let plan = try RotationPlan.story("api.example.com", [.announced]).stored()
            try await store.write { store in
                try store.add([probe])
                #expect(try store.put(plan, if: .absent) == .stored(isNew: true))
            }
            let clock = TurnedClock()
            clock.turn(by: 40 * Self.day)
            func look(_ anchors: [String: [UInt8]]) async throws -> (alarms: Set<Alarm.Kind>, shown: [Int]) {
                let parts = ServiceParts.story(store, anchors: anchors, clock: clock)
                _ = try await parts.lists.reload(from: store)
                let overview = try await parts.overview()
                let kinds = Set(AlarmRules.alarms(overview.alarmFacts).map(\.kind))
                return (
                    kinds.intersection([.certificateExpiry, .rotationGate]),
                    [overview.probes.count, overview.rotations.count]
                )
            }
            let (before, after) = (try await look(repository.anchors), try await look([:]))
            #expect(before.alarms == [.certificateExpiry, .rotationGate] && before.shown == [1, 1])
            #expect(after.alarms == [] && after.shown == [0, 0])
            // What is stored under a name does not verify any more: the servers are looked at all the same.
            let stranger = try RepositorySimulator(at: TurnedClock.start, seed: 9)
            let broken = try await look(["com.example.app": stranger.roots[0]])
            #expect(broken.alarms == [.certificateExpiry, .rotationGate] && broken.shown == [1, 1])
        }
    }

    @Test("a publication that was refused is one for a day, an equivocation for a week")
    func publicationThatWasRefusedIsOneForADayAnEquivocationForAWeek() async throws {
        let repository = try RepositorySimulator.story()
        try await Self.published(repository) { store in
            try await store.write { store in
                for action in ["publish-refused", "equivocation", "token-create"] {
                    try store.log(action, "com.example.app: what", by: "t", at: TurnedClock.start)
                }
            }
            let (refused, equivocation) = (
                "publish-refused warning com.example.app", "equivocation critical com.example.app"
            )
            #expect(try await Self.alarms(store, repository, after: Self.day) == [equivocation, refused])
            #expect(try await Self.alarms(store, repository, after: Self.day + 1) == [equivocation])
            #expect(try await Self.alarms(store, repository, after: 7 * Self.day) == [equivocation])
            #expect(try await Self.alarms(store, repository, after: 7 * Self.day + 1) == [])
        }
    }

    @Test("a list that no longer spreads is one")
    func listThatNoLongerSpreadsIsOne() async throws {
        let repository = try RepositorySimulator.story()
        try await Self.published(repository) { store in
            let digest = Envelope.digest(of: repository.lists[0])
            let hour = TurnedClock.start.hour + 48
            try await store.write { store in
                for (ago, source) in [(1, ListRequestKey.Source.installation), (13, .log)]
                    as [(Int64, ListRequestKey.Source)]
                {
                    for (digest, count) in [(digest, 60), ("x", 40)] as [(String, Int64)] {
                        try store.add([
                            ListRequestKey(name: "com.example.app", hour: hour - ago, source: source, digest: digest):
                                count
                        ])
                    }
                }
            }
            #expect(
                try await Self.alarms(store, repository, after: 48 * 3_600) == [
                    "adoption-stalled warning com.example.app"
                ])
            #expect(try await Self.alarms(store, repository, after: 30 * 3_600) == [])
        }
    }

    @Test("far more failures than usual, and silence where there was traffic")
    func farMoreFailuresThanUsualAndSilenceWhereThereWasTraffic() {
        let hour: Int64 = 1_000
        func rate(_ usual: Int64, last: Int64, pins: Int64 = 0, silent: Int64 = 0) -> HostRate {
            var counts: [Int64: (all: Int64, pins: Int64)] = [:]
            for ago in max(silent, 2)...168 { counts[hour - ago] = (usual, 0) }
            if silent == 0 { counts[hour] = (last, pins) }
            return HostRate("a", counts, hour: hour, part: 1)
        }
        // Ten are the fewest that are worth anything; above usual is over 4 u + 3 sqrt u: 4 * 9 + 9 = 45.
        #expect(!rate(0, last: 9).isAboveUsual)
        #expect(rate(0, last: 10).isAboveUsual)
        #expect(!rate(9, last: 45).isAboveUsual)
        #expect(rate(9, last: 46).isAboveUsual)
        #expect(rate(9, last: 46, pins: 12).pinFailures == 12)
        #expect(!rate(9, last: 0, silent: 2).isSilent)
        #expect(rate(9, last: 0, silent: 3).isSilent)
        #expect(!rate(4, last: 0, silent: 9).isSilent)
        // The last one came at 10:59:59: it is 13:00:05, then 13:59:59, then 14:00:00.
        for (hour, part, silent) in [(13, 0.001, 2), (13, 0.999, 2), (14, 0, 3), (10, 0.5, 0)]
            as [(Int64, Double, Int64)]
        {
            #expect(HostRate("a", [10: (9, 0)], hour: hour, part: part).silentHours == silent)
        }
        // In the middle of an hour half of the one before counts.
        let sliding = HostRate("a", [hour: (10, 4), hour - 1: (20, 8)], hour: hour, part: 0.5)
        #expect((sliding.lastHour, sliding.pinFailures) == (20, 8))
    }

    @Test(
        "a stranger reports a quiet host a little more often each hour, and after four days hides no lock-out behind that"
    )
    func strangerReportsAQuietHostALittleMoreOftenEachHourAndHidesNoLockOutBehindThat() {
        var counts: [Int64: (all: Int64, pins: Int64)] = [:]
        func isAlarming(_ count: Int64, in hour: Int64) -> Bool {
            counts[hour] = (count, count)
            return HostRate("a", counts, hour: hour, part: 1).isAboveUsual
        }
        for hour in Int64(1_000)..<1_096 {
            // The most that rings no alarm.
            var count = counts[hour - 1]?.all ?? 0
            while !isAlarming(count + 1, in: hour) { count += 1 }
            counts[hour] = (count, count)
        }
        #expect((9...100).contains(counts[1_095]?.all ?? 0))
        #expect(isAlarming(200, in: 1_096))
        // As many as one address can send are not usual a day later.
        counts = [:]
        for hour in Int64(1_000)..<1_024 { #expect(isAlarming(3_600, in: hour)) }
    }

    @Test("the rates of hosts are alarms, critical when pins fail")
    func ratesOfHostsAreAlarmsCriticalWhenPinsFail() async throws {
        let repository = try RepositorySimulator.story(
            ["pin.example", "tls.example", "quiet.example", "late.example"].map { try .pinned($0) })
        try await Self.published(repository) { store in
            let hour = TurnedClock.start.hour
            try await store.write { store in
                func add(_ host: String, _ kind: String, _ hour: Int64, _ count: Int64) throws {
                    try store.connection.execute(
                        "INSERT INTO report_hour (hour, host, kind, count) VALUES (?, ?, ?, ?)",
                        [.integer(hour), .text(host), .text(kind), .integer(count)])
                }
                try add("pin.example", "pin", hour, 50)
                try add("tls.example", "tls", hour, 50)
                try add("", "incident", hour, 50)
                // Invented hosts are one subject, never urgent, and its silence says nothing.
                for host in ["made-up.example", "another.example"] { try add(host, "pin", hour, 5) }
                for ago in Int64(3)..<168 { try add("gone.example", "tls", hour - ago, 60) }
                for ago in Int64(4)..<168 { try add("quiet.example", "tls", hour - ago, 6) }
                // The last one may have come two hours and a second ago.
                for ago in Int64(3)..<168 { try add("late.example", "tls", hour - ago, 6) }
            }
            #expect(
                try await Self.alarms(store, repository, after: 1) == [
                    "failure-rate critical pin.example", "failure-rate warning lists",
                    "failure-rate warning tls.example", "silence warning quiet.example",
                ])
            #expect(
                try await Self.alarms(store, repository, after: 7_300) == [
                    "silence warning late.example", "silence warning quiet.example",
                ])
        }
    }
}
