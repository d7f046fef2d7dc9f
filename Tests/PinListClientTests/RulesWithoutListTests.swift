// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("Rules that come with the app, without a list")
struct RulesWithoutListTests {
    private let collector = SimulatedCollector()

    private func pinning(observing: Bool = false) throws -> Pinning {
        var entry = try TestClient.entry(1).entry
        entry.reportTo = ["https://reports.example.com/v1/reports"]
        var configuration = PinningConfiguration(
            fetcher: NoNetwork(), reportSender: self.collector, clock: ManualClock(TestClient.start),
            randomness: FixedRandomness(fraction: 0))
        configuration.isObserving = observing
        return Pinning(policy: try PinningPolicy(domains: [entry]), state: .memory, configuration: configuration)
    }

    @Test("are enforced, and nothing is refreshed")
    func areEnforcedAndNothingIsRefreshed() async throws {
        let pinning = try self.pinning()
        #expect(pinning.decision(for: TestClient.strangePath, host: TestClient.host).reason == .noMatchingPin)
        #expect(await pinning.refresh().fetchFailure?.code == .network)
        #expect(await pinning.status.list == nil)
        #expect(await pinning.status.rootVersion == nil)
        #expect(pinning.decision(for: TestClient.strangePath, host: TestClient.host).verdict == .block)
    }

    @Test("report what they refused to where their entries say")
    func reportWhatTheyRefusedToWhereTheirEntriesSay() async throws {
        let pinning = try self.pinning()
        let running = Task { await pinning.run() }
        _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        await self.collector.untilArrived(count: 1)
        running.cancel()
        let arrival = try #require(self.collector.arrivals.first)
        #expect(arrival.address == "https://reports.example.com/v1/reports")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(arrival.body)) as? [String: Any])
        #expect(report["hostname"] as? String == TestClient.host)
    }

    @Test(
        "with an address that is not https beside a good one: an event says so, and the queue is there after a restart")
    func withAnAddressThatIsNotHttpsBesideAGoodOne() async throws {
        let good = "https://reports.example.com/v1/reports"
        var entry = try TestClient.entry(1).entry
        entry.reportTo = [good, "http://10.0.0.5:8080/reports"]
        let (store, clock) = (WatchedStore(), ManualClock(TestClient.start))
        func launch() throws -> Pinning {
            // The report waits for half a minute before it is sent.
            Pinning(
                policy: try PinningPolicy(domains: [entry]), state: .store(store),
                configuration: PinningConfiguration(
                    fetcher: NoNetwork(), reportSender: self.collector, clock: clock,
                    randomness: FixedRandomness(fraction: 0.5)))
        }
        let first = try launch()
        #expect(await first.kinds() == [.unusableAddress])
        try await running(first) {
            _ = first.decision(for: TestClient.strangePath, host: TestClient.host)
            await store.untilWritten(.reports) { String(decoding: $0, as: UTF8.self).contains(TestClient.host) }
        }
        #expect(self.collector.arrivals.isEmpty)
        clock.advance(by: 60)
        let second = try launch()
        try await running(second) { await self.collector.untilArrived(count: 1) }
        #expect(await second.kinds() == [.unusableAddress])
        #expect(self.collector.arrivals.map(\.address) == [good])
    }

    @Test("refuse nothing in a client that observes")
    func refuseNothingInAClientThatObserves() throws {
        let pinning = try self.pinning(observing: true)
        let decision = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        #expect(decision.verdict == .allow)
        #expect(decision.reason == .noMatchingPin)
    }
}

@Suite("The refusal behind an error of URL loading")
struct FailingURLTests {
    private func error(_ code: Int, _ url: String, domain: String = NSURLErrorDomain) -> NSError {
        NSError(domain: domain, code: code, userInfo: [NSURLErrorFailingURLErrorKey: URL(string: url) as Any])
    }

    @Test("is found by the error's URL, for the codes that a refused challenge has")
    func isFoundByTheErrorsURLForTheCodesThatARefusedChallengeHas() throws {
        let pinning = try TestClient().launch()
        let refused = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        let url = "https://\(TestClient.host)/balance?a=b"
        for code in [-999, -1200, -1202] {
            #expect(pinning.refusal(for: self.error(code, url))?.decision == refused)
        }
        // A timeout, no connection: the network's, also after a refusal a moment ago.
        for code in [-1001, -1009] { #expect(pinning.refusal(for: self.error(code, url)) == nil) }
        #expect(pinning.refusal(for: self.error(-999, "https://other.example.net/")) == nil)
        #expect(pinning.refusal(for: self.error(-999, url, domain: "another")) == nil)
        #expect(pinning.refusal(for: NSError(domain: NSURLErrorDomain, code: -999)) == nil)
    }
}

#if DEBUG
@Suite("A developer's own anchor, in a debug build")
struct DeveloperAnchorTests {
    @Test("exempts what ends at it and nothing else, and says so each time")
    func exemptsWhatEndsAtItAndNothingElseAndSaysSoEachTime() async throws {
        let anchor = SampleCertificate.der
        var client = try TestClient()
        client.configuration.developerAnchors = [try Pin(publicKeyOf: anchor)]
        let pinning = try client.launch()
        let own = ValidatedPath(uncheckedValidatedPath: [[0x30], anchor])
        #expect(pinning.decision(for: own, host: TestClient.host).verdict == .allow)
        #expect(await pinning.kinds().contains(.developerAnchor))
        #expect(pinning.decision(for: TestClient.strangePath, host: TestClient.host).verdict == .block)
        // In the path, but not its end.
        let other = ValidatedPath(uncheckedValidatedPath: [anchor, [0x30]])
        #expect(pinning.decision(for: other, host: TestClient.host).verdict == .block)
    }
}
#endif
