// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@Suite("A clock that was wrong for a moment")
struct WrongClockTests {
    /// Ten years, in seconds.
    private static let decade: Int64 = 3_650 * 86_400

    @Test(
        "ahead by ten years at one decision: pins are enforced again at the next one, without a refresh",
        arguments: [PinList.WhenStale.report, .deny, .enforce])
    func aheadByTenYearsAtOneDecisionPinsAreEnforcedAgainAtTheNextOneWithoutARefresh(whenStale: PinList.WhenStale)
        throws
    {
        var client = try TestClient()
        client.configuration.whenStale = whenStale
        let pinning = try client.launch(refreshing: false)
        func decision() -> PinningDecision { pinning.decision(for: TestClient.strangePath, host: TestClient.host) }
        let before = decision()
        client.clock.advance(by: Self.decade)
        let ahead = decision()
        #expect(ahead.list?.stale == true)
        #expect(ahead.verdict == (whenStale == .report ? .allow : .block))
        client.clock.advance(by: -Self.decade)
        #expect(decision() == before)
        #expect(before.verdict == .block && before.list?.stale == false && before.entry?.pins.count == 1)
    }

    @Test("open connections are told both times: when the list expires, and when by the clock it has not")
    func openConnectionsAreToldBothTimesWhenTheListExpiresAndWhenByTheClockItHasNot() async throws {
        var client = try TestClient()
        client.configuration.whenStale = .report
        let pinning = try client.launch(refreshing: false)
        var changes = pinning.policyChanges().makeAsyncIterator()
        client.clock.advance(by: Self.decade)
        _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        let expired = try #require(await changes.next())
        #expect(expired.policy(at: client.clock.now).list?.stale == true)
        client.clock.advance(by: -Self.decade)
        _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
        let valid = try #require(await changes.next())
        #expect(valid.epoch > expired.epoch)
        #expect(valid.policy(at: client.clock.now).list?.stale == false)
    }

    @Test(
        "the event of an expired list is sent when it expires, also where a clock that was ahead had sent it before",
        arguments: [false, true])
    func eventOfAnExpiredListIsSentWhenItExpiresAlsoWhereAClockThatWasAheadHadSentItBefore(
        atTheStart: Bool
    ) async throws {
        let client = try TestClient()
        if atTheStart { client.clock.advance(by: Self.decade) }
        let pinning = try client.launch(refreshing: false)
        var changes = pinning.policyChanges().makeAsyncIterator()
        let ahead: [(seconds: Int64, events: Int)] = atTheStart ? [] : [(Self.decade, 1)]
        let later: [(seconds: Int64, events: Int)] = [(-Self.decade, 1), (RepositorySimulator.listValidity, 2)]
        for step in ahead + later {
            client.clock.advance(by: step.seconds)
            _ = pinning.decision(for: TestClient.strangePath, host: TestClient.host)
            _ = await changes.next()
            // The event follows the change.
            _ = await pinning.status
            #expect(await pinning.kinds().count { $0 == .stale } == step.events, "\(step)")
        }
    }

    @Test("a sleep that a clock which was ahead began does not hold up the next try after a refresh that failed")
    func sleepThatAClockWhichWasAheadBeganDoesNotHoldUpTheNextTryAfterARefreshThatFailed() async throws {
        let client = try TestClient(fraction: 0.999)
        client.clock.advance(by: Self.decade)
        let pinning = try client.launch()
        try await running(pinning) {
            await client.clock.untilSleeping()
            client.clock.advance(by: -Self.decade)
            client.server.interference = { _, _ in throw FetchError(.network, "there is no network") }
            #expect(await pinning.refresh().fetchFailure != nil)
            client.server.forgetRequests()
            for (wait, seconds) in [(60, 60), (59, 59)] as [(Double, Int64)] {
                await client.clock.untilSleeping()
                #expect(client.clock.waits == [wait] && client.server.requests.isEmpty)
                client.clock.advance(by: seconds)
            }
            await client.clock.untilSleeping()
            #expect(!client.server.requests.isEmpty)
        }
    }

    @Test("a pause after a failure that a clock which was ahead began does not hold up the next refresh")
    func pauseAfterAFailureThatAClockWhichWasAheadBeganDoesNotHoldUpTheNextRefresh() async throws {
        let store = MemoryStore()
        let client = try TestClient(store: store, fraction: 0.999)
        client.server.interference = { _, _ in FetchResponse(status: 503, retryAfter: 43_200) }
        client.clock.advance(by: 3_600)
        #expect(await (try client.launch()).refresh().fetchFailure != nil)
        client.server.interference = nil
        client.clock.advance(by: -3_600)
        try client.publish()
        let next = try client.launch()
        try await running(next) { await client.clock.untilSleeping() }
        #expect(next.version == 2)
    }

    @Test("a refresh that a clock which was ahead noted does not hold up the next one")
    func refreshThatAClockWhichWasAheadNotedDoesNotHoldUpTheNextOne() async throws {
        let store = MemoryStore()
        let client = try TestClient(store: store)
        client.clock.advance(by: 3_600)
        #expect(await (try client.launch()).refresh().isSuccess)
        client.clock.advance(by: -3_600)
        try client.publish()
        let next = try client.launch()
        try await running(next) { await client.clock.untilSleeping() }
        #expect(next.version == 2)
    }
}
