// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

/// formats.md, section 6: an app was put back to an earlier version, or an earlier one still runs beside a newer one.
@Suite("State of a newer version of the library")
struct NewerStateTests {
    @Test(
        "is read and never written, wherever its schema stands and whatever else it has",
        arguments: [
            #"{"schema":2,"lastRefresh":17}"#, #"{"lastRefresh":17,"schema":2}"#,
            #"{"share":0.5,"places":{"a":[1e9]},"schema":2}"#,
            #"{"places":""# + String(repeating: "a", count: 9_999) + #"","schema":2}"#,
        ])
    func isReadAndNeverWrittenWhereverItsSchemaStandsAndWhateverElseItHas(text: String) async throws {
        let store = FaultyStore()
        let client = try TestClient(store: store)
        try client.publish()
        #expect(await (try client.launch()).refresh().isSuccess)
        try store.write(Array(text.utf8), to: .state)
        let writes = store.writes
        let pinning = try client.launch()
        #expect(await pinning.kinds() == [.stateNewer])
        try client.publish()
        #expect(await pinning.refresh().isSuccess)
        #expect(pinning.version == 3)
        #expect(store.writes == writes)
    }

    @Test(
        "is there since this process began: nothing is written from then on, and one event says why",
        arguments: [true, false])
    func isThereSinceThisProcessBegan(hasNewList: Bool) async throws {
        let store = FaultyStore()
        let client = try TestClient(store: store)
        try client.publish()
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        try store.write(Array(#"{"lastRefresh":17,"schema":2}"#.utf8), to: .state)
        let writes = store.writes
        if hasNewList { try client.publish() }
        for _ in 0..<2 { #expect(await pinning.refresh().isSuccess) }
        #expect(pinning.version == (hasNewList ? 3 : 2))
        #expect(store.writes == writes)
        #expect(await pinning.kinds().count { $0 == .stateNewer } == 1)
    }

    @Test(
        "that is a queue of reports is not replaced: reports go out, and are kept in memory",
        arguments: [#"{"schema":2,"reports":[]}"#, #"{"share":0.5,"schema":2}"#])
    func thatIsAQueueOfReportsIsNotReplaced(text: String) async throws {
        let store = MemoryStore()
        let queue = Array(text.utf8)
        store.write(queue, to: .reports)
        let collector = SimulatedCollector()
        var entry = try TestClient.entry(1).entry
        entry.reportTo = ["https://reports.example.com/v1/reports"]
        let pinning = Pinning(
            policy: try PinningPolicy(domains: [entry]), state: .store(store),
            configuration: PinningConfiguration(
                fetcher: NoNetwork(), reportSender: collector, clock: ManualClock(TestClient.start),
                randomness: FixedRandomness(fraction: 0)))
        #expect(await pinning.kinds() == [.stateNewer])
        try await running(pinning) {
            _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
            await collector.untilArrived(count: 1)
        }
        #expect(store.read(.reports, maximumBytes: .max) == .bytes(queue))
    }
}
