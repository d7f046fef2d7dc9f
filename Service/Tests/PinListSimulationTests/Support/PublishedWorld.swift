// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting

@testable import PinListSimulation

/// The world that real clients meet in a scenario: really signed lists at their times, and the chains of the server.
struct PublishedWorld: Sendable {
    static let name = "com.example.app"
    static let pinnedHost = "api.example.com"

    let root: [UInt8]
    private(set) var lists: [(at: Int64, envelope: [UInt8])] = []
    let refreshAfter: Int64
    private var presented: [(at: Int64, path: ValidatedPath)] = []
    private var changes: Set<Int64> = []
    private let outages: [Range<Int64>]

    /// Publishes what a scenario says. The simulation's own timeline is not asked.
    init(_ scenario: Scenario) throws {
        let host = try HostName(Self.pinnedHost)
        func key(_ name: String) throws -> SimulatedKey { try SimulatedKey(name, host: Self.pinnedHost) }
        var entry = PinnedDomain(host, pins: [KnownPin(try key("old").pin)])
        var rollout = 100
        var until: Int64 = 0
        var repository = try RepositorySimulator(
            name: Self.name, at: Timeline.beginning, domains: [PinList.Domain(entry)])
        self.root = repository.roots[0]
        self.refreshAfter = scenario.refreshAfter.seconds
        self.outages = scenario.outages.map { $0.from.seconds..<$0.from.seconds + $0.duration.seconds }
        self.presented = [(0, try key("old").path)]
        self.lists = [(0, repository.lists[0])]
        for event in scenario.events.sorted(by: { $0.at < $1.at }) {
            let time = Timeline.beginning.advanced(by: event.at.seconds)
            switch event.change {
            case .publish(let pins, _, let mode):
                entry.pins = try pins.map { KnownPin(try key($0).pin) }
                entry.mode = mode
            case .switchTo(let name):
                self.presented.append((event.at.seconds, try key(name).path))
                self.changes.insert(event.at.seconds)
                continue
            case .suspend(let duration):
                until = event.at.seconds + duration.seconds
                self.changes.insert(until)
            case .rollout(let percent): rollout = percent
            }
            repository.time = time
            let domain = PinList.Domain(entry, rollout: rollout)
            let end = Timeline.beginning.advanced(by: until)
            let envelope = try repository.publishList { list in
                list.domains = [domain]
                list.suspended = end > time ? [Suspension(.entry(host), until: end, reason: "test")] : []
            }
            self.lists.append((event.at.seconds, envelope))
        }
    }

    func path(at moment: Int64) -> ValidatedPath {
        self.presented.last { $0.at <= moment }?.path ?? self.presented[0].path
    }

    /// The time at which connections are made again: the server has changed, or a suspension has ended.
    func nextChange(after moment: Int64) -> Int64 { self.changes.filter { $0 > moment }.min() ?? .max }

    func list(at moment: Int64) -> [UInt8]? {
        guard !self.outages.contains(where: { $0.contains(moment) }) else { return nil }
        return self.lists.last { $0.at <= moment }?.envelope
    }

    /// The host of the lists, for one client.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    final class Fetcher: ListFetcher, @unchecked Sendable {
        private let world: PublishedWorld
        private let clock: ManualClock
        private let lock = NSLock()
        private var count = 0

        init(_ world: PublishedWorld, _ clock: ManualClock) {
            self.world = world
            self.clock = clock
        }

        /// The number of requests.
        var requests: Int { self.lock.withLock { self.count } }

        func fetch(_ request: FetchRequest) async throws -> FetchResponse {
            self.lock.withLock { self.count += 1 }
            let moment = self.clock.now.secondsSince1970 - Timeline.beginning.secondsSince1970
            guard let list = self.world.list(at: moment) else { throw FetchError(.network, "no route") }
            guard request.address.hasSuffix("/pins.json") else { return FetchResponse(status: 404) }
            let tag = "\"\(Envelope.digest(of: list))\""
            return request.ifNoneMatch == tag
                ? FetchResponse(status: 304) : FetchResponse(status: 200, body: list)
        }
    }
}
