// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListClient
import PinningURLSession
import Security
import Testing
import X509

@Suite("A trust object of another stack")
struct TrustObjectTests {
    private static let host = "api.example.com"

    private static func tls(_ host: String = host) -> SecPolicy { SecPolicyCreateSSL(true, host as CFString) }

    @Test("under the TLS policy for the host is evaluated as it is, once")
    func underTheTLSPolicyForTheHostIsEvaluatedAsItIsOnce() throws {
        let (phone, pki) = try Phone.bank()
        let trust = try #require(HandMade.trust(pki.chain, Self.tls("API.example.com.")))
        let decision = phone.pinning.evaluate(trust: trust, host: Self.host)
        #expect(decision.reason == .pinMatch)
        #expect(decision.path.certificates == pki.path.map(\.der))
        #expect(SimulatedSystem.evaluations(of: trust) == 1)
        #expect(SimulatedSystem.evaluations(ofLeaf: pki.leaf.der) == 1)
        #expect(SimulatedSystem.changes(of: trust).isEmpty)
    }

    @Test(
        "with revocation asked for, is evaluated once more under a policy for it, and required refuses without an answer"
    )
    func withRevocationAskedForIsEvaluatedOnceMoreUnderAPolicyForIt() throws {
        for (revocation, flags) in [
            (SystemRevocation.system, []), (.checked, [3]), (.required, [3 | 8]),
        ] as [(SystemRevocation, [CFOptionFlags])] {
            for isGood in [false, true] {
                let pki = try TestPKI([Self.host])
                let phone = try Phone(
                    [Phone.entry(Self.host, [pki.leaf.pin])], trusting: [pki.root], revocation: revocation)
                if isGood { SimulatedSystem.setGood(leaf: pki.leaf.der) }
                let trust = try #require(HandMade.trust(pki.chain, Self.tls()))
                let decision = phone.pinning.evaluate(trust: trust, host: Self.host)
                let isRefused = revocation == .required && !isGood
                #expect(decision.reason == (isRefused ? .chainInvalid : .pinMatch), "\(revocation) \(isGood)")
                #expect(SimulatedSystem.revocationFlags(ofLeaf: pki.leaf.der) == flags)
                #expect(SimulatedSystem.changes(of: trust).isEmpty)
            }
        }
    }

    enum Policy: CaseIterable { case basic, otherHost, client, noHost }

    private func policy(_ policy: Policy) -> SecPolicy {
        switch policy {
        case .basic: SecPolicyCreateBasicX509()
        case .otherHost: Self.tls("www.example.com")
        case .client: SecPolicyCreateSSL(false, Self.host as CFString)
        case .noHost: SecPolicyCreateSSL(true, nil)
        }
    }

    @Test(
        "under another policy is evaluated for the host in an object of our own, and not changed",
        arguments: Policy.allCases)
    func underAnotherPolicyIsEvaluatedForTheHostInAnObjectOfOurOwnAndNotChanged(policy: Policy) throws {
        let pki = try TestPKI([Self.host, "www.example.com"])
        let phone = try Phone([Phone.entry(Self.host, [pki.leaf.pin])], trusting: [pki.root])
        let trust = try #require(HandMade.trust(pki.chain, self.policy(policy)))
        let decision = phone.pinning.evaluate(trust: trust, host: Self.host)
        // A server's certificate is for no client: what the caller's own policy refuses stays refused.
        #expect(decision.reason == (policy == .client ? .chainInvalid : .pinMatch))
        #expect(SimulatedSystem.changes(of: trust).isEmpty)
    }

    @Test(
        "for another name is refused, though the caller's policy looks at no name", arguments: [Policy.basic, .noHost])
    func forAnotherNameIsRefusedThoughTheCallersPolicyLooksAtNoName(policy: Policy) throws {
        let (phone, pki) = try Phone.bank()
        let other = try TestPKI.leaf(["www.example.com"], by: pki.intermediate)
        let trust = try #require(HandMade.trust([other, pki.intermediate], self.policy(policy)))
        let decision = phone.pinning.evaluate(trust: trust, host: Self.host)
        #expect(decision.reason == .chainInvalid)
        #expect(decision.detail?.isEmpty == false)
    }

    @Test("of a client's certificate is refused, though the caller's policy is that for clients")
    func ofAClientsCertificateIsRefusedThoughTheCallersPolicyIsThatForClients() throws {
        let (phone, pki) = try Phone.bank()
        let client = try TestCertificate("client", by: pki.intermediate) { form in
            form.around(TestPKI.now)
            form.names = [.dnsName(Self.host)]
            form.purposes = [.clientAuth]
        }
        let policy = SecPolicyCreateSSL(false, Self.host as CFString)
        let trust = try #require(HandMade.trust([client, pki.intermediate], policy))
        #expect(SecTrustEvaluateWithError(trust, nil))
        #expect(phone.pinning.evaluate(trust: trust, host: Self.host).reason == .chainInvalid)
    }

    @Test("with anchors of its own keeps them")
    func withAnchorsOfItsOwnKeepsThem() throws {
        let pki = try TestPKI([Self.host])
        let phone = try Phone([Phone.entry(Self.host, [pki.root.pin])], trusting: [])
        for policy in [Self.tls(), SecPolicyCreateBasicX509()] {
            let trust = try #require(HandMade.trust(pki.chain, policy))
            #expect(phone.pinning.evaluate(trust: trust, host: Self.host).reason == .chainInvalid)
            let anchored = try #require(HandMade.trust(pki.chain, policy))
            let root = try #require(SecCertificateCreateWithData(nil, Data(pki.root.der) as CFData))
            SecTrustSetAnchorCertificates(anchored, [root] as CFArray)
            let before = SimulatedSystem.changes(of: anchored)
            #expect(phone.pinning.evaluate(trust: anchored, host: Self.host).reason == .pinMatch)
            #expect(SimulatedSystem.changes(of: anchored) == before)
        }
    }

    @Test(
        "for an address is evaluated as for a name, however the address is written",
        arguments: ["2001:db8::7", "2001:DB8:0:0::7", "[2001:db8::7]"])
    func forAnAddressIsEvaluatedAsForANameHoweverTheAddressIsWritten(host: String) throws {
        var bytes = [UInt8](repeating: 0, count: 16)
        bytes.replaceSubrange(0..<4, with: [0x20, 0x01, 0x0d, 0xb8])
        bytes[15] = 7
        let pki = try TestPKI([], addresses: [bytes])
        let phone = try Phone([Phone.entry("2001:db8::7", [pki.leaf.pin])], trusting: [pki.root])
        let trust = try #require(HandMade.trust(pki.chain, Self.tls("2001:db8::7")))
        #expect(phone.pinning.evaluate(trust: trust, host: host).reason == .pinMatch)
        #expect(SimulatedSystem.evaluations(ofLeaf: pki.leaf.der) == 1)
        let basic = try #require(HandMade.trust(pki.chain, SecPolicyCreateBasicX509()))
        #expect(phone.pinning.evaluate(trust: basic, host: host).reason == .pinMatch)
        #expect(phone.pinning.evaluate(trust: basic, host: "2001:db8::8").verdict == .block)
    }

    @Test("for what is no host is refused without a look at it", arguments: ["", "exa mple.com", "1.2.3", "a..b"])
    func forWhatIsNoHostIsRefusedWithoutALookAtIt(host: String) throws {
        let (phone, pki) = try Phone.bank()
        let trust = try #require(HandMade.trust(pki.chain, Self.tls()))
        #expect(phone.pinning.evaluate(trust: trust, host: host).reason == .hostInvalid)
        #expect(SimulatedSystem.evaluations(of: trust) == 0)
    }

    @Test("is evaluated by rules without a list, too")
    func isEvaluatedByRulesWithoutAListToo() throws {
        let pki = try TestPKI([Self.host])
        SimulatedSystem.addAnchor(pki.root.der)
        let pinning = Pinning(policy: try PinningPolicy(domains: [Phone.entry(Self.host, [pki.leaf.pin])]))
        let trust = try #require(HandMade.trust(pki.chain, Self.tls()))
        #expect(pinning.evaluate(trust: trust, host: Self.host).reason == .pinMatch)
        let stranger = try TestPKI([Self.host])
        SimulatedSystem.addAnchor(stranger.root.der)
        let other = try #require(HandMade.trust(stranger.chain, Self.tls()))
        #expect(pinning.evaluate(trust: other, host: Self.host).reason == .noMatchingPin)
    }

    #if DEBUG
    @Test("that ends at a developer's own anchor passes in a debug build, and in no other way")
    func thatEndsAtADevelopersOwnAnchorPassesInADebugBuildAndInNoOtherWay() throws {
        let proxy = try TestPKI([Self.host], name: "proxy")
        let pki = try TestPKI([Self.host])
        SimulatedSystem.addAnchor(proxy.root.der)
        SimulatedSystem.addAnchor(pki.root.der)
        var configuration = PinningConfiguration(fetcher: URLSessionFetcher(), reportSender: URLSessionFetcher())
        configuration.developerAnchors = [try proxy.root.pin]
        let pinning = Pinning(
            policy: try PinningPolicy(domains: [Phone.entry(Self.host, [Phone.strangePin])]), state: .memory,
            configuration: configuration)
        let own = try #require(HandMade.trust(proxy.chain, Self.tls()))
        #expect(pinning.evaluate(trust: own, host: Self.host).verdict == .allow)
        let other = try #require(HandMade.trust(pki.chain, Self.tls()))
        #expect(pinning.evaluate(trust: other, host: Self.host).reason == .noMatchingPin)
    }
    #endif
}
