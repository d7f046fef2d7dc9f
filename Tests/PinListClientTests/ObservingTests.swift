// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
@_spi(Adapters) import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("A client that only observes")
struct ObservingTests {
    @Test("refuses nothing that the list refuses, and says what the pins would have said")
    func refusesNothingThatTheListRefusesAndSaysWhatThePinsWouldHaveSaid() async throws {
        var client = try TestClient()
        client.configuration.isObserving = true
        let pinning = try client.launch()
        let pins = TestClient.strangePath
        let decision = pinning.decision(for: pins, host: TestClient.host)
        #expect(decision.verdict == .allow)
        #expect(decision.reason == .noMatchingPin)
        #expect(!decision.isEnforced)
        #expect(pinning.decisionCounts == [.noMatchingPin: 1])
        #expect(await pinning.kinds().contains(.validationFailed))
        #expect(pinning.cleartextDecision(for: TestClient.host).verdict == .allow)
    }

    @Test("only reports denied keys and denied hosts, in lists that come later, too")
    func onlyReportsDeniedKeysAndDeniedHostsInListsThatComeLaterToo() async throws {
        var client = try TestClient()
        client.configuration.isObserving = true
        let pinning = try client.launch()
        let path = ValidatedPath(uncheckedValidatedPath: [[0x30]])
        try client.publish { list in
            list.denied = [DeniedKey(Pin(kind: .certificate, hashing: [0x30]))]
            list.unlisted = .deny
        }
        _ = await pinning.refresh()
        #expect(pinning.version == 2)
        #expect(pinning.decision(for: path, host: TestClient.host).verdict == .allow)
        let unlisted = pinning.decision(for: path, host: "unlisted.example.net")
        #expect(unlisted.verdict == .allow)
        #expect(unlisted.reason == .unlistedReported)
    }
}

@Suite("The refusal behind a transport's error")
struct RefusalOfErrorTests {
    struct Broken: Error {}

    @Test("is the newest one of the host, until a connection to it is allowed or a minute has passed")
    func isTheNewestOneOfTheHostUntilAConnectionToItIsAllowedOrAMinuteHasPassed() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        #expect(pinning.refusal(for: Broken(), host: TestClient.host) == nil)
        let refused = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        #expect(refused.verdict == .block)
        #expect(pinning.refusal(for: Broken(), host: "API.example.com.")?.decision == refused)
        #expect(pinning.refusal(for: Broken(), host: "other.example.com") == nil)
        #expect(pinning.refusal(for: Broken(), host: nil) == nil)
        #expect(pinning.refusal(for: CancellationError(), host: TestClient.host) == nil)
        client.clock.advance(by: 61)
        #expect(pinning.refusal(for: Broken(), host: TestClient.host) == nil)

        _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        try client.publish { list in list.domains = [] }
        _ = await pinning.refresh()
        #expect(pinning.decision(for: TestClient.strangePath, host: TestClient.host).verdict == .allow)
        #expect(pinning.refusal(for: Broken(), host: TestClient.host) == nil)
    }

    @Test("is a PinningError as it is, for every host")
    func isAPinningErrorAsItIsForEveryHost() throws {
        let pinning = try TestClient().launch()
        let error = PinningError(pinning.refusal(of: "a.example.com", .chainInvalid))
        #expect(pinning.refusal(for: error, host: nil) == error)
    }
}

@Suite("Rules that come into force")
struct PolicyChangeTests {
    @Test("are told to who keeps connections open")
    func areToldToWhoKeepsConnectionsOpen() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        var changes = pinning.policyChanges().makeAsyncIterator()
        try client.publish()
        _ = await pinning.refresh()
        let change = await changes.next()
        #expect(change?.listVersion == 2)
        #expect(change?.epoch == pinning.policyInForce.epoch)
    }

    @Test(
        "name the end of the next suspension, and evaluate an open connection again without telling of what is allowed")
    func nameTheEndOfTheNextSuspension() async throws {
        let client = try TestClient()
        let pinning = try client.launch()
        let now = client.clock.now
        try client.publish { list in
            list.suspended = [
                Suspension(.everything, until: now.advanced(by: 7_200), reason: "b"),
                Suspension(.everything, until: now.advanced(by: 3_600), reason: "a"),
            ]
        }
        _ = await pinning.refresh()
        let policy = pinning.policyInForce.policy(at: pinning.now)
        #expect(policy.nextEndOfSuspension(after: now) == now.advanced(by: 3_600))
        #expect(policy.nextEndOfSuspension(after: now.advanced(by: 3_600)) == now.advanced(by: 7_200))
        #expect(policy.nextEndOfSuspension(after: now.advanced(by: 7_200)) == nil)
        let counts = pinning.decisionCounts
        #expect(pinning.decisionAgain(for: TestClient.strangePath, host: TestClient.host).reason == .suspended)
        #expect(pinning.decisionCounts == counts)
        client.clock.advance(by: 7_200)
        #expect(pinning.decisionAgain(for: TestClient.strangePath, host: TestClient.host).verdict == .block)
        #expect(pinning.decisionCounts[.noMatchingPin] == 1)
        // What is known is not told again; another reason is.
        for (known, count) in [(PinningDecision.Reason.noMatchingPin, 1), (.deniedKey, 2)] {
            let decision = pinning.decisionAgain(
                for: TestClient.strangePath, host: TestClient.host, connection: ConnectionFacts(), known: known)
            #expect(decision.reason == .noMatchingPin)
            #expect(pinning.decisionCounts[.noMatchingPin] == count)
        }
    }
}
