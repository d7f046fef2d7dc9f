// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
@_spi(Adapters) import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("What is noticed of the process")
struct RuntimeEnvironmentTests {
    private static let pinnedPath = ValidatedPath(uncheckedValidatedPath: [SampleCertificate.der])

    /// Rules that come with the app, which the path satisfies.
    private static func pinning(
        _ runtimeEnvironment: RuntimeEnvironment, mode: PinnedDomain.Mode = .enforce, isObserving: Bool = false
    ) throws -> Pinning {
        var configuration = try TestClient().configuration
        configuration.runtimeEnvironment = { runtimeEnvironment }
        configuration.isObserving = isObserving
        let pin = try Pin("sha256/" + SampleCertificate.pin)
        let entry = PinnedDomain(try HostName(TestClient.host), mode: mode, pins: [KnownPin(pin)])
        return Pinning(policy: try PinningPolicy(domains: [entry]), state: .memory, configuration: configuration)
    }

    @Test("signals alone refuse nothing")
    func signalsAloneRefuseNothing() throws {
        let pinning = try Self.pinning(RuntimeEnvironment(signals: ["debugger-attached"]))
        let decision = pinning.decision(for: Self.pinnedPath, host: TestClient.host)
        #expect(decision.reason == .pinMatch && decision.verdict == .allow)
    }

    @Test("where the app's policy says so, a pinned connection is refused, for any pins; another one is not")
    func whereTheAppsPolicySaysSoAPinnedConnectionIsRefusedForAnyPins() throws {
        let pinning = try Self.pinning(
            RuntimeEnvironment(signals: ["known-agent", "split-code"], refusal: TamperingRefusal()))
        let decision = pinning.decision(for: Self.pinnedPath, host: TestClient.host)
        #expect(decision.reason == .tampering && decision.verdict == .block)
        #expect(decision.detail == "known-agent, split-code")
        let strange = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        #expect(strange.reason == .noMatchingPin && strange.verdict == .block)
        let unlisted = pinning.decision(for: TestClient.strangePath, host: "unlisted.example.net")
        #expect(unlisted.reason == .notPinned && unlisted.verdict == .allow)
    }

    @Test("an entry that only reports, and an app that only observes, refuse nothing")
    func entryThatOnlyReportsAndAnAppThatOnlyObservesRefuseNothing() throws {
        let runtimeEnvironment = RuntimeEnvironment(signals: ["known-agent"], refusal: TamperingRefusal())
        for pinning in [
            try Self.pinning(runtimeEnvironment, mode: .report),
            try Self.pinning(runtimeEnvironment, isObserving: true),
        ] {
            #expect(pinning.decision(for: Self.pinnedPath, host: TestClient.host).verdict == .allow)
        }
    }

    @Test("signals travel with reports of failures")
    func signalsTravelWithReportsOfFailures() async throws {
        let collector = SimulatedCollector()
        var client = try TestClient()
        client.configuration.runtimeEnvironment = { RuntimeEnvironment(signals: ["known-agent"]) }
        client.configuration.reportSender = collector
        try client.publish { $0.reportTo = ["https://reports.example.com/v1/reports"] }
        let pinning = try client.launch()
        #expect(await pinning.refresh().isSuccess)
        let run = Task { await pinning.run() }
        _ = pinning.decision(
            for: TestClient.strangePath, host: TestClient.host, connection: ConnectionFacts(signals: ["of-the-adapter"])
        )
        await collector.untilArrived(count: 1)
        run.cancel()
        await run.value
        let body = try #require(collector.arrivals.first?.body)
        #expect(String(decoding: body, as: UTF8.self).contains(#""signals":["of-the-adapter","known-agent"]"#))
    }

    @Test("an entry that is suspended, or has expired, is refused for no signal: nothing is expected of it")
    func entryThatIsSuspendedOrHasExpiredIsRefusedForNoSignalNothingIsExpectedOfIt() throws {
        var configuration = try TestClient().configuration
        configuration.runtimeEnvironment = { RuntimeEnvironment(signals: ["known-agent"], refusal: TamperingRefusal()) }
        var entry = PinnedDomain(
            try HostName(TestClient.host), pins: [KnownPin(try Pin("sha256/" + SampleCertificate.pin))])
        let end = TestClient.start.advanced(by: 60)
        let suspended = try PinningPolicy(
            domains: [entry], suspended: [Suspension(.everything, until: end, reason: "a test")])
        entry.expiresAt = TestClient.start.advanced(by: -60)
        for policy in [suspended, try PinningPolicy(domains: [entry])] {
            let pinning = Pinning(policy: policy, state: .memory, configuration: configuration)
            #expect(pinning.decision(for: Self.pinnedPath, host: TestClient.host).verdict == .allow)
        }
    }

    @Test("two who looked are joined: each signal once, and one refusal is enough")
    func twoWhoLookedAreJoinedEachSignalOnceAndOneRefusalIsEnough() {
        let first = RuntimeEnvironment(signals: ["split-code", "known-agent"])
        let second = RuntimeEnvironment(signals: ["known-agent", "breakpoint"], refusal: TamperingRefusal())
        #expect(
            first.joined(with: second)
                == RuntimeEnvironment(
                    signals: ["split-code", "known-agent", "breakpoint"], refusal: TamperingRefusal()))
        #expect(!first.joined(with: first).refuses)
    }
}
