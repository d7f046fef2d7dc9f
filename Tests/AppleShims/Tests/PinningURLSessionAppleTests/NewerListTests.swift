// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
import PinListClient
import PinListMetadata
import PinningTesting
import PinningURLSession
import Testing

@Suite("A newer list, for URLSession")
struct NewerListTests {
    private static let host = "api.example.com"
    private static let url = Phone.url(host)

    @Test("that names the server's new key lets a challenge through that waits for it")
    func thatNamesTheServersNewKeyLetsAChallengeThroughThatWaitsForIt() async throws {
        let (phone, old) = try Phone.bank()
        let new = try TestPKI([Self.host])
        let more = try Phone([], trusting: [new.root])
        _ = more
        phone.serve(Self.host, new.chain)
        let pin = try new.leaf.pin
        try phone.lists.publish { repository in
            repository.time = phone.clock.now
            _ = try repository.publishList { list in list.domains[0].entry.pins.append(KnownPin(pin)) }
        }
        let running = Task { await phone.pinning.run() }
        #expect(await phone.session(secondsToWaitForNewerList: 5).pinnedText(Self.url).value == Self.host)
        running.cancel()
        #expect(phone.pinning.policyInForce.listVersion == 3)
        _ = old
    }

    @Test("that does not come is waited for as long as was asked, and then it is refused")
    func thatDoesNotComeIsWaitedForAsLongAsWasAskedAndThenItIsRefused() async throws {
        let (phone, _) = try Phone.bank()
        phone.serve(Self.host, try Self.stranger().chain)
        let session = phone.session(secondsToWaitForNewerList: 60)
        #expect((session.delegate as? PinnedSessionDelegate) != nil)
        let waiting = Task { await session.pinnedText(Self.url) }
        // The wait is at most five seconds, also where more was asked for.
        await phone.clock.untilSleeping(count: 1)
        phone.clock.advance(by: 5)
        #expect(await waiting.value.refusal == .noMatchingPin)
        #expect(phone.network.bytes(at: Self.host) == 0)
    }

    @Test("is not waited for when no caller asked for it, nor when the system refuses")
    func isNotWaitedForWhenNoCallerAskedForItNorWhenTheSystemRefuses() async throws {
        let (phone, _) = try Phone.bank()
        phone.serve(Self.host, try Self.stranger().chain)
        #expect(await phone.session().pinnedText(Self.url).refusal == .noMatchingPin)
        phone.serve(Self.host, try TestPKI([Self.host]).chain)
        #expect(
            await phone.session(secondsToWaitForNewerList: 5).pinnedText(Self.url).refusal == .chainInvalid)
    }

    @Test("that refuses an open connection has the next request take a new one")
    func thatRefusesAnOpenConnectionHasTheNextRequestTakeANewOne() async throws {
        let (phone, _) = try Phone.bank()
        let session = phone.session()
        #expect(await session.text(Self.url).value == Self.host)
        #expect(await session.text(Self.url).value == Self.host)
        #expect(phone.network.handshakes(at: Self.host) == 1)
        let strange = Phone.strangePin
        try await phone.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
        // Until the session was flushed, the second check withholds; afterwards the challenge of a new connection refuses.
        let end = ContinuousClock.now + .ample
        while phone.network.handshakes(at: Self.host) == 1, ContinuousClock.now < end {
            let refusal = await session.pinnedText(Self.url).refusal
            try #require(refusal != nil)
        }
        #expect(phone.network.handshakes(at: Self.host) == 2)
        #expect(await session.pinnedText(Self.url).refusal == .noMatchingPin)
    }

    @Test("that denies a key cancels the requests that are running on its connections")
    func thatDeniesAKeyCancelsTheRequestsThatAreRunningOnItsConnections() async throws {
        let (phone, pki) = try Phone.bank()
        let session = phone.session()
        let slow = URL(string: "https://\(Self.host)/slow") ?? Self.url
        phone.network.setAnswer(.text("slow"), for: slow.absoluteString)
        phone.network.hold(slow.absoluteString)
        let running = Task { await session.pinnedText(slow) }
        await phone.network.held(slow.absoluteString)
        let pin = try pki.leaf.pin
        try await phone.publish { list in list.denied = [DeniedKey(pin)] }
        // Never released: only the cancellation ends it.
        #expect(await running.value.refusal == .deniedKey)
    }

    private static func stranger() throws -> TestPKI {
        let pki = try TestPKI([self.host])
        _ = try Phone([], trusting: [pki.root])
        return pki
    }
}
