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

@Suite("The pages of lists and of adoption", .runsPostgreSQL)
struct ListsPageRequestTests {
    private static let name = "com.example.app"

    /// Runs `body` with 23 lists published, each with another pin of one host.
    private func run(
        _ tested: TestedStore,
        _ body: @Sendable (RunningService, CountingStore, HTTPHeaders) async throws -> Void
    ) async throws {
        var simulator = try RepositorySimulator.story()
        let host = try HostName("api.example.com")
        for number in 2...23 {
            try simulator.publishList { list in
                list.domains = [
                    PinList.Domain(
                        PinnedDomain(
                            host,
                            pins: [KnownPin(Pin(kind: .publicKey, hashing: [UInt8(number)]))]))
                ]
            }
        }
        let repository = simulator
        try await tested.withDatabase { open in
            let store = CountingStore(try open())
            let publisher = Publisher(store: store, anchors: repository.anchors)
            _ = try await publisher.publish(
                [repository.roots[0], repository.lists[0]], name: Self.name, by: "cli", at: TurnedClock.start)
            for list in repository.lists.dropFirst() {
                _ = try await publisher.publish([list], name: Self.name, by: "ci", at: TurnedClock.start)
            }
            try await RunningService.with(store, { $0.roots = repository.anchors }) { service in
                let token = try await service.token(.read)
                try await body(service, store, ["Authorization": "Bearer \(token)"])
            }
        }
    }

    /// The versions that a page shows, in its order.
    private static func versions(_ page: String) -> [Int] {
        page.components(separatedBy: "<h2>List ").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
    }

    /// The address of a page that another one leads to.
    private static func link(_ rel: String, in page: String) -> String? {
        page.components(separatedBy: "<a rel=\"\(rel)\" href=\"").dropFirst().first
            .map { String($0.prefix { $0 != "\"" }) }
    }

    @Test("no page reads an envelope, however many lists there were", arguments: TestedStore.all)
    func noPageReadsAnEnvelopeHoweverManyListsThereWere(on tested: TestedStore) async throws {
        try await self.run(tested) { service, store, headers in
            _ = store.takeCount()
            let first = try await service.ask(.GET, "/lists", headers)
            #expect(first.status == 200)
            #expect(Self.versions(first.text) == Array((14...23).reversed()))
            #expect(first.text.components(separatedBy: "served now").count == 2)
            #expect(first.text.contains("by <bdi>ci</bdi>"))
            #expect(Self.link("prev", in: first.text) == nil)
            let second = try await service.ask(.GET, try #require(Self.link("next", in: first.text)), headers)
            #expect(Self.versions(second.text) == Array((4...13).reversed()))
            #expect(!second.text.contains("served now"))
            let third = try await service.ask(.GET, try #require(Self.link("next", in: second.text)), headers)
            #expect(Self.versions(third.text) == [3, 2, 1])
            #expect(Self.link("next", in: third.text) == nil)
            let back = try await service.ask(.GET, try #require(Self.link("prev", in: third.text)), headers)
            #expect(Self.versions(back.text) == Self.versions(second.text))
            #expect(try await service.ask(.GET, "/adoption", headers).status == 200)
            #expect(store.takeCount() == 0)
        }
    }

    @Test(
        "what was published before differences were kept gets them once, a page at a time", arguments: TestedStore.all)
    func whatWasPublishedBeforeDifferencesWereKeptGetsThemOnceAPageAtATime(on tested: TestedStore) async throws {
        try await self.run(tested) { service, store, headers in
            let whole = try await service.ask(.GET, "/lists", headers).text
            try await store.write { store in
                _ = try store.connection.execute(
                    "UPDATE publication SET issued_at = NULL, expires_at = NULL, changes = NULL", [])
            }
            _ = store.takeCount()
            let first = try await service.ask(.GET, "/lists", headers).text
            // Ten, and the one before them.
            #expect(store.takeCount() == 11)
            #expect(Self.versions(first) == Self.versions(whole))
            #expect(
                first.components(separatedBy: "class=\"sign\"").count
                    == whole.components(separatedBy: "class=\"sign\"").count)
            _ = try await service.ask(.GET, "/lists", headers)
            #expect(store.takeCount() == 0)
            // The first list of all has none before it.
            let last = try await service.ask(.GET, "/lists?before=4", headers).text
            #expect(Self.versions(last) == [3, 2, 1])
            #expect(store.takeCount() == 3)
        }
    }

    @Test("a page that begins nowhere is empty or the newest, and no error")
    func pageThatBeginsNowhereIsEmptyOrTheNewestAndNoError() async throws {
        try await self.run(.sqlite) { service, _, headers in
            for (value, count) in [("0", 0), ("-1", 0), ("9223372036854775807", 10), ("a", 10), ("", 10)] {
                let page = try await service.ask(.GET, "/lists?before=\(value)", headers)
                #expect(page.status == 200)
                #expect(Self.versions(page.text).count == count, "\(value)")
            }
        }
    }

    @Test("lists of a database of the version before have their place on the pages", arguments: TestedStore.all)
    func listsOfADatabaseOfTheVersionBeforeHaveTheirPlaceOnThePages(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let statements = StoreSchema.lists(tested.dialect)
            let found = try await store.write { store in
                for version in 1...2 {
                    try store.serve(
                        StoredList(
                            version: Int64(version), digest: "d\(version)", bytes: [1], publishedAt: TurnedClock.start),
                        name: Self.name)
                }
                let before = try store.publications(of: Self.name, limit: 10)
                _ = try store.connection.execute("DROP TABLE publication", [])
                for statement in statements { _ = try store.connection.execute(statement, []) }
                return (before, try store.publications(of: Self.name, limit: 10))
            }
            #expect(found.0 == found.1)
            #expect(found.1.map(\.digest) == ["d2", "d1"])
            #expect(found.1.allSatisfy { $0.summary == nil })
            // Neither can be read: they are shown without changes, and that is kept as well.
            let logger = ServiceParts.story(store, anchors: [:]).logger
            let filled = try await MissingSummaries(store: store, logger: logger).filled(found.1, of: Self.name)
            #expect(filled.map(\.summary?.count) == [0, 0])
            #expect(try await store.read { try $0.publications(of: Self.name, limit: 10) } == filled)
        }
    }
}
