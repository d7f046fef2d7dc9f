// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinFailureReports
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

/// An app that starts before the device is unlocked for the first time, or whose disk fails for a while.
@Suite("State that cannot be read yet")
struct UnreadableStateTests {
    private static let address = "https://reports.example.com/v1/reports"

    /// A client whose disk has root 2 with another signer of lists, and list 3 by that one.
    private static func filled() async throws -> (client: TestClient, disk: MemoryStore) {
        let disk = MemoryStore()
        // After a failure the network is left alone for nearly two minutes.
        let client = try TestClient(store: disk, fraction: 0.999)
        try client.publish()
        try client.server.publish { repository in
            repository.pinsKeys = [repository.newKey()]
            try repository.publishRoot()
        }
        try client.publish()
        let pinning = try client.launch()
        let outcome = await pinning.refresh()
        try #require(outcome.isSuccess && pinning.version == 3)
        return (client, disk)
    }

    /// A start of the app on another disk.
    private func launch(
        _ client: TestClient, on store: any StateStore, list: [UInt8]? = nil, refreshing: Bool = true
    ) throws -> Pinning {
        try Pinning(
            root: .bytes(client.root), list: .bytes(list ?? client.list),
            refreshFrom: refreshing ? URL(string: SimulatedServer.address) : nil, state: .store(store),
            configuration: client.configuration)
    }

    /// Waits until a list is in force.
    private func untilInForce(_ version: Int64, _ pinning: Pinning) async {
        let changes = pinning.policyChanges()
        guard pinning.version != version else { return }
        for await policy in changes where policy.listVersion == version { break }
    }

    @Test(
        "a device is unlocked after the start: the stored list is in force within a minute, and nothing is fetched for it"
    )
    func deviceIsUnlockedAfterTheStart() async throws {
        let (client, disk) = try await Self.filled()
        let store = FaultyStore(disk, faults: [.reading])
        client.server.interference = { _, _ in throw FetchError(.network, "there is no network") }
        let pinning = try self.launch(client, on: store)
        try await running(pinning) {
            await client.clock.untilSleeping(count: 2)
            #expect(pinning.version == 1 && store.writes.isEmpty)
            client.server.forgetRequests()
            store.faults = []
            client.clock.advance(by: 60)
            await self.untilInForce(3, pinning)
            #expect(client.server.requests.isEmpty)
        }
        #expect(await pinning.status.rootVersion == 2)
        let kinds = await pinning.kinds()
        #expect(kinds.filter { $0 == .stateUnreadable }.count == 4, "one for each file, at the start")
        #expect(kinds.contains(.rootAccepted) && kinds.contains(.listAccepted))
    }

    @Test("a client that never refreshes looks again each minute, until all is read")
    func clientThatNeverRefreshesLooksAgainEachMinuteUntilAllIsRead() async throws {
        let (client, disk) = try await Self.filled()
        let store = FaultyStore(disk, faults: [.reading])
        let pinning = try self.launch(client, on: store, refreshing: false)
        try await running(pinning) {
            for _ in 0..<3 {
                await client.clock.untilSleeping()
                #expect(client.clock.waits == [60] && pinning.version == 1 && store.writes.isEmpty)
                client.clock.advance(by: 60)
            }
            await client.clock.untilSleeping()
            store.faults = []
            client.clock.advance(by: 60)
            await self.untilInForce(3, pinning)
            _ = await pinning.status
            #expect(client.clock.waits.isEmpty)
        }
    }

    @Test("a refusal before the minute is over has the disk looked at")
    func refusalBeforeTheMinuteIsOverHasTheDiskLookedAt() async throws {
        let (client, disk) = try await Self.filled()
        let store = FaultyStore(disk, faults: [.reading])
        let pinning = try self.launch(client, on: store, refreshing: false)
        try await running(pinning) {
            await client.clock.untilSleeping()
            store.faults = []
            #expect(pinning.decision(for: TestClient.strangePath, host: TestClient.host).verdict == .block)
            await self.untilInForce(3, pinning)
        }
        #expect(client.clock.now == TestClient.start)
    }

    @Test(
        "one file of several cannot be read: what can be read is in force, and nothing is written until the last one is",
        arguments: [StateFile.root(2), .pins, .state, .reports])
    func oneFileOfSeveralCannotBeRead(file: StateFile) async throws {
        let (client, disk) = try await Self.filled()
        disk.write(ReportQueue().bytes, to: .reports)
        let store = UnreadableFiles(disk, [file])
        let pinning = try self.launch(client, on: store)
        #expect(pinning.version == (file == .state || file == .reports ? 3 : 1))
        // Under root 2 alone, the shipped list is that of an earlier signer.
        let kinds = await pinning.kinds()
        #expect(kinds == (file == .pins ? [.stateUnreadable, .signerReplaced] : [.stateUnreadable]))
        try client.publish()
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == 4 && store.writes.isEmpty)
        // Once it is held, too, each look at the disk finds the same, and leaves it for a minute.
        let said = await pinning.kinds()
        #expect(said.count { $0 == .stateUnreadable } == 1)
        #expect(await pinning.refresh().isSuccess)
        try await running(pinning) {
            await client.clock.untilSleeping(count: 2)
            for _ in 0..<3 {
                let reads = store.reads
                client.clock.advance(by: 60)
                await client.clock.untilSleeping(count: 2)
                #expect((1...100).contains(store.reads - reads))
            }
        }
        #expect(await pinning.kinds() == said && store.writes.isEmpty)
        store.files = []
        #expect(await pinning.refresh().isSuccess)
        #expect(store.writes.contains(.pins) && store.writes.contains(.state))
        #expect(try client.launch().version == 4)
    }

    @Test(
        "a root that cannot be read is not taken for missing: an older list replaces no stored one",
        arguments: [true, false])
    func rootThatCannotBeReadIsNotTakenForMissing(beforeTheFetch: Bool) async throws {
        let disk = MemoryStore()
        let store = UnreadableFiles(disk)
        let client = try TestClient(store: disk)
        try client.publish()
        // A cache that has nothing newer than the old signer's list.
        let cache = SimulatedServer(client.server.repository)
        try client.server.publish { repository in
            repository.pinsKeys = [repository.newKey()]
            try repository.publishRoot()
        }
        let newest = try client.publish()
        var behind = client
        behind.configuration.fetcher = cache
        let pinning = try self.launch(behind, on: store)
        let other = try client.launch()
        if beforeTheFetch {
            #expect(await other.refresh().isSuccess)
            store.files = [.root(2)]
        } else {
            cache.interference = { request, answer in
                guard request.address.hasSuffix("pins.json") else { return answer }
                #expect(await other.refresh().isSuccess)
                store.files = [.root(2)]
                return answer
            }
        }
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == 2 && other.version == 3)
        #expect(await pinning.kinds().contains(.stateUnreadable))
        #expect(disk.read(.pins, maximumBytes: .max) == .bytes(newest) && store.writes.allSatisfy { $0 != .pins })
        store.files = []
        cache.interference = { _, _ in throw FetchError(.network, "there is no network") }
        _ = await pinning.refresh()
        #expect(pinning.version == 3)
        #expect(disk.read(.pins, maximumBytes: .max) == .bytes(newest))
    }

    @Test("a log list that cannot be read at the start is evaluated with once it can be")
    func logListThatCannotBeReadAtTheStartIsEvaluatedWithOnceItCanBe() async throws {
        let disk = MemoryStore()
        let scene = try LoggingScene(disk)
        let file = scene.file()
        try scene.publish(file)
        #expect(await (try scene.client.launch()).refresh().isSuccess)
        let store = UnreadableFiles(disk, [.logs(Envelope.digest(of: file))])
        let pinning = try self.launch(scene.client, on: store, refreshing: false)
        #expect(pinning.decide(scene.unlogged).reason == .pinMatch)
        try await running(pinning) {
            await scene.client.clock.untilSleeping()
            store.files = []
            let changes = pinning.policyChanges()
            scene.client.clock.advance(by: 60)
            for await _ in changes { break }
        }
        #expect(pinning.decide(scene.unlogged).reason == .transparency)
    }

    @Test(
        "an installation takes its place in a rollout once its id can be read, or stored",
        arguments: [FaultyStore.Fault.reading, .writing])
    func installationTakesItsPlaceInARolloutOnceItsIDCanBeReadOrStored(fault: FaultyStore.Fault) async throws {
        let client = try TestClient()
        // Nearly every place is below 99; the chosen randomness gives one that is.
        let list = try client.server.publish { try $0.publishList { $0.domains[0].rollout = 99 } }
        let disk = MemoryStore()
        if fault == .reading { _ = try self.launch(client, on: disk, list: list) }
        let stored = disk.read(.installationID, maximumBytes: 16)
        let store = FaultyStore(disk, faults: [fault])
        let pinning = try self.launch(client, on: store, list: list, refreshing: false)
        #expect(!pinning.decision(for: TestClient.strangePath, host: TestClient.host).isEnforced)
        try await running(pinning) {
            await client.clock.untilSleeping()
            store.faults = []
            let changes = pinning.policyChanges()
            client.clock.advance(by: 60)
            for await _ in changes { break }
        }
        #expect(pinning.decision(for: TestClient.strangePath, host: TestClient.host).isEnforced)
        let id = disk.read(.installationID, maximumBytes: 16)
        #expect(id != .absent && (fault == .writing || id == stored))
    }

    @Test("reports that waited where they could not be read go out with the later ones, each once")
    func reportsThatWaitedWhereTheyCouldNotBeReadGoOutWithTheLaterOnesEachOnce() async throws {
        let disk = MemoryStore()
        let collector = SimulatedCollector()
        var client = try TestClient(store: disk)
        client.configuration.reportSender = collector
        try client.publish { $0.reportTo = [Self.address] }
        collector.answer = FetchResponse(status: 503)
        func fail(_ pinning: Pinning, _ port: Int) {
            let connection = ConnectionFacts(port: port)
            _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host, connection: connection)
        }
        let first = try client.launch()
        #expect(await first.refresh().isSuccess)
        // The address is left alone after its first answer, so that the other one waits untried.
        for port in [443, 8_443] { fail(first, port) }
        try await running(first) {
            await collector.untilArrived(count: 1)
            await client.clock.untilSleeping(count: 2)
        }
        let stored = disk.read(.reports, maximumBytes: .max)
        let store = UnreadableFiles(disk, [.reports])
        let second = try self.launch(client, on: store)
        for port in [443, 9_443] { fail(second, port) }
        try await running(second) {
            await collector.untilArrived(count: 2)
            await client.clock.untilSleeping(count: 3)
            #expect(disk.read(.reports, maximumBytes: .max) == stored && stored != .absent)
            collector.answer = FetchResponse(status: 202)
            store.files = []
            client.clock.advance(by: 14_400)
            await collector.untilArrived(count: 5)
            await client.clock.untilSleeping()
            client.clock.advance(by: 3_600)
            await client.clock.untilSleeping()
        }
        let later = collector.arrivals.dropFirst(2).map { String(decoding: $0.body, as: UTF8.self) }
        for port in [443, 8_443, 9_443] {
            #expect(later.filter { $0.contains(#""port":\#(port),"#) }.count == 1, "\(port)")
        }
        #expect(later.count == 3)
    }

    @Test("reports of fixed rules that could not be read at the start go out once they can be")
    func reportsOfFixedRulesThatCouldNotBeReadAtTheStartGoOutOnceTheyCanBe() async throws {
        let collector = SimulatedCollector()
        collector.answer = FetchResponse(status: 503)
        let clock = ManualClock(TestClient.start)
        var entry = try TestClient.entry(1).entry
        entry.reportTo = [Self.address]
        let policy = try PinningPolicy(domains: [entry])
        let configuration = PinningConfiguration(
            fetcher: NoNetwork(), reportSender: collector, clock: clock, randomness: FixedRandomness(fraction: 0))
        let store = FaultyStore()
        let first = Pinning(policy: policy, state: .store(store), configuration: configuration)
        try await running(first) {
            _ = first.decision(for: TestClient.strangePath, host: TestClient.host)
            await collector.untilArrived(count: 1)
            await clock.untilSleeping()
        }
        store.faults = [.reading]
        collector.answer = FetchResponse(status: 202)
        let second = Pinning(policy: policy, state: .store(store), configuration: configuration)
        try await running(second) {
            await clock.untilSleeping()
            store.faults = []
            clock.advance(by: 14_400)
            await collector.untilArrived(count: 2)
        }
        #expect(Set(collector.arrivals.map(\.body)).count == 1)
    }
}
