// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("The content of a store", .runsPostgreSQL)
struct StoreCompatibilityTests {
    private static let start = Timestamp(secondsSince1970: 1_795_219_200)

    @Test("one of the stores is a real PostgreSQL server", .needsPostgreSQL)
    func oneOfTheStoresIsARealPostgreSQLServer() async throws {
        try await TestedStore.postgreSQL.withDatabase { open in
            let version = try await open().read { try $0.connection.rows("SELECT version()", []).first?.text(0) }
            #expect(version?.hasPrefix("PostgreSQL ") == true)
        }
    }

    @Test(
        "a publication is there whole after it is opened again, and each change is in the log",
        arguments: TestedStore.all)
    func publicationIsThereWholeAfterItIsOpenedAgainAndEachChangeIsInTheLog(on tested: TestedStore) async throws {
        var repository = try RepositorySimulator(at: Self.start)
        let second = try repository.publishList { _ in }
        let simulator = repository
        try await tested.withDatabase { open in
            let publisher = Publisher(store: try open(), anchors: [simulator.root.name: simulator.roots[0]])
            let changes = try await publisher.publish(
                [simulator.roots[0], simulator.lists[0]], name: simulator.root.name, by: "cli", at: Self.start)
            #expect(changes == [.root(1), .list(1)])
            _ = try await publisher.publish([second], name: simulator.root.name, by: "cli", at: Self.start)
            await #expect(throws: PublicationError.self) {
                try await publisher.publish(
                    [simulator.lists[0]], name: simulator.root.name, by: "cli", at: Self.start)
            }
            let name = simulator.root.name
            let again = try open()
            let (roots, list, history, log) = try await again.read { store in
                (
                    try store.roots(of: name), try store.list(of: name), try store.publications(of: name, limit: 10),
                    try store.auditEntries(from: 1, limit: 100)
                )
            }
            #expect(roots == [simulator.roots[0]])
            #expect(list == second)
            #expect(history.map(\.version) == [2, 1])
            #expect(history.map { $0.summary?.issuedAt } == [simulator.list.issuedAt, Self.start])
            #expect(log.map(\.action) == ["publish", "publish", "publish", "publish-refused"])
            var chain = AuditChain()
            for entry in log { try chain.append(entry) }
        }
    }

    @Test("a change that fails leaves nothing behind", arguments: TestedStore.all)
    func changeThatFailsLeavesNothingBehind(on tested: TestedStore) async throws {
        struct Broken: Error {}
        try await tested.withDatabase { open in
            let store = try open()
            await #expect(throws: Broken.self) {
                try await store.write { store in
                    try store.addRoot([1], version: 1, name: "a")
                    throw Broken()
                }
            }
            #expect(try await store.read { try $0.names() }.isEmpty)
        }
    }

    @Test("tokens are found by their ids, and revoked once", arguments: TestedStore.all)
    func tokensAreFoundByTheirIdsAndRevokedOnce(on tested: TestedStore) async throws {
        let random = (0..<40).map { UInt8($0) }
        let made = try #require(AccessToken.make(.publish, names: ["a", "b"], random: random, at: Self.start)).token
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { try $0.add(made) }
            #expect(try await store.read { try $0.token(id: made.id) } == made)
            #expect(try await store.write { try $0.revokeToken(id: made.id, at: Self.start) })
            #expect(!(try await store.write { try $0.revokeToken(id: made.id, at: Self.start) }))
            #expect(try await open().read { try $0.tokens() }.map(\.revokedAt) == [Self.start])
        }
    }
}
