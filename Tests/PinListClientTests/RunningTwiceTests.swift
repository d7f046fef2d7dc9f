// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinFailureReports
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListClient

@Suite("run() is called twice")
struct RunningTwiceTests {
    private static func client(
        collector: any ReportSender, fraction: Double, paths: [String] = ["/v1/reports"]
    ) async throws -> TestClient {
        var client = try TestClient(fraction: fraction)
        client.configuration.reportSender = collector
        try client.publish { $0.reportTo = paths.map { "https://reports.example.com\($0)" } }
        #expect(await (try client.launch()).refresh().isSuccess)
        return client
    }

    @Test("the end of the second call takes nothing from the first: mismatches are reported, and ask for a newer list")
    func endOfTheSecondCallTakesNothingFromTheFirst() async throws {
        let collector = SimulatedCollector()
        let client = try await Self.client(collector: collector, fraction: 0)
        let pinning = try client.launch()
        try await running(pinning) {
            await client.clock.untilSleeping()
            try await running(pinning) { await client.clock.untilSleeping(count: 2) }
            try client.publish()
            var changes = pinning.policyChanges().makeAsyncIterator()
            _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
            await collector.untilArrived(count: 1)
            let change = try #require(await changes.next())
            #expect(change.listVersion == 3)
        }
    }

    @Test("a report that waits goes out when the call that set its timer has ended")
    func reportThatWaitsGoesOutWhenTheCallThatSetItsTimerHasEnded() async throws {
        let collector = SimulatedCollector()
        let client = try await Self.client(collector: collector, fraction: 0.5)
        let pinning = try client.launch(refreshing: false)
        try await running(pinning) {
            try await running(pinning) {
                _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
                while client.clock.waits != [30] { await Task.yield() }
            }
            while client.clock.waits != [30] { await Task.yield() }
            await collector.untilArrived(count: 1, turning: client.clock, by: 30)
        }
        #expect(collector.arrivals.count == 1)
    }

    @Test("while both calls go on, one of them sends: each address gets a report once, and one after the other")
    func whileBothCallsGoOnOneOfThemSends() async throws {
        let collector = BusyCollector()
        let paths = (1...4).map { "/\($0)" }
        let client = try await Self.client(collector: collector, fraction: 0, paths: paths)
        let pinning = try client.launch(refreshing: false)
        try await running(pinning) {
            try await running(pinning) {
                _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
                while collector.answered.count < paths.count { await Task.yield() }
            }
        }
        #expect(collector.answered == paths.map { "https://reports.example.com\($0)" })
        #expect(collector.mostAtOnce == 1)
    }

    @Test("a signal reaches every listener that is left")
    func signalReachesEveryListenerThatIsLeft() async {
        let signal = WorkSignal()
        #expect(signal.isFirstTimeUnheard())
        var first = signal.signals().makeAsyncIterator()
        var second = signal.signals().makeAsyncIterator()
        signal.send()
        let heard: [Void?] = [await first.next(), await second.next()]
        #expect(heard.allSatisfy { $0 != nil })
        let ended = Task {
            var third = signal.signals().makeAsyncIterator()
            while await third.next() != nil {}
        }
        ended.cancel()
        await ended.value
        signal.send()
        let last: Void? = await first.next()
        #expect(last != nil && !signal.isFirstTimeUnheard())
    }
}

/// A collector that answers once other tasks had their turn many times, and counts what it answers at once.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
private final class BusyCollector: ReportSender, @unchecked Sendable {
    private let lock = NSLock()
    private var (current, most) = (0, 0)
    private var addresses: [String] = []

    /// The addresses that were answered, the first first.
    var answered: [String] { self.lock.withLock { self.addresses } }

    /// The largest number of requests at once.
    var mostAtOnce: Int { self.lock.withLock { self.most } }

    func send(_ body: [UInt8], to address: String) async -> FetchResponse {
        self.lock.withLock {
            self.current += 1
            self.most = max(self.most, self.current)
        }
        for _ in 0..<1_000 { await Task.yield() }
        self.lock.withLock {
            self.current -= 1
            self.addresses.append(address)
        }
        return FetchResponse(status: 202)
    }
}
