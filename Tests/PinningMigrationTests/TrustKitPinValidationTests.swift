// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Crypto
import Foundation
import PathValidation
import PinningMigration
import TestData
import Testing
import X509

/// TrustKit's cases of pin validation, written anew: its configuration in, this project's decision out. "The system" is
/// `PathValidation`. Where the outcome is another one, the test says why.
@Suite("TrustKit's cases of pin validation")
struct TrustKitPinValidationTests {
    private let scene: TrustKitScene
    private let wrong = TrustKitConfiguration.hash("x")
    private let otherWrong = TrustKitConfiguration.hash("y")

    init() throws { self.scene = try TrustKitScene() }

    @Test("the pin of the leaf, of the intermediate, of the root: each is enough, and is found where it is")
    func pinOfTheLeafOfTheIntermediateOfTheRootEachIsEnoughAndIsFoundWhereItIs() async throws {
        for (index, certificate) in [self.scene.leaf, self.scene.intermediate, self.scene.root].enumerated() {
            let decision = try await self.scene.decide([try TrustKitScene.hash(certificate), self.wrong])
            #expect(decision.verdict == .allow && decision.reason == .pinMatch && decision.matched?.index == index)
        }
    }

    @Test("several pins of which one is right, wherever it stands; and all three")
    func severalPinsOfWhichOneIsRightWhereverItStandsAndAllThree() async throws {
        let right = try TrustKitScene.hash(self.scene.intermediate)
        #expect(try await self.scene.decide([self.wrong, right, self.otherWrong]).reason == .pinMatch)
        let all = try [self.scene.leaf, self.scene.intermediate, self.scene.root].map { try TrustKitScene.hash($0) }
        #expect(try await self.scene.decide(all).matched?.index == 0)
    }

    @Test("pins that match nothing: refused, and enforced")
    func pinsThatMatchNothingRefusedAndEnforced() async throws {
        let decision = try await self.scene.decide([self.wrong, self.otherWrong])
        #expect(decision.verdict == .block && decision.reason == .noMatchingPin && decision.isEnforced)
        // The pin of a certificate that was presented and is in no validated path is no match.
        let stranger = try TestCertificate.authority("Stranger")
        let appended = try await self.scene.decide(
            [try TrustKitScene.hash(stranger), self.wrong], chain: self.scene.chain + [stranger])
        #expect(appended.reason == .noMatchingPin)
    }

    @Test("TSKEnforcePinning NO: pins that match nothing are allowed, and would be reported")
    func tskEnforcePinningNOPinsThatMatchNothingAreAllowedAndWouldBeReported() async throws {
        let decision = try await self.scene.decide([self.wrong, self.otherWrong], ["TSKEnforcePinning": false])
        #expect(decision.verdict == .allow && decision.reason == .noMatchingPin && !decision.isEnforced)
    }

    @Test("TSKEnforcePinning NO does not soften the system: an invalid chain stays refused")
    func tskEnforcePinningNODoesNotSoftenTheSystemAnInvalidChainStaysRefused() async throws {
        let other = try TestCertificate.authority("Other")
        let right = try TrustKitScene.hash(self.scene.leaf)
        let decision = try await self.scene.decide([right, self.wrong], ["TSKEnforcePinning": false], roots: [other])
        #expect(decision.verdict == .block && decision.reason == .chainInvalid)
    }

    @Test("a certificate for another host: refused by the system, right pin or not")
    func certificateForAnotherHostRefusedByTheSystemRightPinOrNot() async throws {
        let right = try TrustKitScene.hash(self.scene.leaf)
        let decision = try await self.scene.decide(
            [right, self.wrong], for: "www.example.com", pinned: "www.example.com")
        #expect(decision.verdict == .block && decision.reason == .chainInvalid)
    }

    @Test(
        "an expired chain, one not valid yet, an untrusted root, a missing intermediate: refused, right pins or not"
    )
    func expiredChainOneNotValidYetAnUntrustedRootAMissingIntermediateRefused() async throws {
        let pins = try [self.scene.leaf, self.scene.root].map { try TrustKitScene.hash($0) }
        for time in [TestCertificate.time + 90_000, TestCertificate.time - 90_000] {
            #expect(try await self.scene.decide(pins, at: time).reason == .chainInvalid)
        }
        #expect(try await self.scene.decide(pins, roots: [try .authority("Root")]).reason == .chainInvalid)
        #expect(try await self.scene.decide(pins, chain: [self.scene.leaf]).reason == .chainInvalid)
        #expect(try await self.scene.decide(pins, chain: []).reason == .noCertificates)
    }

    @Test(
        "a self-signed certificate whose key is pinned: pinning never accepts what the system does not"
    )
    func selfSignedCertificateWhoseKeyIsPinned() async throws {
        let alone = try TestCertificate("server") { form in form.names = [.dnsName("api.example.com")] }
        let decision = try await self.scene.decide([try TrustKitScene.hash(alone), self.wrong], chain: [alone])
        #expect(decision.verdict == .block && decision.reason == .chainInvalid)
    }

    @Test("a host that is not pinned: the system alone decides")
    func hostThatIsNotPinnedTheSystemAloneDecides() async throws {
        let decision = try await self.scene.decide([self.wrong, self.otherWrong], pinned: "www.example.com")
        #expect(decision.verdict == .allow && decision.reason == .notPinned)
    }

    @Test(
        "subdomains: not without TSKIncludeSubdomains; with it at any depth; of the longest parent; never of a sibling")
    func subdomainsNotWithoutTSKIncludeSubdomainsWithItAtAnyDepthOfTheLongestParent() async throws {
        let wrong = [self.wrong, self.otherWrong]
        let alone = try await self.scene.decide(wrong, pinned: "example.com")
        #expect(alone.reason == .notPinned)
        let included = try await self.scene.decide(wrong, ["TSKIncludeSubdomains": true], pinned: "example.com")
        #expect(included.reason == .noMatchingPin && included.entry?.domain.description == "example.com")
        let leaf = try TestCertificate.server(by: self.scene.intermediate) {
            $0.names = [.dnsName("a.b.c.example.com")]
        }
        let deep = try await self.scene.decide(
            wrong, ["TSKIncludeSubdomains": true], for: "a.b.c.example.com", pinned: "example.com",
            chain: [leaf, self.scene.intermediate])
        #expect(deep.reason == .noMatchingPin)
        let sibling = try await self.scene.decide(wrong, ["TSKIncludeSubdomains": true], pinned: "le.com")
        #expect(sibling.reason == .notPinned)
    }

    @Test("a nearer entry replaces a farther one; TSKExcludeSubdomainFromParentPolicy takes a host out")
    func nearerEntryReplacesAFartherOne() async throws {
        let bad = TrustKitConfiguration.domain([
            "TSKPublicKeyHashes": [self.wrong, self.otherWrong], "TSKIncludeSubdomains": true,
        ])
        let good = TrustKitConfiguration.domain([
            "TSKPublicKeyHashes": [try TrustKitScene.hash(self.scene.leaf), self.wrong]
        ])
        let out: [String: Any] = ["TSKExcludeSubdomainFromParentPolicy": true]
        for (entry, reason) in [(good, PinningDecision.Reason.pinMatch), (out, .notPinned)] {
            let decision = try await TrustKitScene.decide(
                TrustKitConfiguration.configuration(["example.com": bad, "api.example.com": entry]),
                for: "api.example.com", presented: self.scene.chain.map(\.der), roots: [self.scene.root.der])
            #expect(decision.verdict == .allow && decision.reason == reason)
        }
    }

    @Test("TSKExpirationDate: enforced the day before, default validation alone from midnight UTC on")
    func tskExpirationDateEnforcedTheDayBeforeDefaultValidationAloneFromMidnightUTCOn() async throws {
        // TestCertificate.time is 2027-01-15T08:00:00Z.
        let pins = [self.wrong, self.otherWrong]
        #expect(try await self.scene.decide(pins, ["TSKExpirationDate": "2027-01-16"]).reason == .noMatchingPin)
        let expired = try await self.scene.decide(pins, ["TSKExpirationDate": "2027-01-15"])
        #expect(expired.verdict == .allow && expired.reason == .domainExpired)
        #expect(try await self.scene.decide(pins, ["TSKExpirationDate": "soon"]).verdict == .block)
    }

    @Test(
        "a key for which TrustKit has no header, before a pinned one: TrustKit refuses, here the others are looked at"
    )
    func keyForWhichTrustKitHasNoHeaderBeforeAPinnedOneTrustKitRefuses() async throws {
        let intermediate = try TestCertificate.authority(
            "Edwards", by: self.scene.root, key: Certificate.PrivateKey(Curve25519.Signing.PrivateKey()))
        let leaf = try TestCertificate.server(by: intermediate)
        for pinned in [leaf, intermediate, self.scene.root] {
            let decision = try await self.scene.decide(
                [try TrustKitScene.hash(pinned), self.wrong], chain: [leaf, intermediate])
            #expect(decision.reason == .pinMatch)
        }
    }

    @Test("a request for API.Example.COM. is one for api.example.com: TrustKit lets it pass unpinned")
    func requestForAPIExampleCOMIsOneForApiExampleComTrustKitLetsItPassUnpinned() throws {
        let policy = try TrustKitConfiguration.migrated().policy()
        let path = ValidatedPath(uncheckedValidatedPath: [self.scene.leaf.der])
        for host in ["API.Example.COM", "api.example.com."] {
            #expect(policy.validate(path, for: host, at: Timestamp(secondsSince1970: 0)).reason == .noMatchingPin)
        }
    }

    @Test(
        "TrustKit's chain of www.good.com: its pins, a wrong pin, a wrong host, an anchor that is not trusted",
        .enabled(if: SharedData.holds(SharedData.trustKit), "../shared/data/trustkit is not beside the checkout"))
    func trustKitsChainOfWwwGoodComItsPinsAWrongPinAWrongHostAnAnchorThatIsNotTrusted() async throws {
        func read(_ name: String) throws -> [UInt8] {
            Array(try Data(contentsOf: SharedData.trustKit.appendingPathComponent(name)))
        }
        let leaf = try read("RSA_4096/www.good.com.der")
        let root = try read("RSA_4096/GoodRootCA.der")
        let selfSigned = try read("RSA_4096/www.good.com.selfsigned.der")
        // By openssl.
        let leafPin = "TwyNzy19zZi7cKfPsucs1E+h8ODOCPMrT8681sFWJvw="
        let rootPin = "S5z3Fz5ZfZAGJOBZjK6TYBquyLLKO+BndKXBlL3nPjo="
        let selfSignedPin = "naw8JswG9YvBkitP4iGuyEgbFxssEMM/v4m7MglIzEw="
        func decide(
            _ hashes: [String], for host: String = "www.good.com", presented: [UInt8]? = nil, roots: [[UInt8]]? = nil
        ) async throws -> PinningDecision.Reason {
            let domain = TrustKitConfiguration.domain(["TSKPublicKeyHashes": hashes])
            return try await TrustKitScene.decide(
                TrustKitConfiguration.configuration([host: domain]), for: host, presented: [presented ?? leaf],
                roots: roots ?? [root], at: 1_500_000_000
            ).reason
        }
        #expect(try await decide([leafPin, self.wrong]) == .pinMatch)
        #expect(try await decide([rootPin, self.wrong]) == .pinMatch)
        #expect(try await decide([self.wrong, self.otherWrong]) == .noMatchingPin)
        #expect(try await decide([leafPin, self.wrong], for: "www.bad.com") == .chainInvalid)
        #expect(try await decide([selfSignedPin, self.wrong], presented: selfSigned) == .chainInvalid)
        #expect(try await decide([leafPin, self.wrong], roots: [selfSigned]) == .chainInvalid)
    }
}
#endif
