// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@_spi(Simulation) @testable import PinListClient

/// The system ends the time that it gave an app in the background, and the app cancels its task.
@Suite("A refresh that is cancelled")
struct CancelledRefreshTests {
    /// A server that answers once it is told to; a request that is cancelled fails, or waits on.
    ///
    /// `@unchecked Sendable`: because what changes is read and written under the lock only.
    private final class SlowServer: @unchecked Sendable {
        private let lock = NSLock()
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private var isOpen = false
        private let (arrivals, arrive) = AsyncStream.makeStream(of: Void.self)

        init() {}

        /// The server of a client, for all of its requests.
        init(of client: TestClient) {
            client.server.interference = { _, answer in
                await self.wait()
                return answer
            }
        }

        /// Waits until a request came.
        func untilAsked() async {
            for await _ in self.arrivals { break }
        }

        /// Waits for the answer, whether the request is cancelled or not.
        func wait() async {
            await withCheckedContinuation { wake in
                let isOpen = self.lock.withLock {
                    if !self.isOpen { self.waiting.append(wake) }
                    return self.isOpen
                }
                self.arrive.yield()
                if isOpen { wake.resume() }
            }
        }

        /// Answers all requests from now on.
        func answer() {
            let waiting = self.lock.withLock {
                defer { self.waiting = [] }
                self.isOpen = true
                return self.waiting
            }
            for wake in waiting { wake.resume() }
        }
    }

    /// Waits until a number of calls wait for the refresh in flight.
    private func untilWaiting(_ count: Int, for pinning: Pinning) async {
        while await pinning.refreshWaiters.count != count { await Task.yield() }
    }

    @Test(
        "the call returns at once, and it is no failure of the server: no event, no backoff, nothing stored",
        arguments: [true, false])
    func callReturnsAtOnceAndItIsNoFailureOfTheServer(fetcherNotices: Bool) async throws {
        let client = try TestClient()
        try client.publish()
        let clock = ManualClock(TestClient.start)
        let server = SlowServer()
        client.server.interference = { _, answer in
            if fetcherNotices { try await clock.sleep(seconds: 86_400) } else { await server.wait() }
            return answer
        }
        let pinning = try client.launch()
        let refresh = Task { await pinning.refresh() }
        if fetcherNotices { await clock.untilSleeping() } else { await server.untilAsked() }
        refresh.cancel()
        let outcome = await refresh.value
        #expect(outcome.fetchFailure?.code == .cancelled && !outcome.isSuccess && !outcome.hasChanged)
        server.answer()
        client.server.interference = nil
        // This call comes later: it has a refresh of its own, after the cancelled one.
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == 2)
        #expect(await pinning.kinds() == [.listAccepted])
        #expect(client.server.paths == ["/root/2.json", "/root/2.json", "/pins.json"])
    }

    @Test("the schedule is as it was, also where there was a failure before")
    func scheduleIsAsItWasAlsoWhereThereWasAFailureBefore() async throws {
        let client = try TestClient(fraction: 0.999)
        client.server.interference = { _, _ in throw FetchError(.network, "there is no network") }
        let pinning = try client.launch()
        _ = await pinning.refresh()
        let schedule = await pinning.refreshSchedule
        let stored = client.store.read(.state, maximumBytes: .max)
        let clock = ManualClock(TestClient.start)
        client.server.interference = { _, answer in
            try await clock.sleep(seconds: 86_400)
            return answer
        }
        let refresh = Task { await pinning.refresh() }
        await clock.untilSleeping()
        refresh.cancel()
        #expect(await refresh.value.fetchFailure?.code == .cancelled)
        while await pinning.refreshInFlight != nil { await Task.yield() }
        #expect(await pinning.refreshSchedule == schedule)
        #expect(client.store.read(.state, maximumBytes: .max) == stored && stored != .absent)
    }

    @Test("another call that waits for the same refresh gets its outcome, of one fetch")
    func anotherCallThatWaitsForTheSameRefreshGetsItsOutcome() async throws {
        let client = try TestClient()
        try client.publish()
        let server = SlowServer(of: client)
        let pinning = try client.launch()
        let background = Task { await pinning.refresh() }
        let other = Task { await pinning.refresh() }
        await self.untilWaiting(2, for: pinning)
        background.cancel()
        #expect(await background.value.fetchFailure?.code == .cancelled)
        server.answer()
        let outcome = await other.value
        #expect(outcome.isSuccess && outcome.hasChanged)
        #expect(pinning.version == 2)
        #expect(client.server.paths == ["/root/2.json", "/pins.json"])
    }

    @Test("a call that comes while a cancelled refresh ends gets one of its own")
    func callThatComesWhileACancelledRefreshEndsGetsOneOfItsOwn() async throws {
        let client = try TestClient()
        try client.publish()
        let server = SlowServer(of: client)
        let pinning = try client.launch()
        let first = Task { await pinning.refresh() }
        await server.untilAsked()
        first.cancel()
        #expect(await first.value.fetchFailure?.code == .cancelled)
        let second = Task { await pinning.refresh() }
        await self.untilWaiting(1, for: pinning)
        server.answer()
        #expect(await second.value.isSuccess)
        #expect(pinning.version == 2)
        #expect(client.server.paths == ["/root/2.json", "/root/2.json", "/pins.json"])
    }

    @Test("a task that is cancelled before it asks fetches nothing")
    func taskThatIsCancelledBeforeItAsksFetchesNothing() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        let outcome = await withTaskGroup(of: RefreshOutcome.self) { group in
            group.cancelAll()
            group.addTask { await pinning.refresh() }
            return await group.next()
        }
        #expect(outcome?.fetchFailure?.code == .cancelled)
        #expect(client.server.requests.isEmpty)
    }

    @Test("run() that is cancelled during its refresh ends at once, and no failure is noted")
    func runThatIsCancelledDuringItsRefreshEndsAtOnce() async throws {
        let client = try TestClient()
        let server = SlowServer(of: client)
        let pinning = try client.launch()
        let run = Task { await pinning.run() }
        await server.untilAsked()
        run.cancel()
        await run.value
        server.answer()
        while await pinning.refreshInFlight != nil { await Task.yield() }
        #expect(await pinning.kinds().isEmpty)
        #expect(client.store.read(.state, maximumBytes: .max) == .absent)
    }

    @Test("while the log list is fetched: the list stays in force, and the next refresh has the log list")
    func whileTheLogListIsFetchedTheListStaysInForce() async throws {
        let scene = try LoggingScene()
        try scene.publish(scene.file())
        let server = SlowServer()
        scene.client.server.interference = { request, answer in
            if request.address.contains("/logs/") { await server.wait() }
            return answer
        }
        let pinning = try scene.client.launch()
        let refresh = Task { await pinning.refresh() }
        await server.untilAsked()
        refresh.cancel()
        #expect(await refresh.value.fetchFailure?.code == .cancelled)
        server.answer()
        while await pinning.refreshInFlight != nil { await Task.yield() }
        #expect(pinning.version == 2 && pinning.decide(scene.unlogged).reason == .pinMatch)
        #expect(await pinning.kinds() == [.listAccepted])
        #expect(scene.client.store.read(.state, maximumBytes: .max) == .absent)
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.decide(scene.unlogged).reason == .transparency)
    }

    @Test("what a fetcher cancels by itself is a failure like others, and waits like others")
    func whatAFetcherCancelsByItselfIsAFailureLikeOthers() async throws {
        let client = try TestClient(fraction: 0.999)
        client.server.interference = { _, _ in throw FetchError(.cancelled, "the session is gone") }
        let pinning = try client.launch()
        try await running(pinning) {
            await client.clock.untilSleeping()
            let interval = PinList.defaultRefreshAfter
            #expect(await pinning.refreshSchedule.wait(refreshInterval: interval, at: client.clock.now) == 119)
        }
        #expect(await pinning.kinds() == [.refreshFailed])
        #expect(client.server.paths == ["/root/2.json"])
    }
}
