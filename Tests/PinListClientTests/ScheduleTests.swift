// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinFailureReports
@_spi(Simulation) import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("The schedule")
struct ScheduleTests {
    @Test("the first start refreshes at once, then once in each refreshAfter, also across restarts")
    func firstStartRefreshesAtOnceThenOnceInEachRefreshAfterAlsoAcrossRestarts() async throws {
        let client = try TestClient()
        try await running(try client.launch()) {
            await client.clock.untilSleeping()
            #expect(client.server.paths == ["/root/2.json", "/pins.json"])
            client.server.forgetRequests()
            for _ in 0..<11 {
                client.clock.advance(by: 3_600)
                await client.clock.untilSleeping()
            }
            client.clock.advance(by: 3_599)
            await client.clock.untilSleeping()
            #expect(client.server.requests.isEmpty)
            client.clock.advance(by: 1)
            await client.clock.untilSleeping()
        }
        #expect(client.server.requests.count == 2)
        client.server.forgetRequests()
        try await running(try client.launch()) { await client.clock.untilSleeping() }
        #expect(client.server.requests.isEmpty)
    }

    @Test(
        "what a list asks for is kept within a quarter of an hour and a day",
        arguments: [(1, 900), (9_999_999, 86_400)])
    func whatAListAsksForIsKeptWithinAQuarterOfAnHourAndADay(published: Int64, seconds: Int64) async throws {
        let client = try TestClient()
        try client.publish { $0.refreshAfter = published }
        let pinning = try client.launch()
        _ = await pinning.refresh()
        client.server.forgetRequests()
        try await running(pinning) {
            await client.clock.untilSleeping()
            client.clock.advance(by: seconds - 1)
            await client.clock.untilSleeping()
            #expect(client.server.requests.isEmpty)
            client.clock.advance(by: 1)
            await client.clock.untilSleeping()
        }
        #expect(client.server.requests.count == 2)
    }

    @Test("a device that slept through the night refreshes within a minute after it woke, though no task slept on")
    func deviceThatSleptThroughTheNightRefreshesWithinAMinuteAfterItWoke() async throws {
        var client = try TestClient()
        let device = DeviceThatSleeps(timeOfDay: client.clock)
        client.configuration.clock = device
        let pinning = try client.launch()
        try await running(pinning) {
            await device.uptime.untilSleeping()
            client.server.forgetRequests()
            client.clock.advance(by: 13 * 3_600)
            device.uptime.advance(by: 60)
            await device.uptime.untilSleeping()
        }
        #expect(client.server.paths == ["/root/2.json", "/pins.json"])
    }

    @Test(
        "a look that finds nothing due uses neither network nor disk; a list that has expired is reported once an hour",
        arguments: [false, true])
    func lookThatFindsNothingDueUsesNeitherNetworkNorDisk(hasExpired: Bool) async throws {
        let (disk, collector, randomness) = (MemoryStore(), SimulatedCollector(), CountedRandomness())
        let store = UnreadableFiles(disk)
        var client = try TestClient(store: store)
        client.configuration.reportSender = collector
        client.configuration.randomness = randomness
        try client.publish { $0.reportTo = ["https://reports.example.com/v1/reports"] }
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        if hasExpired {
            client.clock.advance(by: RepositorySimulator.listValidity)
            client.server.interference = { _, _ in FetchResponse(status: 503, retryAfter: 43_200) }
        }
        func isDelivered() throws -> Bool {
            guard case .bytes(let bytes) = disk.read(.reports, maximumBytes: .max) else { return false }
            return try ReportQueue(bytes).count == 0
        }
        try await running(pinning) {
            await client.clock.untilSleeping()
            if hasExpired {
                await collector.untilArrived(count: 1)
                while try !isDelivered() { await Task.yield() }
            }
            client.server.forgetRequests()
            let (reads, writes, drawn) = (store.reads, store.writes, randomness.drawn)
            for _ in 0..<59 {
                client.clock.advance(by: 60)
                await client.clock.untilSleeping()
            }
            #expect(client.server.requests.isEmpty && store.reads == reads && store.writes == writes)
            #expect(randomness.drawn == drawn)
            client.clock.advance(by: 60)
            await client.clock.untilSleeping()
            // Each report draws the wait before it is first sent.
            #expect(randomness.drawn == drawn + (hasExpired ? 1 : 0))
        }
    }

    @Test("failures wait 2 minutes, then twice as long each time, up to 4 hours, at most; Retry-After is honoured")
    func failuresWait2MinutesThenTwiceAsLongEachTimeUpTo4HoursAtMost() async throws {
        // The highest random number: the longest wait.
        let client = try TestClient(fraction: 0.999_999)
        client.server.interference = { _, _ in throw FetchError(.network, "no route") }
        let pinning = try client.launch()
        try await running(pinning) {
            for maximum: Int64 in [120, 240, 480, 960, 1_920, 3_840, 7_680, 14_400, 14_400] {
                await client.clock.untilSleeping()
                let wait = await self.wait(pinning, client)
                #expect(wait > maximum * 98 / 100 && wait <= maximum, "\(wait) of \(maximum)")
                client.server.forgetRequests()
                client.clock.advance(by: wait - 1)
                await client.clock.untilSleeping()
                #expect(client.server.requests.isEmpty)
                client.clock.advance(by: 1)
            }
        }
        client.server.interference = { _, _ in FetchResponse(status: 503, retryAfter: 9_000) }
        let patient = try TestClient(fraction: 0)
        patient.server.interference = client.server.interference
        let other = try patient.launch()
        _ = await other.refresh()
        try await running(other) {
            await patient.clock.untilSleeping()
            patient.server.forgetRequests()
            patient.clock.advance(by: 8_999)
            await patient.clock.untilSleeping()
            #expect(patient.server.requests.isEmpty)
            patient.clock.advance(by: 1)
            await patient.clock.untilSleeping()
            #expect(!patient.server.requests.isEmpty)
        }
    }

    /// The time until the next refresh, of which a sleep is a minute at most.
    private func wait(_ pinning: Pinning, _ client: TestClient) async -> Int64 {
        await pinning.refreshSchedule.wait(refreshInterval: PinList.defaultRefreshAfter, at: client.clock.now)
    }

    @Test("a mismatch asks for a refresh; a second one within five minutes does not")
    func mismatchAsksForARefreshASecondOneWithinFiveMinutesDoesNot() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        let wrong = TestClient.strangePath
        try await running(pinning) {
            await client.clock.untilSleeping()
            client.server.forgetRequests()
            try client.publish()
            let events = pinning.events()
            #expect(pinning.decision(for: wrong, host: TestClient.host).verdict == .block)
            for await event in events where event.kind == .listAccepted { break }
            #expect(pinning.version == 2)
            client.server.forgetRequests()
            #expect(pinning.decision(for: wrong, host: TestClient.host).verdict == .block)
            client.clock.advance(by: 299)
            await client.clock.untilSleeping()
        }
        #expect(client.server.requests.isEmpty)
    }

    @Test(
        "a refresh that the app or a mismatch began and that failed is tried again by the backoff",
        arguments: [true, false])
    func refreshThatTheAppOrAMismatchBeganAndThatFailedIsTriedAgainByTheBackoff(byTheApp: Bool) async throws {
        let client = try TestClient(fraction: 0.999)
        let pinning = try client.launch()
        try await running(pinning) {
            await client.clock.untilSleeping()
            client.server.interference = { _, _ in throw FetchError(.network, "no route") }
            if byTheApp {
                #expect(await pinning.refresh().fetchFailure != nil)
            } else {
                #expect(pinning.decision(for: TestClient.strangePath, host: TestClient.host).verdict == .block)
                await client.clock.untilSleeping(count: 2)
                client.clock.advance(by: 10)
                while await self.wait(pinning, client) > 119 { await Task.yield() }
            }
            // Not after the rest of the interval.
            await client.clock.untilSleeping()
            #expect(await self.wait(pinning, client) == 119)
            client.server.forgetRequests()
            client.clock.advance(by: 118)
            await client.clock.untilSleeping()
            #expect(client.server.requests.isEmpty)
            client.clock.advance(by: 1)
            await client.clock.untilSleeping()
        }
        #expect(client.server.paths == ["/root/2.json"])
    }

    @Test("a signer is replaced in a refresh that the app began: a current list is asked for after 1, 5 and 30 seconds")
    func signerIsReplacedInARefreshThatTheAppBeganACurrentListIsAskedForSoon() async throws {
        let client = try TestClient(fraction: 0.999)
        let pinning = try client.launch()
        try await running(pinning) {
            await client.clock.untilSleeping()
            client.clock.advance(by: 60)
            await client.clock.untilSleeping()
            try client.server.publish { repository in
                repository.time = client.clock.now
                repository.pinsKeys = [repository.newKey()]
                try repository.publishRoot()
            }
            #expect(await pinning.refresh().isSuccess)
            #expect(await pinning.kinds().contains(.signerReplaced))
            for wait: Int64 in [1, 5, 30] {
                await client.clock.untilSleeping()
                #expect(client.clock.waits == [Double(wait)])
                client.clock.advance(by: wait)
            }
        }
    }

    @Test("after these three a current list is asked for by the backoff, which begins with its first two minutes")
    func afterTheseThreeACurrentListIsAskedForByTheBackoff() async throws {
        let client = try TestClient(fraction: 0.999)
        let pinning = try client.launch()
        try client.server.publish { repository in
            repository.pinsKeys = [repository.newKey()]
            try repository.publishRoot()
        }
        for wait: Int64 in [1, 5, 30, 119, 239] {
            #expect(await pinning.refresh().isSuccess)
            #expect(await self.wait(pinning, client) == wait)
        }
    }

    @Test(
        "a signer is replaced, and the refresh ends before the list: a current one is asked for at once",
        arguments: [true, false])
    func signerIsReplacedAndTheRefreshEndsBeforeTheList(atTheNextStart: Bool) async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        client.clock.advance(by: 3_600)
        try client.server.publish { repository in
            repository.time = client.clock.now
            repository.pinsKeys = [repository.newKey()]
            try repository.publishRoot()
        }
        let network = ManualClock(TestClient.start)
        client.server.interference = { request, answer in
            if request.address.hasSuffix("pins.json") { try await network.sleep(seconds: 86_400) }
            return answer
        }
        let refresh = Task { await pinning.refresh() }
        await network.untilSleeping()
        refresh.cancel()
        #expect(await refresh.value.fetchFailure?.code == .cancelled)
        client.server.interference = nil
        client.server.forgetRequests()
        try await running(atTheNextStart ? try client.launch() : pinning) {
            await client.clock.untilSleeping()
            #expect(client.clock.waits == [1])
        }
        #expect(client.server.paths == ["/root/3.json", "/pins.json"])
    }

    @Test("pins are evaluated without refreshes: one event says so")
    func pinsAreEvaluatedWithoutRefreshesOneEventSaysSo() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        let wrong = TestClient.strangePath
        #expect(pinning.decision(for: wrong, host: TestClient.host).verdict == .block)
        #expect(await pinning.kinds() == [.validationFailed])
        client.clock.advance(by: 60)
        for _ in 0..<3 { #expect(pinning.decision(for: wrong, host: TestClient.host).verdict == .block) }
        #expect(await pinning.kinds().filter { $0 == .notRunning }.count == 1)
    }

    @Test("a clock that goes back makes a refresh due, and one that jumps ahead does no harm")
    func clockThatGoesBackMakesARefreshDueAndOneThatJumpsAheadDoesNoHarm() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        client.clock.advance(by: 10 * 365 * 86_400)
        _ = await pinning.refresh()
        client.clock.now = TestClient.start
        client.server.forgetRequests()
        try await running(try client.launch()) { await client.clock.untilSleeping() }
        #expect(!client.server.requests.isEmpty)
    }
}

/// A device: its time of day goes on while it sleeps, and its tasks do not.
private struct DeviceThatSleeps: PinningClock {
    let timeOfDay: ManualClock
    let uptime = ManualClock(TestClient.start)

    var now: Timestamp { self.timeOfDay.now }

    func sleep(seconds: Double) async throws { try await self.uptime.sleep(seconds: seconds) }
}

/// The lowest random numbers, counted.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
private final class CountedRandomness: PinningRandomness, @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    /// How many were drawn.
    var drawn: Int { self.lock.withLock { self.count } }

    func bits() -> UInt64 {
        self.lock.withLock { self.count += 1 }
        return 0
    }
}
