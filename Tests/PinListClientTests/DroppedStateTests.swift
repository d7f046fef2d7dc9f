// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

/// formats.md, section 6: what no longer verifies is dropped, and what was deleted is missed, once.
@Suite("What is stored and no longer of use, or gone")
struct DroppedStateTests {
    /// A client that has stored roots 2 and 3, and list 2.
    private static func filled(_ store: MemoryStore) async throws -> TestClient {
        let client = try TestClient(store: store)
        for _ in 0..<2 { _ = try client.server.publish { try $0.publishRoot() } }
        try client.publish()
        #expect(await (try client.launch()).refresh().isSuccess)
        return client
    }

    /// The app of a publisher who lost all keys, with another root and the list that is served.
    private struct Renewed {
        let server: SimulatedServer
        private let configuration: PinningConfiguration

        init() throws {
            var configuration = try TestClient().configuration
            self.server = SimulatedServer(
                try RepositorySimulator(at: TestClient.start, seed: 99, domains: [try TestClient.entry(7)]))
            configuration.fetcher = self.server
            self.configuration = configuration
        }

        func launch(on store: any StateStore) throws -> Pinning {
            let repository = self.server.repository
            return try Pinning(
                root: .bytes(repository.roots[0]), list: .bytes(repository.lists[0]),
                refreshFrom: URL(string: SimulatedServer.address), state: .store(store),
                configuration: self.configuration)
        }
    }

    @Test("an app update brings another root and the list that is served: after a refresh no start finds the old files")
    func appUpdateBringsAnotherRootAndTheListThatIsServed() async throws {
        let store = MemoryStore()
        _ = try await Self.filled(store)
        let renewed = try Renewed()
        let pinning = try renewed.launch(on: store)
        #expect(await pinning.kinds() == [.stateDamaged, .stateDamaged])
        #expect(await pinning.refresh().isSuccess)
        for file in [StateFile.root(2), .root(3), .pins] {
            #expect(store.read(file, maximumBytes: .max) == .absent, "\(file)")
        }
        #expect(await (try renewed.launch(on: store)).kinds().isEmpty)
    }

    @Test("what does not verify stays while the server is not reached, and while a file cannot be read")
    func whatDoesNotVerifyStaysWhileTheServerIsNotReachedAndWhileAFileCannotBeRead() async throws {
        let disk = MemoryStore()
        _ = try await Self.filled(disk)
        let store = UnreadableFiles(disk)
        let renewed = try Renewed()
        let pinning = try renewed.launch(on: store)
        let kept = disk.read(.pins, maximumBytes: .max)
        renewed.server.interference = { _, _ in throw FetchError(.network, "there is no network") }
        _ = await pinning.refresh()
        #expect(disk.read(.pins, maximumBytes: .max) == kept && kept != .absent)
        renewed.server.interference = nil
        store.files = [.root(2)]
        #expect(await pinning.refresh().isSuccess)
        #expect(disk.read(.pins, maximumBytes: .max) == kept && disk.read(.root(2), maximumBytes: .max) != .absent)
        store.files = []
        #expect(await pinning.refresh().isSuccess)
        #expect(disk.read(.pins, maximumBytes: .max) == .absent)
    }

    @Test("a stored list that is damaged while the app runs is put back, where the server has no other")
    func storedListThatIsDamagedWhileTheAppRunsIsPutBack() async throws {
        let store = MemoryStore()
        let client = try TestClient(store: store)
        let list = try client.publish()
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        #expect(await !pinning.kinds().contains(.stateDamaged))
        store.write([0], to: .pins)
        for _ in 0..<2 { #expect(await pinning.refresh().isSuccess) }
        #expect(store.read(.pins, maximumBytes: .max) == .bytes(list))
        #expect(await pinning.kinds().count { $0 == .stateDamaged } == 1)
        #expect(await (try client.launch()).kinds().isEmpty)
    }

    @Test("a damaged queue of reports is an event, and not at each start again")
    func damagedQueueOfReportsIsAnEventAndNotAtEachStartAgain() async throws {
        let store = WatchedStore()
        let client = try TestClient(store: store)
        store.write([0], to: .reports)
        let pinning = try client.launch(refreshing: false)
        #expect(await pinning.kinds() == [.stateDamaged])
        try await running(pinning) { await store.untilWritten(.reports) { $0 != [0] } }
        #expect(await (try client.launch()).kinds().isEmpty)
    }

    @Test(
        "a stored root or list that is deleted is an event, until it is fetched again",
        arguments: [StateFile.root(2), .pins])
    func storedRootOrListThatIsDeletedIsAnEventUntilItIsFetchedAgain(file: StateFile) async throws {
        let store = MemoryStore()
        let client = try await Self.filled(store)
        #expect(await (try client.launch()).kinds().isEmpty)
        store.remove(file)
        let pinning = try client.launch()
        #expect(await pinning.kinds() == [.stateDamaged])
        #expect(await pinning.refresh().isSuccess)
        #expect(store.read(file, maximumBytes: .max) != .absent)
        #expect(await (try client.launch()).kinds().isEmpty)
    }

    @Test("an app that is put back to a build with an older root misses no root that was never stored")
    func appThatIsPutBackToABuildWithAnOlderRootMissesNoRootThatWasNeverStored() async throws {
        let store = MemoryStore()
        let client = try TestClient(store: store)
        for _ in 0..<2 { _ = try client.server.publish { try $0.publishRoot() } }
        let repository = client.server.repository
        let newer = try Pinning(
            root: .bytes(repository.roots[1]), list: .bytes(repository.lists[0]),
            refreshFrom: URL(string: SimulatedServer.address), state: .store(store), configuration: client.configuration
        )
        #expect(await newer.refresh().isSuccess)
        #expect(store.read(.root(3), maximumBytes: .max) != .absent)
        #expect(store.read(.root(2), maximumBytes: .max) == .absent)
        #expect(await (try client.launch()).kinds().isEmpty)
    }

    @Test("a client that follows a root while its shipped list is the newest misses no list")
    func clientThatFollowsARootWhileItsShippedListIsTheNewestMissesNoList() async throws {
        let client = try TestClient()
        _ = try client.server.publish { try $0.publishRoot() }
        #expect(await (try client.launch()).refresh().isSuccess)
        #expect(await (try client.launch()).kinds().isEmpty)
    }
}
