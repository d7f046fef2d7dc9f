// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("A client that was offered another truth")
struct EquivocationTests {
    private static func incident(_ envelope: [UInt8], name: String = "com.example.app") -> [UInt8] {
        JSONValue.object([
            .init("date-time", .string("2026-11-21T00:00:00Z")),
            .init(
                "tumbler",
                .object([
                    .init("list-name", .string(name)), .init("list-version", .integer(2)),
                    .init("reason", .string("equivocation")),
                    .init("envelope", .string(Data(envelope).base64EncodedString())),
                ])),
        ]).bytes
    }

    /// Two lists published, and what else the signers signed.
    private struct Scene {
        var repository: RepositorySimulator
        let second: [UInt8]
        let resigned: [UInt8]
        let other: [UInt8]
        let unpublished: [UInt8]
        let forged: [UInt8]

        init() throws {
            var repository = try RepositorySimulator.story()
            var elsewhere = repository
            self.second = try repository.publishList { _ in }
            self.repository = repository
            self.resigned = try repository.republishList()
            self.other = try elsewhere.publishList { $0.refreshAfter = 1_800 }
            self.unpublished = try elsewhere.publishList { _ in }
            var stranger = try RepositorySimulator(at: TurnedClock.start, seed: 9)
            self.forged = try stranger.publishList { $0.refreshAfter = 1_800 }
        }

        /// The published lists after those that are left out, and a service that serves them.
        func run(
            dropping count: Int = 0, over wrap: @Sendable (any ServiceStore) -> any ServiceStore = { $0 },
            _ body: @Sendable (RunningService) async throws -> Void
        ) async throws {
            let repository = self.repository
            let lists = Array([repository.lists[0], self.second].dropFirst(count))
            try await TestedStore.sqlite.withDatabase { open in
                try await RunningService.with(wrap(try open()), { $0.roots = repository.anchors }) { service in
                    let token = try await service.token(.publish, ["com.example.app"])
                    #expect(
                        try await service.publish([repository.roots[0], lists[0]], token: token).status == 200)
                    for list in lists.dropFirst() {
                        #expect(try await service.publish([list], token: token).status == 200)
                    }
                    try await body(service)
                }
            }
        }
    }

    private static func payload(_ envelope: [UInt8]) throws -> String {
        Envelope.digest(of: try Envelope(envelope, of: .pins, limits: MetadataLimits()).payload)
    }

    /// An envelope with white space at its begin, the signatures in another order, and other hints.
    private static func spelled(_ envelope: [UInt8], _ number: Int) throws -> [UInt8] {
        var read = try Envelope(envelope, of: .pins, limits: MetadataLimits())
        read.signatures = read.signatures.reversed().map { .init(keyID: "\(number)", bytes: $0.bytes) }
        return [UInt8](repeating: 0x20, count: number) + read.bytes
    }

    private static func details(_ service: RunningService, _ action: String) async throws -> [String] {
        try await service.store.read { try $0.auditEntries(of: [action], since: TurnedClock.start).map(\.detail) }
    }

    private static func evidence(_ service: RunningService) async throws -> [[UInt8]] {
        try await service.store.read { store in
            try store.connection.rows("SELECT envelope FROM evidence ORDER BY digest", []).map { try $0.blob(0) }
        }
    }

    @Test("signed by our signers, and not what was published: kept as evidence once, logged, and an alarm")
    func signedByOurSignersAndNotWhatWasPublishedKeptAsEvidenceOnceLoggedAndAnAlarm() async throws {
        let scene = try Scene()
        let (other, unpublished, anchors) = (scene.other, scene.unpublished, scene.repository.anchors)
        try await scene.run { service in
            for _ in 0..<3 { #expect(try await service.report(Self.incident(other)).status == 202) }
            #expect(try await Self.evidence(service) == [other])
            let entries = try await service.store.read {
                try $0.auditEntries(of: ["equivocation"], since: TurnedClock.start)
            }
            #expect(entries.count == 1)
            #expect(entries.first?.actor == "report")
            let detail = entries.first?.detail ?? ""
            #expect(detail.hasPrefix("com.example.app: a client was offered another list of version 2, "))
            #expect(detail.hasSuffix(try Self.payload(other)))
            // A version that was not published here.
            #expect(try await service.report(Self.incident(unpublished)).status == 202)
            #expect(Set(try await Self.evidence(service)) == [other, unpublished])
            let parts = ServiceParts.story(service.store, anchors: anchors)
            _ = try await parts.lists.reload(from: service.store)
            let alarms = AlarmRules.alarms(try await parts.overview().alarmFacts)
            #expect(alarms.map(\.kind) == [.equivocation, .equivocation])
            #expect(alarms.allSatisfy { $0.severity == .critical && $0.subject == "com.example.app" })
        }
    }

    @Test("a proof that the store does not take is turned away whole, and counts once when it comes again")
    func proofThatTheStoreDoesNotTakeIsTurnedAwayWholeAndCountsOnceWhenItComesAgain() async throws {
        let scene = try Scene()
        let other = scene.other
        try await scene.run(over: { WrappedStore($0) }) { service in
            let store = try #require(service.store as? WrappedStore)
            func reports() async throws -> Int64? {
                try await store.read { try $0.connection.rows("SELECT COUNT(*) FROM report", []).first?.integer(0) }
            }
            // The rows of reports find their way, and evidence, which waits for a lock, does not.
            store.sparesAppends = true
            store.failure = StoreError(.busy, "another process holds it")
            // From its bytes, and through the framework.
            for fields: HTTPHeaders in [[:], ["X-Unknown": "1"]] {
                let answer = try await service.report(Self.incident(other), fields)
                #expect(answer.status == 503)
                #expect(answer.code == "store-busy")
                #expect(answer.headers["retry-after"].first.flatMap { Int64($0) } ?? 0 > 0)
            }
            #expect(try await reports() == 0)
            store.failure = nil
            #expect(try await service.report(Self.incident(other)).status == 202)
            #expect(try await reports() == 1)
            #expect(try await Self.evidence(service) == [other])
            #expect(try await service.ask(.GET, "/metrics").text.contains("tumbler_incidents_unexamined_total 2\n"))
        }
    }

    @Test("one unpublished list in fifty spellings is one alarm, and evidence once")
    func oneUnpublishedListInFiftySpellingsIsOneAlarmAndEvidenceOnce() async throws {
        let scene = try Scene()
        let other = scene.other
        try await scene.run { service in
            for number in 0..<50 {
                #expect(try await service.report(Self.incident(try Self.spelled(other, number))).status == 202)
            }
            let (evidence, details) = (
                try await Self.evidence(service), try await Self.details(service, "equivocation")
            )
            #expect(evidence.count == 1)
            #expect(details.count == 1)
        }
        // An instance that begins knows what another one kept.
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            let publisher = Publisher(store: store, anchors: scene.repository.anchors)
            _ = try await publisher.publish(
                [scene.repository.roots[0], scene.repository.lists[0]], name: "com.example.app", by: "cli",
                at: TurnedClock.start)
            for number in 0..<3 {
                let parts = ServiceParts.story(store, anchors: scene.repository.anchors)
                _ = try await parts.lists.reload(from: store)
                let watch = EquivocationWatch(store: store, lists: parts.lists, logger: parts.logger)
                let envelope = try Self.spelled(other, number)
                for report in try CollectedReport.read(
                    Self.incident(envelope), at: TurnedClock.start, limits: ReportBodyLimits()
                ).reports {
                    try await watch.look(at: report, TurnedClock.start)
                }
            }
            let actions = try await store.read { try $0.auditEntries(from: 1, limit: 10).map(\.action) }
            #expect(actions == ["publish", "publish", "equivocation"])
        }
    }

    @Test("of a thief with the keys who signs forty lists a day sixteen are kept, and the log says once that more came")
    func ofAThiefWithTheKeysWhoSignsFortyListsADaySixteenAreKept() async throws {
        let scene = try Scene()
        var thief = scene.repository
        let lists = try (0..<40).map { number in try thief.publishList { $0.refreshAfter = 1_800 + Int64(number) } }
        try await scene.run { service in
            for list in lists + lists { #expect(try await service.report(Self.incident(list)).status == 202) }
            var evidence = try await Self.evidence(service)
            #expect(Set(evidence) == Set(lists.prefix(16)))
            let full = try await Self.details(service, "evidence-full")
            #expect(full.count == 1)
            #expect(full.first?.hasPrefix("com.example.app: clients were offered more unpublished ") == true)
            // The next day there is room again.
            service.clock.turn(by: 86_400)
            for list in lists.prefix(20) { #expect(try await service.report(Self.incident(list)).status == 202) }
            evidence = try await Self.evidence(service)
            #expect(Set(evidence) == Set(lists.prefix(20)))
            #expect(try await Self.details(service, "equivocation").count == 20)
        }
    }

    @Test("three lists that a thief signed as version 2 are one alarm, which names the first and counts the others")
    func threeListsThatAThiefSignedAsVersion2AreOneAlarm() async throws {
        let scene = try Scene()
        let forks = try (1...3).map { number in
            var thief = try RepositorySimulator.story()
            return try thief.publishList { $0.refreshAfter = 1_800 + Int64(number) }
        }
        let (unpublished, anchors) = (scene.unpublished, scene.repository.anchors)
        try await scene.run { service in
            for list in forks + [unpublished] {
                #expect(try await service.report(Self.incident(list)).status == 202)
            }
            #expect(try await Self.evidence(service).count == 4)
            let parts = ServiceParts.story(service.store, anchors: anchors)
            _ = try await parts.lists.reload(from: service.store)
            let alarms = AlarmRules.alarms(try await parts.overview().alarmFacts)
            #expect(alarms.map(\.key) == ["equivocation:com.example.app:2", "equivocation:com.example.app:3"])
            #expect(alarms.map(\.count) == [3, 1])
            let detail = alarms.first?.detail ?? ""
            #expect(detail.hasSuffix(try Self.payload(forks[0]) + ", and 2 other payloads of it"))
        }
    }

    @Test("a version from before the service's first is a notice: what was published before it the service cannot know")
    func versionFromBeforeTheServicesFirstIsANotice() async throws {
        let scene = try Scene()
        let (first, anchors) = (scene.repository.lists[0], scene.repository.anchors)
        try await scene.run(dropping: 1) { service in
            for number in 0..<5 {
                #expect(try await service.report(Self.incident(try Self.spelled(first, number))).status == 202)
            }
            #expect(try await Self.details(service, "equivocation").isEmpty)
            let details = try await Self.details(service, "unknown-list")
            #expect(details.count == 1)
            #expect(details.first?.contains("list version 1, ") == true)
            let parts = ServiceParts.story(service.store, anchors: anchors)
            _ = try await parts.lists.reload(from: service.store)
            let alarms = AlarmRules.alarms(try await parts.overview().alarmFacts)
            #expect(alarms.map(\.kind) == [.unknownList])
            #expect(alarms.map(\.severity) == [.notice])
        }
    }

    @Test(
        "twelve old lists that a stranger sends on a day, which are notices, leave room for a list that a thief signed")
    func twelveOldListsThatAStrangerSendsOnADayLeaveRoomForAListThatAThiefSigned() async throws {
        var repository = try RepositorySimulator.story()
        for number in 0..<12 { _ = try repository.publishList { $0.refreshAfter = 1_800 + Int64(number) } }
        let first = try repository.publishList { $0.refreshAfter = 3_000 }
        var thief = repository
        let stolen = try thief.publishList { $0.refreshAfter = 4_000 }
        let (old, anchors, root) = (repository.lists.prefix(12), repository.anchors, repository.roots[0])
        try await TestedStore.sqlite.withDatabase { open in
            try await RunningService.with(open(), { $0.roots = anchors }) { service in
                let token = try await service.token(.publish, ["com.example.app"])
                #expect(try await service.publish([root, first], token: token).status == 200)
                for list in old { #expect(try await service.report(Self.incident(list)).status == 202) }
                #expect(Set(try await Self.evidence(service)) == Set(old.prefix(8)))
                #expect(try await Self.details(service, "evidence-full").count == 1)
                #expect(try await service.report(Self.incident(stolen)).status == 202)
                #expect(Set(try await Self.evidence(service)) == Set(old.prefix(8) + [stolen]))
                #expect(try await Self.details(service, "equivocation").count == 1)
            }
        }
    }

    @Test("a payload under a stranger's signature is not remembered: the same payload with ours is still found")
    func payloadUnderAStrangersSignatureIsNotRemembered() async throws {
        let scene = try Scene()
        let other = scene.other
        var forged = try Envelope(other, of: .pins, limits: MetadataLimits())
        forged.signatures = forged.signatures.map { .init(keyID: $0.keyID, bytes: $0.bytes.reversed()) }
        let unsigned = forged.bytes
        try await scene.run { service in
            let stranger = try await service.report(Self.incident(unsigned))
            #expect(stranger.status == 202)
            #expect(try await Self.evidence(service).isEmpty)
            #expect(try await service.report(Self.incident(other)).status == 202)
            #expect(try await Self.evidence(service) == [other])
        }
    }

    @Test("an invented digest, what was published, and what says the same proves nothing")
    func inventedDigestWhatWasPublishedAndWhatSaysTheSameProvesNothing() async throws {
        let scene = try Scene()
        let name = "com.example.app"
        let bodies = [
            Self.incident(scene.forged), Self.incident(scene.second), Self.incident(scene.resigned),
            Self.incident(scene.repository.lists[0]), Self.incident(scene.repository.roots[0]),
            Self.incident(Array("{}".utf8)), Self.incident(scene.other, name: "com.example.other"),
            Self.incident(scene.other.dropLast(40) + Array("\"}]}".utf8)), Self.incident(Array(name.utf8)),
        ]
        try await scene.run { service in
            for body in bodies {
                let answer = try await service.report(body)
                #expect(answer.status == 202)
            }
            let (evidence, actions) = (try await Self.evidence(service), try await service.actions())
            #expect(evidence.isEmpty)
            #expect(actions == ["publish", "publish", "publish"])
        }
    }
}
