// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@Suite("What matches in a path")
struct PinMatchTests {
    private func decision(
        _ pins: [KnownPin], requireIssuer: Bool = false, path: ValidatedPath = Cast.path
    ) throws -> PinningDecision {
        let entry = PinnedDomain(try HostName("api.example.com"), pins: pins, requireIssuer: requireIssuer)
        return try PinningPolicy(domains: [entry]).validate(path, for: "api.example.com", at: Cast.now)
    }

    @Test("a pinned certificate appended to a foreign chain is in no validated path: CVE-2016-2402")
    func pinnedCertificateAppendedToAForeignChainIsInNoValidatedPathCVE20162402() throws {
        // The interceptor presents [theirs, their root, the real leaf]. What the platform has validated ends at their root.
        for pin in [Cast.leaf.pin, Cast.leaf.certificatePin, Cast.root.pin] {
            let decision = try self.decision([KnownPin(pin)], path: Cast.interceptorPath)
            #expect(decision.verdict == .block)
            #expect(decision.reason == .noMatchingPin)
            #expect(decision.matched == nil)
        }
    }

    @Test("the pin of a root that the device trusts, but that is not in the path")
    func pinOfARootThatTheDeviceTrustsButThatIsNotInThePath() throws {
        let path = ValidatedPath(uncheckedValidatedPath: [
            Cast.leaf.der, Cast.intermediate.der, Cast.interceptorRoot.der,
        ])
        #expect(try self.decision([KnownPin(Cast.root.pin)], path: path).reason == .noMatchingPin)
        #expect(try self.decision([KnownPin(Cast.root.pin)]).reason == .pinMatch)
    }

    @Test("a certificate with the pinned one's name, but another key")
    func certificateWithThePinnedOnesNameButAnotherKey() throws {
        #expect(
            Cast.interceptor.tree[SketchedCertificate.Place.subject].encoded
                == Cast.leaf.tree[SketchedCertificate.Place.subject].encoded)
        #expect(try self.decision([KnownPin(Cast.leaf.pin)], path: Cast.interceptorPath).verdict == .block)
    }

    @Test("the digest of a key as a certificate pin, and of a certificate as a key pin, match nothing")
    func digestOfAKeyAsACertificatePinAndOfACertificateAsAKeyPinMatchNothing() throws {
        let keyAsCertificate = try #require(Pin(kind: .certificate, digest: Cast.leaf.pin.digest))
        let certificateAsKey = try #require(Pin(kind: .publicKey, digest: Cast.leaf.certificatePin.digest))
        #expect(try self.decision([KnownPin(keyAsCertificate), KnownPin(certificateAsKey)]).reason == .noMatchingPin)
        #expect(try self.decision([KnownPin(Cast.leaf.certificatePin)]).reason == .pinMatch)
    }

    @Test("an unreadable intermediate beside a matching leaf or root does not stop the match")
    func unreadableIntermediateBesideAMatchingLeafOrRootDoesNotStopTheMatch() throws {
        let path = ValidatedPath(uncheckedValidatedPath: [Cast.leaf.der, Cast.unreadable, Cast.root.der])
        #expect(path.publicKeyPins == [Cast.leaf.pin, nil, Cast.root.pin])
        #expect(try self.decision([KnownPin(Cast.leaf.pin)], path: path).matched?.index == 0)
        #expect(try self.decision([KnownPin(Cast.root.pin)], path: path).matched?.index == 2)
        #expect(try self.decision([KnownPin(Cast.intermediate.pin)], path: path).verdict == .block)
    }

    @Test("an unreadable certificate matches nothing, not even the pin of its own bytes")
    func unreadableCertificateMatchesNothingNotEvenThePinOfItsOwnBytes() throws {
        let path = ValidatedPath(uncheckedValidatedPath: [Cast.unreadable])
        let ownBytes = Pin(kind: .certificate, hashing: Cast.unreadable)
        let pins = [KnownPin(ownBytes), KnownPin(Pin(kind: .publicKey, hashing: [])), KnownPin(Cast.intermediate.pin)]
        #expect(try self.decision(pins, path: path).verdict == .block)
    }

    @Test(
        "a position says where a pin may match: a leaf's pin higher up, or an issuer's on the leaf, is no match",
        arguments: [
            (KnownPin.Position.any, [true, true, true]), (.leaf, [true, false, false]), (.issuer, [false, true, true]),
        ])
    func positionSaysWhereAPinMayMatchALeafsPinHigherUpOrAnIssuersOnTheLeafIsNoMatch(
        position: KnownPin.Position, matches: [Bool]
    ) throws {
        for (index, certificate) in [Cast.leaf, Cast.intermediate, Cast.root].enumerated() {
            for pin in [certificate.pin, certificate.certificatePin] {
                let decision = try self.decision([KnownPin(pin, position: position)])
                #expect(decision.matched?.index == (matches[index] ? index : nil))
                #expect(decision.verdict == (matches[index] ? .allow : .block))
            }
        }
    }

    @Test("a key that stands twice in a path is found where its position allows it")
    func keyThatStandsTwiceInAPathIsFoundWhereItsPositionAllowsIt() throws {
        let path = ValidatedPath(uncheckedValidatedPath: [Cast.leaf.der, Cast.root.der, Cast.leaf.der])
        #expect(try self.decision([KnownPin(Cast.leaf.pin)], path: path).matched?.index == 0)
        #expect(try self.decision([KnownPin(Cast.leaf.pin, position: .issuer)], path: path).matched?.index == 2)
    }

    @Test("of several matches the one nearest to the leaf is named, in any order of the pins")
    func ofSeveralMatchesTheOneNearestToTheLeafIsNamedInAnyOrderOfThePins() throws {
        let pins = [Cast.root, Cast.intermediate, Cast.leaf].map { KnownPin($0.pin) }
        #expect(try self.decision(pins).matched == PinningDecision.Match(pin: Cast.leaf.pin, index: 0))
        #expect(try self.decision(pins.reversed()).matched == PinningDecision.Match(pin: Cast.leaf.pin, index: 0))
        #expect(try self.decision(Array(pins.dropLast())).matched?.index == 1)
    }

    @Test("with requireIssuer both kinds must match, and both matches are named", arguments: [1, 2])
    func withRequireIssuerBothKindsMustMatchAndBothMatchesAreNamed(issuerIndex: Int) throws {
        let issuer = [Cast.leaf, Cast.intermediate, Cast.root][issuerIndex]
        let decision = try self.decision(
            [
                KnownPin(Cast.backup.pin, position: .issuer), KnownPin(issuer.pin, position: .issuer),
                KnownPin(Cast.backup.pin, position: .leaf), KnownPin(Cast.leaf.pin, position: .leaf),
            ], requireIssuer: true)
        #expect(decision.verdict == .allow)
        #expect(decision.matched == PinningDecision.Match(pin: Cast.leaf.pin, index: 0))
        #expect(decision.matchedIssuer == PinningDecision.Match(pin: issuer.pin, index: issuerIndex))
    }

    @Test("with requireIssuer one match alone, a swapped pair or a pin for any place blocks, and no match is named")
    func withRequireIssuerOneMatchAloneASwappedPairOrAPinForAnyPlaceBlocks() throws {
        let leaf = KnownPin(Cast.leaf.pin, position: .leaf)
        let issuer = KnownPin(Cast.root.pin, position: .issuer)
        let refused: [[KnownPin]] = [
            [leaf], [issuer], [leaf, KnownPin(Cast.backup.pin, position: .issuer)],
            [KnownPin(Cast.backup.pin, position: .leaf), issuer], [leaf, KnownPin(Cast.root.pin)],
            [KnownPin(Cast.leaf.pin), issuer], [KnownPin(Cast.leaf.pin), KnownPin(Cast.root.pin)],
            [KnownPin(Cast.root.pin, position: .leaf), KnownPin(Cast.leaf.pin, position: .issuer)],
            [leaf, KnownPin(Cast.leaf.pin, position: .issuer)],
        ]
        for pins in refused {
            let decision = try self.decision(pins, requireIssuer: true)
            #expect(decision.verdict == .block)
            #expect(decision.matched == nil)
            #expect(decision.matchedIssuer == nil)
        }
        let alone = ValidatedPath(uncheckedValidatedPath: [Cast.leaf.der])
        #expect(try self.decision([leaf, issuer], requireIssuer: true, path: alone).verdict == .block)
    }
}
