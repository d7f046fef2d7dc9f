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

@Suite("A session whose list asks for Certificate Transparency, or takes certificates back")
struct SessionTransparencyTests {
    private static let host = "api.example.com"
    private static let other = "www.example.com"
    private static let url = Phone.url(host)

    /// A device whose list pins the host's key and asks for a policy, and a server that shows this certificate.
    private func phone(
        _ pki: LoggedPKI, showing leaf: TestCertificate, _ mode: TransparencyRule.Mode = .enforce
    ) async throws -> Phone {
        var entry = try Phone.entry(Self.host, [pki.unlogged.pin])
        entry.transparency = TransparencyRule(mode, .chrome)
        let phone = try Phone([entry], trusting: [pki.pki.root])
        phone.serve(Self.host, [leaf, pki.pki.intermediate])
        try await self.publish(pki.logs, on: phone)
        return phone
    }

    /// Puts a log list into force.
    private func publish(_ logs: [SigningLog], on phone: Phone) async throws {
        let time = Timestamp(secondsSince1970: TestPKI.now - 86_400).description
        let file = SigningLog.list(of: logs, at: time)
        phone.lists.publish { $0.logFiles.append(file) }
        try await phone.publish { $0.logs = ListedLogs(of: file) }
    }

    @Test("sends nothing to a server whose pinned certificate no log has seen, and a request to one that two have seen")
    func sendsNothingToAServerWhosePinnedCertificateNoLogHasSeenAndARequestToOneThatTwoHaveSeen() async throws {
        let pki = try LoggedPKI(Self.host)
        let phone = try await self.phone(pki, showing: pki.unlogged)
        #expect(await phone.session().pinnedText(Self.url).refusal == .transparency)
        #expect(phone.network.bytes(at: Self.host) == 0)
        phone.serve(Self.host, [pki.logged, pki.pki.intermediate])
        let session = phone.session()
        #expect(await session.pinnedText(Self.url).value == Self.host)
        #expect(await session.pinnedText(Self.url).value == Self.host)
        #expect(phone.pinning.decisionCounts[.transparency] == 1 && phone.pinning.decisionCounts[.pinMatch] == 1)
        let reporting = try await self.phone(pki, showing: pki.unlogged, .report)
        #expect(await reporting.session().pinnedText(Self.url).value == Self.host)
        #expect(reporting.pinning.decisionCounts[.transparency] == 1)
    }

    @Test("withholds a response over another host's connection whose certificate no log has seen")
    func withholdsAResponseOverAnotherHostsConnectionWhoseCertificateNoLogHasSeen() async throws {
        // The other host's certificate is for both, and has the pinned key.
        let pki = try LoggedPKI(Self.other, also: [Self.host])
        for (isLogged, expected) in [(true, PinningDecision.Reason?.none), (false, .transparency)] {
            let phone = try await self.phone(pki, showing: pki.logged)
            phone.serve(Self.other, [isLogged ? pki.logged : pki.unlogged, pki.pki.intermediate])
            phone.serve(Self.host, try TestPKI([Self.host]).chain)
            phone.network.coalesce(Self.host, onto: Self.other)
            let delegate = RecordingDelegate()
            let session = phone.session(delegate: delegate)
            #expect(await delegate.run(session.dataTask(with: Phone.url(Self.other))).error == nil)
            let outcome = await delegate.run(session.dataTask(with: Self.url))
            #expect((outcome.error as? PinningError)?.decision.reason == expected, "\(isLogged)")
            #expect(outcome.data == (isLogged ? Data(Self.host.utf8) : Data()))
        }
    }

    @Test("gives up its connection when a log list comes into force that does not know the certificate's logs")
    func givesUpItsConnectionWhenALogListComesIntoForceThatDoesNotKnowTheCertificatesLogs() async throws {
        let pki = try LoggedPKI(Self.host)
        let phone = try await self.phone(pki, showing: pki.logged)
        let session = phone.session()
        #expect(await session.text(Self.url).value == Self.host)
        #expect(phone.network.handshakes(at: Self.host) == 1)
        try await self.publish([SigningLog("C"), SigningLog("D")], on: phone)
        // Until the session was flushed, the second check withholds; afterwards the challenge of a new connection refuses.
        let end = ContinuousClock.now + .ample
        while phone.network.handshakes(at: Self.host) == 1, ContinuousClock.now < end {
            let refusal = await session.pinnedText(Self.url).refusal
            try #require(refusal != nil)
        }
        #expect(phone.network.handshakes(at: Self.host) == 2)
        #expect(await session.pinnedText(Self.url).refusal == .transparency)
    }

    @Test("cancels the requests that are running to a server whose certificate a list takes back")
    func cancelsTheRequestsThatAreRunningToAServerWhoseCertificateAListTakesBack() async throws {
        let (phone, pki) = try Phone.bank()
        let session = phone.session()
        let slow = URL(string: "https://\(Self.host)/slow") ?? Self.url
        phone.network.setAnswer(.text("slow"), for: slow.absoluteString)
        phone.network.hold(slow.absoluteString)
        let running = Task { await session.pinnedText(slow) }
        await phone.network.held(slow.absoluteString)
        let fields = try CertificateFields(walking: pki.leaf.der)
        let serial = try #require(SerialNumber(contents: pki.leaf.der[fields.serialNumber]))
        let issuer = try pki.intermediate.pin
        try await phone.publish { $0.revoked = [RevokedCertificates(issuer: issuer, serials: [serial])] }
        // Never released: only the cancellation ends it.
        #expect(await running.value.refusal == .revoked)
        #expect(await phone.session().pinnedText(Self.url).refusal == .revoked)
    }
}
