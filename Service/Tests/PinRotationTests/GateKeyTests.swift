// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinRotation
import Testing

@Suite("The gate, before there is a certificate")
struct GateKeyTests {
    private static let key = GateMaterial.key(FramedCertificate.pin(2))

    private static func list(
        _ version: Int64, _ pins: [(UInt8, KnownPin.Position)], requireIssuer: Bool = false
    ) throws -> PinList {
        try GateScene.list(version) {
            $0.domains[0].entry.pins = pins.map { KnownPin(FramedCertificate.pin($0), position: $1) }
            $0.domains[0].entry.requireIssuer = requireIssuer
        }
    }

    @Test("pins of the positions any and leaf are compared, and the answer says which one it was")
    func pinsOfThePositionsAnyAndLeafAreComparedAndTheAnswerSaysWhichOneItWas() throws {
        for position in [KnownPin.Position.any, .leaf] {
            let answer = try GateScene(byTime: Self.list(1, [(1, .leaf), (2, position), (9, .issuer)]))
                .answer(Self.key, lifetimes: [])
            #expect(answer.verdict == .safe)
            #expect(answer.matched == GateAnswer.Match(FramedCertificate.pin(2), position))
        }
        let refused = try GateScene(byTime: Self.list(1, [(1, .leaf), (2, .issuer)])).answer(Self.key, lifetimes: [])
        #expect(refused.verdict == .unsafe, "a leaf with this key matches no pin")
    }

    @Test("an entry that needs the issuer as well, or knows issuers alone, cannot be evaluated by a key")
    func entryThatNeedsTheIssuerAsWellOrKnowsIssuersAloneCannotBeEvaluatedByAKey() throws {
        let needsIssuer = try Self.list(1, [(2, .leaf), (7, .issuer)], requireIssuer: true)
        for list in [needsIssuer, try Self.list(1, [(7, .issuer), (2, .issuer)])] {
            for scene in [GateScene(byTime: list), GateScene(counted: (list, 1_000), of: 1_000)] {
                let answer = try scene.answer(Self.key, lifetimes: [])
                #expect(answer.verdict == .unknown && answer.matched == nil)
                #expect(answer.reason.contains("a whole chain is needed"), "\(answer)")
            }
        }
        // With the whole chain it is decided.
        let chain = GateMaterial.path(FramedCertificate.path(2, 7, 8))
        let answer = try GateScene(byTime: needsIssuer).answer(chain)
        #expect(answer.verdict == .safe)
        #expect(answer.matched == GateAnswer.Match(FramedCertificate.pin(2), .leaf))
        #expect(try GateScene(byTime: needsIssuer).answer(.path(FramedCertificate.path(2, 9))).verdict == .unsafe)
    }

    @Test("a pin of a whole certificate says nothing of a key")
    func pinOfAWholeCertificateSaysNothingOfAKey() throws {
        let list = try GateScene.list(1) {
            $0.domains[0].entry.pins = [KnownPin(Pin(kind: .certificate, hashing: [1, 2, 3]))]
        }
        #expect(try GateScene(byTime: list).answer(Self.key, lifetimes: []).verdict == .unknown)
    }

    @Test("an older list by which a key cannot be evaluated counts as refusing, and what it decides is unknown")
    func olderListByWhichAKeyCannotBeEvaluatedCountsAsRefusing() throws {
        let old = try Self.list(1, [(2, .leaf), (7, .issuer)], requireIssuer: true)
        let new = try Self.list(2, [(2, .leaf)])
        #expect(try GateScene(byTime: old, new).answer(Self.key, lifetimes: []).verdict == .unknown)
        let many = try GateScene(counted: (old, 20), (new, 980), of: 1_000).answer(Self.key, lifetimes: [])
        #expect(many.verdict == .unknown && many.refusing.share == 0.02)
        #expect(
            try GateScene(counted: (old, 10), (new, 990), of: 1_000).answer(Self.key, lifetimes: []).verdict == .safe)
    }

    @Test("a denied key is unsafe before there is a certificate, in every mode and on every host")
    func deniedKeyIsUnsafeBeforeThereIsACertificateInEveryModeAndOnEveryHost() throws {
        for mode in PinnedDomain.Mode.allCases {
            let list = try GateScene.list(1, [2]) {
                $0.denied = [DeniedKey(FramedCertificate.pin(2))]
                $0.domains[0].entry.mode = mode
            }
            for host in ["api.example.com", "other.example.com"] {
                let answer = try GateScene(byTime: list).answer(Self.key, for: host, lifetimes: [])
                #expect(answer.verdict == .unsafe && answer.reason.contains("denies"), "\(answer)")
            }
        }
    }

    @Test("an entry without any pin blocks every key; one that only reports blocks none")
    func entryWithoutAnyPinBlocksEveryKeyOneThatOnlyReportsBlocksNone() throws {
        #expect(try GateScene(byTime: Self.list(1, [])).answer(Self.key, lifetimes: []).verdict == .unsafe)
        let reporting = try GateScene.list(1, [1]) { $0.domains[0].entry.mode = .report }
        #expect(try GateScene(byTime: reporting).answer(Self.key, lifetimes: []).verdict == .safe)
        let denying = try GateScene.list(1, [2]) { $0.unlisted = .deny }
        let other = try GateScene(byTime: denying).answer(Self.key, for: "other.example.com", lifetimes: [])
        #expect(other.verdict == .unsafe && other.reason.contains("unlisted is deny"), "\(other)")
    }
}
