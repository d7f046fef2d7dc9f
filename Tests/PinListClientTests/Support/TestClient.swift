// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

/// A client with a simulated server, clock and disk.
struct TestClient {
    static let start = Timestamp(secondsSince1970: 1_795_219_200)  // 2026-11-21T00:00:00Z
    static let host = "api.example.com"

    /// A path that no pin matches: its one certificate cannot be read.
    static let strangePath = ValidatedPath(uncheckedValidatedPath: [[0x30]])

    let server: SimulatedServer
    let clock: ManualClock
    let store: any StateStore
    let root: [UInt8]
    let list: [UInt8]
    var configuration: PinningConfiguration

    /// Publishes root 1 and list 1, with one enforced entry.
    init(
        store: any StateStore = MemoryStore(), rootKeys: (count: Int, threshold: Int) = (1, 1),
        pinsKeys: (count: Int, threshold: Int) = (1, 1), fraction: Double = 0
    ) throws {
        let simulator = try RepositorySimulator(
            at: Self.start, rootKeys: rootKeys, pinsKeys: pinsKeys, domains: [try Self.entry(1)])
        self.server = SimulatedServer(simulator)
        self.clock = ManualClock(Self.start)
        self.store = store
        self.root = simulator.roots[0]
        self.list = simulator.lists[0]
        self.configuration = PinningConfiguration(
            fetcher: self.server, reportSender: NoNetwork(), clock: self.clock,
            randomness: FixedRandomness(fraction: fraction))
    }

    /// An entry for the host whose pin is made of a number.
    static func entry(_ number: UInt8, mode: PinnedDomain.Mode = .enforce) throws -> PinList.Domain {
        let pin = Pin(kind: .publicKey, hashing: [number])
        return PinList.Domain(PinnedDomain(try HostName(self.host), mode: mode, pins: [KnownPin(pin)]))
    }

    /// A start of the app.
    func launch(refreshing: Bool = true) throws -> Pinning {
        try Pinning(
            root: .bytes(self.root), list: .bytes(self.list),
            refreshFrom: refreshing ? URL(string: SimulatedServer.address) : nil,
            state: .store(self.store), configuration: self.configuration)
    }

    /// A start of another process of the app, with a network of its own.
    func launch(over network: any ListFetcher) throws -> Pinning {
        var other = self
        other.configuration.fetcher = network
        return try other.launch()
    }

    /// Publishes a list; its entry's pin is made of its version.
    @discardableResult
    func publish(signedBy keys: [SigningKey]? = nil, _ edit: (inout PinList) -> Void = { _ in }) throws -> [UInt8] {
        try self.server.publish { repository in
            repository.time = self.clock.now
            let version = UInt8(truncatingIfNeeded: repository.list.version + 1)
            let entry = try Self.entry(version)
            return try repository.publishList(signedBy: keys) { list in
                list.domains = [entry]
                edit(&list)
            }
        }
    }
}

/// Runs a client while `body` turns the clock.
func running(_ pinning: Pinning, _ body: () async throws -> Void) async throws {
    let run = Task { await pinning.run() }
    defer { run.cancel() }
    try await body()
    run.cancel()
    await run.value
}

extension SimulatedCollector {
    /// Waits until reports have arrived that a timer sends, and advances the clock while one waits: a timer may be set
    /// anew after the clock was advanced.
    func untilArrived(count: Int, turning clock: ManualClock, by seconds: Int64) async {
        while self.arrivals.count < count {
            if !clock.waits.isEmpty { clock.advance(by: seconds) }
            await Task.yield()
        }
    }
}

extension Pinning {
    /// The version of the list in force.
    nonisolated var version: Int64? { self.policyInForce.listVersion }

    /// The kinds of the events so far.
    nonisolated func kinds() async -> [PinningEvent.Kind] {
        var kinds: [PinningEvent.Kind] = []
        let events = self.events()
        // The past is told at once; the wait ends with an event that no other code sends.
        let end = PinningEvent(PinningEvent.Kind(code: "end"), at: TestClient.start, UUID().uuidString)
        self.send(end)
        for await event in events {
            if event == end { break }
            kinds.append(event.kind)
        }
        return kinds.filter { $0 != end.kind }
    }
}
