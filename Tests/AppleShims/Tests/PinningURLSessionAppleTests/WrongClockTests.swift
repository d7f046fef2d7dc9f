// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
import PinListMetadata
import PinningTesting
import PinningURLSession
import Testing

/// A network that sets a device's clock gets a connection that the right clock refuses. No rules come into force when the clock
/// is set right, and nobody sleeps until then.
@Suite("A connection that a wrong clock let through, for URLSession")
struct WrongClockTests {
    private static let host = "api.example.com"
    private static let url = Phone.url(host)
    private static let ahead: Int64 = 7_200

    /// An entry that refuses its host's server, and has ended by a clock that is ahead.
    private func endingEntry() throws -> PinnedDomain {
        var entry = try Phone.entry(Self.host, [Phone.strangePin])
        entry.expiresAt = Timestamp(secondsSince1970: TestPKI.now + Self.ahead / 2)
        return entry
    }

    /// A device with that entry, and the server.
    private func phone() throws -> Phone {
        let theirs = try TestPKI([Self.host])
        let phone = try Phone([self.endingEntry()], trusting: [theirs.root])
        phone.serve(Self.host, theirs.chain)
        return phone
    }

    /// Opens a connection while the clock is ahead, sets it right, and asks once more; and all of that again.
    private func expectNoRequest(on phone: Phone, ahead: Int64, refusal: PinningDecision.Reason) async {
        let session = phone.session()
        for (requests, expected) in [(2, 2), (1, 3)] {
            phone.clock.advance(by: ahead)
            for _ in 0..<requests { #expect(await session.text(Self.url).value == Self.host) }
            phone.clock.advance(by: -ahead)
            #expect(await session.text(Self.url).value == nil)
            #expect(await session.pinnedText(Self.url).refusal == refusal)
            #expect(phone.network.requests(at: Self.host).count == expected)
        }
    }

    @Test("takes no new request where the clock had ended its entry")
    func takesNoNewRequestWhereTheClockHadEndedItsEntry() async throws {
        let phone = try self.phone()
        await self.expectNoRequest(on: phone, ahead: Self.ahead, refusal: .noMatchingPin)
    }

    @Test("takes no new request when the clock was wrong a second time, with nothing else in between")
    func takesNoNewRequestWhenTheClockWasWrongASecondTimeWithNothingElseInBetween() async throws {
        let phone = try self.phone()
        let session = phone.session()
        for count in 1...2 {
            phone.clock.advance(by: Self.ahead)
            #expect(await session.text(Self.url).value == Self.host)
            phone.clock.advance(by: -Self.ahead)
            // A task that is made has the connection given up, whether it runs or not.
            _ = session.dataTask(with: Self.url)
            #expect(phone.network.requests(at: Self.host).count == count)
        }
        #expect(await session.text(Self.url).value == nil)
        #expect(phone.network.requests(at: Self.host).count == 2)
    }

    @Test("takes no new request where the clock had made the log list too old")
    func takesNoNewRequestWhereTheClockHadMadeTheLogListTooOld() async throws {
        let pki = try LoggedPKI(Self.host)
        var entry = try Phone.entry(Self.host, [pki.unlogged.pin])
        entry.transparency = TransparencyRule(.enforce, .chrome)
        let phone = try Phone([entry], trusting: [pki.pki.root])
        phone.serve(Self.host, [pki.unlogged, pki.pki.intermediate])
        let file = SigningLog.list(of: pki.logs, at: Timestamp(secondsSince1970: TestPKI.now - 60 * 86_400).description)
        phone.lists.publish { $0.logFiles.append(file) }
        try await phone.publish { $0.logs = ListedLogs(of: file) }
        await self.expectNoRequest(on: phone, ahead: 11 * 86_400, refusal: .transparency)
    }

    @Test("is evaluated again where a second connection was allowed meanwhile, and one that a pin alone allowed stays")
    func isEvaluatedAgainWhereASecondConnectionWasAllowedMeanwhileAndOneThatAPinAloneAllowedStays() async throws {
        let (pinned, theirs) = (try TestPKI(["www.example.com"]), try TestPKI([Self.host]))
        let phone = try Phone(
            [try self.endingEntry(), try Phone.entry("www.example.com", [pinned.leaf.pin])],
            trusting: [theirs.root, pinned.root])
        phone.serve(Self.host, theirs.chain)
        phone.serve("www.example.com", pinned.chain, address: "192.0.2.2")
        let session = phone.session()
        phone.clock.advance(by: Self.ahead)
        #expect(await session.text(Self.url).value == Self.host)
        #expect(await session.text(Phone.url("www.example.com")).value == "www.example.com")
        // The time at which the session was made.
        phone.clock.advance(by: -Self.ahead)
        #expect(await session.text(Phone.url("www.example.com")).value == "www.example.com")
        #expect(await session.text(Self.url).value == nil)
        #expect(phone.network.requests(at: Self.host).count == 1)
    }

    @Test("takes no new request where another session's TLS was resumed, without a challenge")
    func takesNoNewRequestWhereAnotherSessionsTLSWasResumedWithoutAChallenge() async throws {
        let phone = try self.phone()
        let (first, second) = (phone.session(), phone.session())
        phone.clock.advance(by: Self.ahead)
        #expect(await first.text(Self.url).value == Self.host)
        phone.network.settings.resumption = .acrossSessions
        #expect(await second.text(Self.url).value == Self.host)
        #expect(phone.network.challenges.count == 1)
        phone.network.settings.resumption = .never
        phone.clock.advance(by: -Self.ahead)
        #expect(await second.text(Self.url).value == nil)
        #expect(phone.network.requests(at: Self.host).count == 2)
    }

    @Test("costs one that a pin alone allowed nothing: it is used on, however the clock is set")
    func costsOneThatAPinAloneAllowedNothingItIsUsedOnHoweverTheClockIsSet() async throws {
        let (phone, _) = try Phone.bank()
        let session = phone.session()
        for change in [0, Self.ahead, -2 * Self.ahead, Self.ahead] {
            phone.clock.advance(by: change)
            #expect(await session.text(Self.url).value == Self.host)
        }
        #expect(phone.network.handshakes(at: Self.host) == 1)
    }
}
