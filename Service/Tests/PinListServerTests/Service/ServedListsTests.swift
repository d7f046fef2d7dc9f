// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Logging
import NIOHTTP1
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The lists that an instance serves", .runsPostgreSQL)
struct ServedListsTests {
    private static let path = "/v1/lists/com.example.app/pins.json"

    @Test("another instance on the same store serves a publication after its next look", arguments: TestedStore.all)
    func anotherInstanceOnTheSameStoreServesAPublicationAfterItsNextLook(on tested: TestedStore) async throws {
        var simulator = try RepositorySimulator.story()
        let second = try simulator.publishList { _ in }
        let repository = simulator
        try await tested.withDatabase { open in
            let (store, other) = (try open(), try open())
            let lists = ServedLists(anchors: repository.anchors)
            #expect(try await lists.reload(from: other).isEmpty)
            #expect(lists.answer(Self.path) == nil)
            let publisher = Publisher(store: store, anchors: repository.anchors)
            _ = try await publisher.publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            #expect(lists.answer(Self.path) == nil)
            #expect(try await lists.reload(from: other).isEmpty)
            #expect(lists.answer(Self.path)?.tag.digest == Envelope.digest(of: repository.lists[0]))
            _ = try await publisher.publish([second], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await lists.reload(from: other)
            #expect(lists.answer(Self.path)?.tag.digest == Envelope.digest(of: second))
            #expect(lists.isPublished(Envelope.digest(of: repository.lists[0]), under: "com.example.app"))
            #expect(!lists.isPublished(String(repeating: "0", count: 64), under: "com.example.app"))
        }
    }

    @Test("a list that fails under the configured root is not served, makes the service not ready, and is an alarm")
    func listThatFailsUnderTheConfiguredRootIsNotServedMakesTheServiceNotReady() async throws {
        let repository = try RepositorySimulator.story()
        let stranger = try RepositorySimulator(at: TurnedClock.start, seed: 9)
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await RunningService.with(store, { $0.roots = ["com.example.app": stranger.roots[0]] }) { service in
                #expect(try await service.ask(.GET, Self.path).status == 404)
                let ready = try await service.ask(.GET, "/readyz")
                #expect(ready.status == 503)
                #expect(ready.code == "not-verified")
                #expect(ready.text.contains("com.example.app (root-gap)"))
                #expect(try await service.ask(.GET, "/healthz").status == 200)
            }
            let parts = ServiceParts.story(store, anchors: ["com.example.app": stranger.roots[0]])
            _ = try await parts.lists.reload(from: store)
            let alarms = AlarmRules.alarms(try await parts.overview().alarmFacts)
            #expect(alarms.map(\.kind) == [.notVerified])
            #expect(alarms.first?.subject == "com.example.app")
        }
    }

    @Test("a configured root that is none, or that of another name, is found before anything is published")
    func configuredRootThatIsNoneOrThatOfAnotherNameIsFoundBeforeAnythingIsPublished() async throws {
        let repository = try RepositorySimulator.story()
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            for (name, root, code) in [
                ("com.example.app", Array("{}".utf8), "malformed"),
                ("com.example.other", repository.roots[0], "wrong-name"),
                ("com.example.app", repository.lists[0], "wrong-type"),
            ] {
                let refusals = try await ServedLists(anchors: [name: root]).check(store).refusals
                #expect(refusals.mapValues { "\($0.code)" } == [name: code])
            }
            #expect(try await ServedLists(anchors: repository.anchors).check(store).refusals.isEmpty)
        }
    }

    @Test(
        "what browsers report of a host below a listed entry is counted for the entry, in any spelling of the host"
    )
    func whatBrowsersReportOfAHostBelowAListedEntryIsCountedForTheEntry() async throws {
        let wide = PinList.Domain(
            PinnedDomain(
                try HostName("example.com"), includeSubdomains: true,
                pins: [KnownPin(Pin(kind: .publicKey, hashing: [9]))]
            ))
        let repository = try RepositorySimulator.story([
            wide, try .pinned("own.example.com"), try .pinned("narrow.example"),
        ])
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                [repository.roots[0], repository.lists[0]], name: "com.example.app", by: "cli", at: TurnedClock.start)
            try await RunningService.with(store, { $0.roots = repository.anchors }) { service in
                let entries = [
                    "a.b.Example.com", "example.com:8443", "own.example.com", "below.own.example.com", "narrow.example",
                    "below.narrow.example", "notexample.com",
                ].map {
                    #"{"type": "network-error", "age": 0, "url": "https://\#($0)/", "body": {"type": "tls.failed"}}"#
                }
                #expect(try await service.report(Array("[\(entries.joined(separator: ","))]".utf8)).status == 202)
                let hours = try await service.store.read { store in
                    try store.connection.rows(
                        "SELECT host, SUM(count) FROM report_hour GROUP BY host ORDER BY host", []
                    )
                    .map { "\(try $0.text(0)) \(try $0.integer(1))" }
                }
                #expect(
                    hours == [
                        "below.narrow.example 1", "example.com 3", "narrow.example 1", "notexample.com 1",
                        "own.example.com 1",
                    ])
                let listed = try await service.store.read { store in
                    try store.connection.rows(
                        "SELECT DISTINCT host FROM report_group WHERE is_listed = 1 ORDER BY host", []
                    ).map { try $0.text(0) }
                }
                #expect(listed == ["example.com", "narrow.example", "own.example.com"])
            }
        }
    }
}

extension ServiceParts {
    /// The parts of an instance that is not running.
    static func story(
        _ store: any ServiceStore, anchors: [String: [UInt8]], clock: TurnedClock = TurnedClock(),
        alerts: [AlertTarget] = [], instance: String = "test",
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) -> ServiceParts {
        var configuration = ServiceConfiguration()
        configuration.roots = anchors
        configuration.alerts = alerts
        return ServiceParts(configuration, store: store, clock: clock, instance: instance, logger: logger)
    }
}
