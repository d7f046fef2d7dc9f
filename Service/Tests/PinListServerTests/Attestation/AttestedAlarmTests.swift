// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Alarms where reports are attested", .runsPostgreSQL)
struct AttestedAlarmTests {
    private let authority: SimulatedAttestationAuthority

    init() throws { self.authority = try SimulatedAttestationAuthority(at: TurnedClock.start) }

    private static let host = "example.com"

    /// Puts reports of a name into the counts of an hour, as those of many days before.
    private static func history(
        _ store: any ServiceStore, days: Int64, attested: Int64, unattested: Int64
    ) async throws {
        let first = TurnedClock.start.hour - days * 24
        try await store.write { store in
            for hour in first..<TurnedClock.start.hour {
                for (state, count) in [(AttestationState.attested, attested), (.unattested, unattested)] where count > 0
                {
                    try store.connection.insert(
                        [
                            [
                                .text(AttestedInstallation.name), .integer(hour), .text(Self.host),
                                .text(state.rawValue),
                                .integer(count), .text(""),
                            ]
                        ], StoreTransaction.attestationHours)
                }
            }
        }
    }

    /// Unattested reports from many networks.
    private static func flood(_ service: RunningService, _ count: Int) async throws {
        for number in 0..<count {
            let body = ReportText.body([("app-version", .string("forged"))])
            let answer = try await service.report(body, ["X-Forwarded-For": "203.0.\(number).1"])
            #expect(answer.status == 202)
        }
    }

    @Test(
        "three attested installations in three networks are critical; two, or three in two networks, are not",
        arguments: TestedStore.all)
    func threeAttestedInstallationsInThreeNetworksAreCritical(on tested: TestedStore) async throws {
        let authority = self.authority
        try await tested.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                var installations = (0..<4).map { number in
                    AttestedInstallation(authority, at: "192.0.\(min(number, 2) == 0 ? 0 : number - 1).\(number + 1)")
                }
                var seen: [[String]] = []
                for index in installations.indices {
                    #expect(try await installations[index].register(at: service).status == 201)
                    // Each key counts once an hour.
                    for _ in 0..<3 { #expect(try await installations[index].report(to: service).status == 202) }
                    seen.append(
                        try await AttestedService.alarms(store, at: service.clock).filter { $0.severity == .critical }
                            .map(\.subject))
                }
                // Networks: 0, 0, 1, 2.
                #expect(seen[0] == [])
                #expect(seen[1] == [])
                #expect(seen[2] == [])
                #expect(seen[3] == [Self.host])
                service.clock.turn(by: 3_601)
                #expect(
                    try await AttestedService.alarms(store, at: service.clock).filter { $0.severity == .critical } == []
                )
            }
        }
    }

    @Test("in a flood of unattested reports the alarm and the cause are those of the attested ones")
    func inAFloodOfUnattestedReportsTheAlarmAndTheCauseAreThoseOfTheAttestedOnes() async throws {
        let authority = self.authority
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                try await Self.history(store, days: 29, attested: 1, unattested: 0)
                try await Self.flood(service, 200)
                let alone = try await AttestedService.alarms(store, at: service.clock)
                #expect(alone.map(\.severity) == [.warning])
                #expect(alone.first?.detail.contains("too few of them are attested") == true)
                for number in 0..<20 {
                    var installation = AttestedInstallation(authority, at: "192.0.\(number).1")
                    #expect(try await installation.register(at: service).status == 201)
                    #expect(try await installation.report(to: service).status == 202)
                }
                let alarms = try await AttestedService.alarms(store, at: service.clock)
                #expect(alarms.map(\.severity) == [.critical])
                // It grows by what is attested, and not by the flood: that would take a person's acknowledgement away.
                #expect(alarms.map(\.count) == [20] && alone.map(\.count) == [200])
                #expect(alarms.first?.detail.contains("20 attested installations in 20 networks") == true)
                let groups = try await store.read { try $0.groups(GroupFilter(), newest: [:]) }
                #expect(
                    Set(groups.map { "\($0.attestation.rawValue) \($0.count)" }) == ["attested 20", "unattested 200"])
                let cause = groups.filter { $0.attestation == .attested }.map(\.cause.kind)
                // The same reports without a flood have the same cause.
                let quiet = try await Self.causeWithoutFlood(authority)
                #expect(cause == quiet)
                #expect(groups.first { $0.attestation == .attested }?.networks?.number == 20)
                // A larger flood of another cause does not choose what the alarm says to do.
                let hour = service.clock.now.hour
                try await store.write { store in
                    try store.connection.execute(
                        """
                        UPDATE report_group SET kind = 'cleartext' WHERE attestation = 'unattested'
                        """, [])
                    try store.connection.execute(
                        "UPDATE group_hour SET count = 5000 WHERE hour = ? AND count = 200", [.integer(hour)])
                }
                let flooded = try await AttestedService.alarms(store, at: service.clock)
                #expect(flooded.map(\.detail) == alarms.map(\.detail))
            }
        }
    }

    private static func causeWithoutFlood(_ authority: SimulatedAttestationAuthority) async throws -> [LikelyCause.Kind]
    {
        let (causes, told) = AsyncStream.makeStream(of: [LikelyCause.Kind].self)
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                for number in 0..<20 {
                    var installation = AttestedInstallation(authority, at: "192.0.\(number).1")
                    _ = try await installation.register(at: service)
                    _ = try await installation.report(to: service)
                }
                told.yield(try await store.read { try $0.groups(GroupFilter(), newest: [:]) }.map(\.cause.kind))
            }
        }
        for await cause in causes { return cause }
        return []
    }

    @Test("an interceptor who blocks Apple and the challenges does not silence his victims", arguments: TestedStore.all)
    func interceptorWhoBlocksAppleAndTheChallengesDoesNotSilenceHisVictims(on tested: TestedStore) async throws {
        let authority = self.authority
        try await tested.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                // Twenty attested reports in an hour are usual, and none come any more: his victims get no challenge.
                try await Self.history(store, days: 29, attested: 20, unattested: 2)
                service.clock.turn(by: 3_600)
                try await Self.flood(service, 40)
                let alarms = try await AttestedService.alarms(store, at: service.clock)
                #expect(alarms.map(\.severity) == [.critical])
            }
        }
    }

    @Test("a list that gets few attested reports is warned as before, and so is one that begins")
    func listThatGetsFewAttestedReportsIsWarnedAsBefore() async throws {
        let authority = self.authority
        for (days, attested, unattested) in [(29, 2, 3), (0, 0, 0)] as [(Int64, Int64, Int64)] {
            try await TestedStore.sqlite.withDatabase { open in
                let store = try open()
                try await AttestedService.with(store, authority) { service in
                    try await Self.history(store, days: days, attested: attested, unattested: unattested)
                    try await Self.flood(service, 12)
                    #expect(try await AttestedService.alarms(store, at: service.clock).map(\.severity) == [.critical])
                }
            }
        }
    }

    @Test("unattested reports count as before where under half of all reports of 30 days were attested, not at half")
    func unattestedReportsCountAsBeforeWhereUnderHalfOfAllReportsOf30DaysWereAttested() throws {
        let now = TurnedClock.start
        var rate = AttestationRate(at: now)
        #expect(rate.share == nil)
        #expect(rate.countsUnattested)
        for hour in (now.hour - 700)...now.hour { rate.add(10, in: hour, isAttested: true) }
        // On one day or on many: all reports weigh the same.
        rate.add(4_000, in: now.hour - 30, isAttested: false)
        rate.add(3_010, in: now.hour - 600, isAttested: false)
        #expect(rate.share == 0.5)
        #expect(!rate.countsUnattested)
        rate.add(1, in: now.hour - 30, isAttested: false)
        #expect(rate.countsUnattested)
    }

    @Test("three attested installations in three networks are critical where thirty an hour are usual")
    func threeAttestedInstallationsInThreeNetworksAreCriticalWhereThirtyAnHourAreUsual() async throws {
        let authority = self.authority
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                try await Self.history(store, days: 29, attested: 30, unattested: 0)
                for number in 1...3 {
                    var installation = AttestedInstallation(authority, at: "192.0.\(number).1")
                    #expect(try await installation.register(at: service).status == 201)
                    #expect(try await installation.report(to: service).status == 202)
                }
                let alarms = try await AttestedService.alarms(store, at: service.clock)
                #expect(alarms.map(\.severity) == [.critical])
                #expect(alarms.first?.detail.contains("3 attested installations in 3 networks") == true)
            }
        }
    }

    @Test("three installations that change their network are three keys, and each is in one network")
    func threeInstallationsThatChangeTheirNetworkAreEachInOneNetwork() async throws {
        let authority = self.authority
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            try await AttestedService.with(store, authority) { service in
                // The hour of the clock changes between the two reports of each: the store has two rows of a key.
                var installations = (1...3).map { AttestedInstallation(authority, at: "192.0.2.\($0)") }
                service.clock.turn(by: 3_540)
                for index in installations.indices {
                    #expect(try await installations[index].register(at: service).status == 201)
                    #expect(try await installations[index].report(to: service).status == 202)
                }
                service.clock.turn(by: 120)
                for index in installations.indices {
                    installations[index].address = "198.51.\(index).1"
                    #expect(try await installations[index].report(to: service).status == 202)
                }
                let now = service.clock.now
                let hosts = try await store.read { try $0.attestedHosts(at: now) }
                #expect(hosts == [Self.host: AttestedHost(keys: 3, networks: 1)])
            }
        }
    }

    @Test("attested reports have fallen when half of what usually comes is missing, for rare ones over a day")
    func attestedReportsHaveFallenWhenHalfOfWhatUsuallyComesIsMissing() throws {
        let now = TurnedClock.start
        func rate(_ perHours: Int64, _ count: Int64, last: [Int64: Int64]) -> AttestationRate {
            var rate = AttestationRate(at: now)
            for hour in (now.hour - 600)..<(now.hour - 30) where hour % perHours == 0 {
                rate.add(count, in: hour, isAttested: true)
            }
            for (ago, count) in last { rate.add(count, in: now.hour - ago, isAttested: true) }
            return rate
        }
        let steady = Dictionary(uniqueKeysWithValues: (0...30).map { (Int64($0), Int64(20)) })
        #expect(!rate(1, 20, last: steady).hasFallen)
        let missing = steady.merging([0: 0, 1: 4]) { $1 }
        #expect(rate(1, 20, last: missing).hasFallen)
        // One in five hours: none in the last hour says nothing, and none in a day does.
        #expect(!rate(5, 1, last: [3: 1, 8: 1, 13: 1, 18: 1, 23: 1]).hasFallen)
        #expect(rate(5, 1, last: [:]).hasFallen)
    }
}
