// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinFailureReports
import PinListMetadata
import PinningTesting
import Testing

@testable import PinListClient

@Suite("run() is called twice")
struct RunningTwiceTests {
    private static func client(collector: SimulatedCollector, fraction: Double) async throws -> TestClient {
        var client = try TestClient(fraction: fraction)
        client.configuration.reportSender = collector
        try client.publish { $0.reportTo = ["https://reports.example.com/v1/reports"] }
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

    @Test("a report that waits goes out when the call that set its timer has ended, and once while both go on")
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
            client.clock.advance(by: 30)
            await collector.untilArrived(count: 1)
            try await running(pinning) {
                let facts = ConnectionFacts(port: 8_443)
                _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host, connection: facts)
                while client.clock.waits != [30] { await Task.yield() }
                client.clock.advance(by: 30)
                await collector.untilArrived(count: 2)
            }
        }
        #expect(collector.arrivals.count == 2)
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
