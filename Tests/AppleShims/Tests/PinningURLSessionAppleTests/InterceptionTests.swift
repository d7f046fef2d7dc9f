// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
import PinListClient
import PinListMetadata
import PinningURLSession
import Security
import Testing
import X509

@Suite("An interceptor against URLSession")
struct InterceptionTests {
    private static let host = "api.example.com"

    enum Attack: CaseIterable {
        case otherKeySameAuthority, authorityThatDevicesTrust, authorityOfTheUser, ownLeafWithRealChainAppended
        case realLeafBehindOwn, strangersChain, expired, notYetValid, otherHost, selfSigned, deniedKey, emptyPins
    }

    /// What the attacker presents. Its pins are those of the real server's leaf and root, unless an attack says so.
    private func attack(_ attack: Attack, real: TestPKI) throws -> (
        chain: [TestCertificate], trusted: [TestCertificate]
    ) {
        let own = try TestPKI([Self.host], name: "attacker")
        func leaf(_ hosts: [String], _ change: (inout TestCertificate.Form) -> Void) throws -> TestCertificate {
            try TestCertificate("server", by: real.intermediate) { form in
                form.around(TestPKI.now)
                form.names = hosts.map { .dnsName($0) }
                change(&form)
            }
        }
        switch attack {
        case .otherKeySameAuthority:
            return ([try TestPKI.leaf([Self.host], by: real.intermediate), real.intermediate], [])
        case .authorityThatDevicesTrust, .authorityOfTheUser: return (own.chain, [own.root])
        case .ownLeafWithRealChainAppended: return (own.chain + real.path, [own.root])
        case .realLeafBehindOwn: return ([own.leaf, real.leaf, own.intermediate], [own.root])
        case .strangersChain: return (own.chain, [])
        case .expired: return ([try leaf([Self.host]) { $0.notAfter = TestPKI.now - 60 }, real.intermediate], [])
        case .notYetValid:
            return ([try leaf([Self.host]) { $0.notBefore = TestPKI.now + 3_600 }, real.intermediate], [])
        case .otherHost: return ([try leaf(["other.example.com"]) { _ in }, real.intermediate], [])
        case .selfSigned: return ([try TestCertificate("server") { $0.names = [.dnsName(Self.host)] }], [])
        case .deniedKey, .emptyPins: return (real.chain, [])
        }
    }

    @Test("gets no byte of a request", arguments: Attack.allCases)
    func getsNoByteOfARequest(attack: Attack) async throws {
        let real = try TestPKI([Self.host])
        let (chain, trusted) = try self.attack(attack, real: real)
        // The attacks by the same authority are found by the leaf's pin alone, the others by any.
        let pins = attack == .emptyPins ? [] : [try real.leaf.pin]
        let entry = try Phone.entry(Self.host, attack == .emptyPins ? [Phone.strangePin] : pins)
        let phone = try Phone([entry], trusting: [real.root] + trusted) { list in
            if attack == .deniedKey, let pin = try? real.intermediate.pin { list.denied = [DeniedKey(pin)] }
        }
        phone.serve(Self.host, chain)
        let delegate = RecordingDelegate()
        let session = phone.session(delegate: delegate)
        let outcome = await delegate.run(session.dataTask(with: Phone.url(Self.host)))
        let reason = (outcome.error as? PinningError)?.decision.reason
        switch attack {
        case .otherKeySameAuthority, .authorityThatDevicesTrust, .authorityOfTheUser, .ownLeafWithRealChainAppended,
            .realLeafBehindOwn, .emptyPins:
            #expect(reason == .noMatchingPin)
        case .deniedKey: #expect(reason == .deniedKey)
        case .strangersChain, .expired, .notYetValid, .otherHost, .selfSigned: #expect(reason == .chainInvalid)
        }
        #expect(phone.network.requests(at: Self.host).isEmpty)
        #expect(phone.network.bytes(at: Self.host) == 0)

        // The control: a session that does not pin is taken in wherever the system trusts the attacker.
        let control = URLSession(configuration: phone.configuration)
        let isTakenIn = await control.text(Phone.url(Self.host)).value != nil
        #expect(isTakenIn == (reason != .chainInvalid))
    }

    @Test("does not profit from a session's delegate that trusts every server: ours is asked in its place")
    func doesNotProfitFromASessionsDelegateThatTrustsEveryServerOursIsAskedInItsPlace() async throws {
        final class Careless: NSObject, URLSessionDelegate, Sendable {
            func urlSession(
                _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
                completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                completionHandler(
                    .useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
            }
        }
        let stranger = try TestPKI([Self.host])
        let (phone, _) = try Phone.bank()
        phone.serve(Self.host, stranger.chain)
        #expect(await phone.session(delegate: Careless()).text(Phone.url(Self.host)).code == .cancelled)
        #expect(phone.network.bytes(at: Self.host) == 0)
        let control = URLSession(configuration: phone.configuration, delegate: Careless(), delegateQueue: nil)
        #expect(await control.text(Phone.url(Self.host)).value == Self.host)
    }
}
