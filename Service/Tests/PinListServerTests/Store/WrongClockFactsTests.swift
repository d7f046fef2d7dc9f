// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("What is said of lists, failures and certificates after a clock that ran ahead")
struct WrongClockFactsTests {
    private static let day: Int64 = 86_400

    private static func time(_ seconds: Int64) -> Timestamp {
        Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds)
    }

    private static func accepted(
        _ changes: [(String, JSONValue)] = [], at time: Timestamp
    ) throws -> AcceptedReport {
        let report = try ReportText.report(ReportText.body(changes))
        return AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: time,
            networks: NetworkCounter.Count(day: 0, networks: BoundedCount(40)), isSample: false, isListed: true,
            body: report.document)
    }

    // MARK: Lists

    @Test("a list that was published while the clock was three days ahead: who holds the one before it is behind")
    func listThatWasPublishedWhileTheClockWasAheadWhoHoldsTheOneBeforeItIsBehind() async throws {
        func cause(receivedAt seconds: Int64) async throws -> LikelyCause.Kind? {
            let name = "com.example.app"
            let report = try Self.accepted(at: Self.time(seconds))
            var cause: LikelyCause.Kind?
            try await TestedStore.sqlite.withDatabase { open in
                cause = try await open().write { store in
                    for (version, published) in [(7, -10 * Self.day), (8, 3 * Self.day)] {
                        let list = StoredList(
                            version: Int64(version), digest: "\(version)", bytes: [], publishedAt: Self.time(published))
                        try store.serve(list, name: name)
                    }
                    try store.add(Array(repeating: report, count: 40), countedBy: "a")
                    return try store.groups(GroupFilter(), newest: [name: 8], at: TurnedClock.start).first?.cause.kind
                }
            }
            return cause
        }
        #expect(try await cause(receivedAt: -60) == .staleClients)
        // Its time is not known: what failed before yesterday may have failed before it.
        #expect(try await cause(receivedAt: -2 * Self.day) == .rotation)
    }

    @Test("a list that was published while the clock was two days ahead is not new until then")
    func listThatWasPublishedWhileTheClockWasTwoDaysAheadIsNotNewUntilThen() async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli",
                at: Self.time(2 * Self.day))
            func published(at seconds: Int64) async throws -> Timestamp? {
                let clock = TurnedClock(Self.time(seconds))
                let parts = ServiceParts.story(store, anchors: repository.anchors, clock: clock)
                _ = try await parts.lists.reload(from: store)
                return try await parts.overview().names.first?.publishedAt
            }
            let issuedAt = try PinList(payload: Self.payload(repository.lists[0])).issuedAt
            #expect(try await published(at: 0) == issuedAt)
            // For a clock that is minutes behind another instance's it is the time that is stored.
            #expect(try await published(at: 2 * Self.day - 300) == Self.time(2 * Self.day))
        }
    }

    private static func payload(_ envelope: [UInt8]) throws -> [UInt8] {
        try Envelope(envelope, of: .pins, limits: MetadataLimits()).payload
    }

    // MARK: Failures

    @Test("reports that were counted two days ahead are not the cause of what fails now")
    func reportsThatWereCountedTwoDaysAheadAreNotTheCauseOfWhatFailsNow() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let causes = try await open().write { store in
                let reason = JSONValue.object([.init("reason", .string("cleartext"))])
                let ahead = try Self.accepted(
                    [("tumbler", reason), ("validation-result", .integer(3))], at: Self.time(2 * Self.day))
                let now = try Self.accepted(at: TurnedClock.start)
                try store.add(Array(repeating: ahead, count: 50), countedBy: "a")
                try store.add(Array(repeating: now, count: 12), countedBy: "a")
                return try [0, 2 * Self.day].map {
                    try store.leadingCauses(of: ["example.com"], attested: [], newest: [:], at: Self.time($0))[
                        "example.com"]?.kind
                }
            }
            #expect(causes == [.rotation, .cleartext])
        }
    }

    @Test("groups that were counted ahead take no places of what fails now, and are no cause where nothing does")
    func groupsThatWereCountedAheadTakeNoPlacesOfWhatFailsNow() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let causes = try await open().write { store in
                let reason = JSONValue.object([.init("reason", .string("cleartext"))])
                for version in 0..<10 {
                    let ahead = try Self.accepted(
                        [
                            ("app-version", .string("\(version)")), ("tumbler", reason),
                            ("validation-result", .integer(3)),
                        ], at: Self.time(2 * Self.day))
                    try store.add([ahead], countedBy: "a")
                }
                func cause() throws -> LikelyCause.Kind? {
                    try store.leadingCauses(of: ["example.com"], attested: [], newest: [:], at: TurnedClock.start)[
                        "example.com"]?
                        .kind
                }
                let none = try cause()
                try store.add(Array(repeating: Self.accepted(at: TurnedClock.start), count: 12), countedBy: "a")
                return [none, try cause()]
            }
            #expect(causes == [nil, .rotation])
        }
    }

    @Test("reports that were counted two days ahead do not hide that none come any more")
    func reportsThatWereCountedTwoDaysAheadDoNotHideThatNoneComeAnyMore() {
        let hour: Int64 = 1_000
        var counts: [Int64: (all: Int64, pins: Int64)] = [hour + 48: (500, 500)]
        for ago in Int64(4)..<168 { counts[hour - ago] = (9, 0) }
        let rate = HostRate("a", counts, hour: hour, part: 1)
        #expect(rate.isSilent)
        #expect(rate.silentHours == 4)
        // Alone they are nothing to compare with.
        let alone = HostRate("a", [hour + 48: (500, 500)], hour: hour, part: 1)
        #expect([alone.lastHour, alone.usual] == [0, 0])
    }

    @Test("reports that were counted two days ahead are no part of the share of attested ones")
    func reportsThatWereCountedTwoDaysAheadAreNoPartOfTheShareOfAttestedOnes() {
        var rate = AttestationRate(at: TurnedClock.start)
        let hour = TurnedClock.start.hour
        rate.add(10, in: hour, isAttested: true)
        rate.add(90, in: hour + 48, isAttested: false)
        #expect(rate.share == 1)
    }

    @Test("a list beyond the evidence of a day that a wrong clock showed is looked at again when the clock is right")
    func listBeyondTheEvidenceOfADayThatAWrongClockShowedIsLookedAtAgain() {
        var known = KnownPayloads()
        let ahead = Self.time(2 * Self.day)
        known.insert("a", during: ahead..<Self.time(3 * Self.day))
        #expect(known.contains("a", at: Self.time(2 * Self.day + 1)))
        #expect(!known.contains("a", at: TurnedClock.start))
        #expect(!known.contains("a", at: Self.time(3 * Self.day)))
    }

    // MARK: Probes

    private struct Taker: WebhookSender {
        func post(_ body: [UInt8], to address: String) async throws -> Int { 204 }
    }

    @Test("a host whose last probe was dated a year ahead is missed after three days, as any other")
    func hostWhoseLastProbeWasDatedAYearAheadIsMissedAfterThreeDays() async throws {
        let repository = try RepositorySimulator.story([try .pinned("api.example.com")])
        try await TestedStore.sqlite.withDatabase { open in
            let (store, clock) = (try open(), TurnedClock())
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: clock.now)
            let probe = StoredProbe(
                name: "com.example.app", host: "api.example.com", at: Self.time(365 * Self.day), isOK: true,
                result: Array(#"{"host": "api.example.com", "verdict": "allow"}"#.utf8))
            try await store.write { try $0.add([probe]) }
            let parts = ServiceParts.story(store, anchors: repository.anchors, clock: clock)
            _ = try await parts.lists.reload(from: store)
            func missed() async throws -> [String] {
                await AlarmWatch(parts: parts, sender: Taker()).look()
                return AlarmRules.alarms(try await parts.overview().alarmFacts).filter { $0.kind == .probeMissing }
                    .map(\.subject)
            }
            // It counts as a day old.
            #expect(try await missed() == [])
            clock.turn(by: 2 * Self.day)
            #expect(try await missed() == [])
            clock.turn(by: 1)
            #expect(try await missed() == ["api.example.com"])
        }
    }

    // MARK: Certificates

    private static func entry(_ host: String, _ pins: [Pin], endsAfter days: Int64? = nil) throws -> PinList.Domain {
        PinList.Domain(
            PinnedDomain(
                try HostName(host), pins: pins.map { KnownPin($0) }, expiresAt: days.map { Self.time($0 * Self.day) }))
    }

    @Test("a certificate that was told while the clock was beyond its entry's end is an alarm when the clock is right")
    func certificateThatWasToldWhileTheClockWasBeyondItsEntrysEndIsAnAlarmWhenTheClockIsRight() async throws {
        let (logged, ours, theirs) = (LoggedCertificates(), P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let certificate = try logged.certificate(for: ["api.example.com"], key: theirs)
        let entry = try Self.entry("api.example.com", [LoggedCertificates.pin(ours)], endsAfter: 10)
        try await SightingScene.with([entry]) { scene, _ in
            scene.service.clock.set(Self.time(20 * Self.day))
            let states = try await scene.states([(certificate, [])])
            #expect(states == ["unknown"])
            #expect(try await scene.alarms().isEmpty)
            scene.service.clock.set(TurnedClock.start)
            #expect(try await scene.alarms().map(\.subject) == ["api.example.com"])
        }
    }

    @Test("a certificate for an entry that ends and one that stays is an alarm of the other when the first has ended")
    func certificateForAnEntryThatEndsAndOneThatStaysIsAnAlarmOfTheOther() async throws {
        let (logged, ours, theirs) = (LoggedCertificates(), P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let pin = LoggedCertificates.pin(ours)
        let certificate = try logged.certificate(for: ["a.example.com", "b.example.com"], key: theirs)
        let entries = [
            try Self.entry("a.example.com", [pin], endsAfter: 10), try Self.entry("b.example.com", [pin]),
        ]
        try await SightingScene.with(entries) { scene, _ in
            let states = try await scene.states([(certificate, [])])
            #expect(states == ["unknown"])
            #expect(try await scene.alarms().map(\.subject) == ["a.example.com"])
            scene.service.clock.set(Self.time(10 * Self.day))
            #expect(try await scene.alarms().map(\.subject) == ["b.example.com"])
        }
    }
}
