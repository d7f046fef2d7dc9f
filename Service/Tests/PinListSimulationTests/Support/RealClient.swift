// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
@_spi(Simulation) import PinListClient
import PinListMetadata
import PinningTesting

@testable import PinListSimulation

/// An installation with the client library, its own clock and its own disk, which is opened as a trace says and draws the
/// fractions that the simulated one draws.
struct RealClient {
    /// The story of a client.
    struct Story {
        /// The times at which versions came into force, in seconds from the beginning.
        var lists: [(at: Int64, version: Int64)] = []
        /// The hours in which a connection was refused, until the client got through or was closed.
        var refusedHours: Set<Int64> = []
        /// The hours in which it got through under a suspension.
        var suspendedHours: Set<Int64> = []
        /// Requests to the host of the lists.
        var requests = 0
        /// The newest verdict.
        var newest = PinningDecision.Verdict.allow
    }

    private static let address = "https://pins.example.com/v1/lists/com.example.app"

    let host: PublishedWorld
    private let clock = ManualClock(Timeline.beginning)
    private let store = MemoryStore()
    private let randomness: RecordedRandomness
    private let fetcher: PublishedWorld.Fetcher

    init(_ host: PublishedWorld, seed: UInt64, client: Int) {
        self.host = host
        var traits = ClientRandomness(seed: seed, client: client, .traits)
        let place = UInt64(ClientRun.place(&traits))
        self.randomness = RecordedRandomness(
            place: place, ClientRandomness(seed: seed, client: client, .fractions))
        self.fetcher = PublishedWorld.Fetcher(host, self.clock)
    }

    private var now: Int64 { self.clock.now.secondsSince1970 - Timeline.beginning.secondsSince1970 }

    private func time(_ moment: Int64) -> Timestamp {
        Timestamp(secondsSince1970: Timeline.beginning.secondsSince1970 + moment)
    }

    private func turn(to moment: Int64) { self.clock.now = self.time(moment) }

    /// The time until the next refresh by the schedule, as it is at a moment. Meanwhile the client looks at the schedule each
    /// minute, and does nothing else.
    private func wait(_ pinning: Pinning, at moment: Int64) async -> Int64 {
        await pinning.refreshSchedule.wait(refreshInterval: self.host.refreshAfter, at: self.time(moment))
    }

    /// Opens it at each of some moments for so many seconds.
    func run(openings: [Int64], session: Int64, horizon: Int64) async throws -> Story {
        var story = Story()
        var end: Int64 = 0
        for opening in openings where opening >= end && opening < horizon {
            end = min(opening + session, horizon)
            self.turn(to: opening)
            try await self.open(until: end, &story)
        }
        story.requests = self.fetcher.requests
        return story
    }

    private func open(until end: Int64, _ story: inout Story) async throws {
        let pinning = try Pinning(
            root: .bytes(self.host.root), list: .bytes(self.host.lists[0].envelope),
            refreshFrom: URL(string: Self.address), state: .store(self.store),
            configuration: PinningConfiguration(
                fetcher: self.fetcher, reportSender: NoNetwork(), clock: self.clock, randomness: self.randomness))
        var session = Session(since: self.now, version: pinning.policyInForce.listVersion)
        let isDue = await self.wait(pinning, at: self.now) == 0
        // A mismatch while the first refresh is on its way joins it: here it is not heard, which comes to the same.
        if isDue { _ = self.connect(pinning, &session, &story) }
        let run = Task { await pinning.run() }
        defer { run.cancel() }
        await self.clock.untilSleeping()
        if !isDue {
            try await self.connectAndHear(pinning, &session, &story)
        } else {
            try await self.connectIfNewer(pinning, &session, &story)
        }
        while let next = await self.nextMoment(pinning, session), next < end {
            let due = self.clock.waits.filter { Double(self.now) + $0 <= Double(next) }.count
            let drawn = self.randomness.drawn
            let isMismatch = session.mismatchAt == next
            let isOnlyLooking = await self.wait(pinning, at: next) > 0
            self.turn(to: next)
            // What only looked at the schedule sleeps again before anything else is done.
            if due > 0, isOnlyLooking, !isMismatch {
                await self.clock.untilSleeping(count: session.mismatchAt == nil ? 1 : 2)
            }
            if session.connectAt == next { try await self.connectAndHear(pinning, &session, &story) }
            if isMismatch {
                session.mismatchAt = nil
                await self.randomness.untilDrawn(drawn + 1)
                _ = await pinning.refreshSchedule
                // The schedule looks again where the refresh failed.
                await self.clock.untilSleeping()
            } else if due > 0 {
                await self.clock.untilSleeping(count: session.mismatchAt == nil ? 1 : 2)
            }
            try await self.connectIfNewer(pinning, &session, &story)
        }
        run.cancel()
        await run.value
        self.settle(session, at: end, &story)
    }

    // MARK: One session

    private struct Session {
        var since: Int64
        var version: Int64?
        var newest = PinningDecision.Verdict.allow
        var isSuspended = false
        var connectAt: Int64 = .max
        var mismatchAt: Int64?
    }

    private func nextMoment(_ pinning: Pinning, _ session: Session) async -> Int64? {
        let refresh = self.now + max(await self.wait(pinning, at: self.now), 1)
        return [refresh, session.connectAt, session.mismatchAt].compactMap { $0 }.min()
    }

    private func connectIfNewer(_ pinning: Pinning, _ session: inout Session, _ story: inout Story) async throws {
        let version = pinning.policyInForce.listVersion
        guard version != session.version, let version else { return }
        session.version = version
        story.lists.append((self.now, version))
        try await self.connectAndHear(pinning, &session, &story)
    }

    /// Connects, and waits until the client has heard of a mismatch.
    private func connectAndHear(_ pinning: Pinning, _ session: inout Session, _ story: inout Story) async throws {
        let before = await pinning.refreshSchedule
        let sleeping = self.clock.waits
        let drawn = self.randomness.drawn
        guard self.connect(pinning, &session, &story) == .block else { return }
        guard session.mismatchAt == nil else {
            throw SimulationError(.scenario, "the test has no two mismatches within ten seconds")
        }
        await self.randomness.untilDrawn(drawn + 1)
        // After what the client does with the fraction; the schedule has changed when a refresh is to come.
        guard await pinning.refreshSchedule != before else { return }
        await self.clock.untilSleeping(count: 2)
        // The schedule's sleep is a minute at most, and may be the shorter one.
        var waits = self.clock.waits
        for wait in sleeping {
            if let index = waits.firstIndex(of: wait) { waits.remove(at: index) }
        }
        session.mismatchAt = self.now + (Int64(exactly: (waits.first ?? 0).rounded(.up)) ?? 0)
    }

    private func connect(
        _ pinning: Pinning, _ session: inout Session, _ story: inout Story
    ) -> PinningDecision.Verdict {
        let decision = pinning.decision(for: self.host.path(at: self.now), host: PublishedWorld.pinnedHost)
        let isSuspended = decision.reason == .suspended
        if decision.verdict != session.newest || isSuspended != session.isSuspended {
            self.settle(session, at: self.now, &story)
            session.since = self.now
            session.newest = decision.verdict
            session.isSuspended = isSuspended
        }
        story.newest = decision.verdict
        session.connectAt = self.host.nextChange(after: self.now)
        if decision.verdict == .block { session.connectAt = min(session.connectAt, self.now + 300) }
        return decision.verdict
    }

    private func settle(_ session: Session, at moment: Int64, _ story: inout Story) {
        let hours = session.since / 3_600...max(session.since, moment - 1) / 3_600
        if session.newest == .block { story.refusedHours.formUnion(hours) }
        if session.isSuspended { story.suspendedHours.formUnion(hours) }
    }
}

/// The random numbers of a client: the 16 bytes of its installation id first, which give it a place in rollouts, and then
/// fractions.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class RecordedRandomness: PinningRandomness, @unchecked Sendable {
    private let lock = NSLock()
    private var id: [UInt64]
    private var fractions: ClientRandomness
    private var count = 0
    private var watchers: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []

    init(place: UInt64, _ fractions: ClientRandomness) {
        self.fractions = fractions
        var generator = SeededGenerator(seed: place)
        var words: [UInt64] = []
        repeat { words = [generator.next(), generator.next()] } while Self.place(words) != place
        self.id = words
    }

    private static func place(_ words: [UInt64]) -> UInt64? {
        let bytes = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        guard let host = try? HostName(PublishedWorld.pinnedHost) else { return nil }
        return InstallationID(bytes)?.place(in: PublishedWorld.name, host)
    }

    /// The number of fractions that were drawn.
    var drawn: Int { self.lock.withLock { self.count } }

    func bits() -> UInt64 {
        let (bits, due): (UInt64, [(count: Int, wake: CheckedContinuation<Void, Never>)]) = self.lock.withLock {
            if !self.id.isEmpty { return (self.id.removeFirst(), []) }
            self.count += 1
            let due = self.watchers.filter { $0.count <= self.count }
            self.watchers.removeAll { $0.count <= self.count }
            return (self.fractions.bits(), due)
        }
        for watcher in due { watcher.wake.resume() }
        return bits
    }

    /// Waits until so many fractions were drawn.
    func untilDrawn(_ count: Int) async {
        await withCheckedContinuation { wake in
            let isOver = self.lock.withLock {
                if self.count >= count { return true }
                self.watchers.append((count, wake))
                return false
            }
            if isOver { wake.resume() }
        }
    }
}
