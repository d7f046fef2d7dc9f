// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinRotation
import Testing

@Suite("The gate's rules")
struct GateRuleTests {
    /// The chain with the new key 2, by an authority with key 7 under an anchor with key 8.
    private static let chain = GateMaterial.path(FramedCertificate.path(2, 7, 8))

    private static let long = GateScene.long

    /// So many seconds of a lifetime are left.
    private static func lifetime(_ seconds: Int64, left: Int64) -> CertificateLifetime {
        let end = GateScene.now.secondsSince1970 + left
        return CertificateLifetime(
            notBefore: Timestamp(secondsSince1970: end - seconds), notAfter: Timestamp(secondsSince1970: end))
    }

    @Test("every list that installations may hold has the pin: safe, and the pin is named as the list has it")
    func everyListThatInstallationsMayHoldHasThePinSafeAndThePinIsNamedAsTheListHasIt() throws {
        let answer = try GateScene(byTime: GateScene.list(1, [1, 2]), GateScene.list(2, [2, 3])).answer(Self.chain)
        #expect(answer.verdict == .safe, "\(answer)")
        #expect(answer.notedHostname == answer.host)
        #expect(answer.matched == GateAnswer.Match(FramedCertificate.pin(2), .any))
        #expect(answer.refusing == GateRefusing(share: nil, hours: 24, requests: 0))
        #expect(answer.reason.contains("adoption is not measured (there is no service)"), "\(answer)")
    }

    @Test("the pin came with the newest list: by time alone it is unknown who has it")
    func pinCameWithTheNewestListByTimeAloneItIsUnknownWhoHasIt() throws {
        let answer = try GateScene(byTime: GateScene.list(1, [1]), GateScene.list(2, [1, 2])).answer(Self.chain)
        #expect(answer.verdict == .unknown)
        #expect(answer.matched?.pin == FramedCertificate.pin(2))
        #expect(answer.reason.contains("version 1, which installations may still hold, refuses it"), "\(answer)")
    }

    @Test("a chain that does not validate is unsafe before anything else, with any pins")
    func chainThatDoesNotValidateIsUnsafeBeforeAnythingElseWithAnyPins() throws {
        let scene = try GateScene(counted: (GateScene.list(1, [2]), 1_000), of: 1_000)
        let answer = try scene.answer(.invalid(.chainInvalid, "the certificate is for another server"), lifetimes: [])
        #expect(answer.verdict == .unsafe && answer.matched == nil)
        #expect(answer.reason.contains("for another server") && answer.refusing.share == 1, "\(answer)")
    }

    @Test("the newest list refuses it: unsafe, though hardly any installation holds that list")
    func newestListRefusesItUnsafeThoughHardlyAnyInstallationHoldsThatList() throws {
        let answer = try GateScene(
            counted: (GateScene.list(1, [1, 2]), 999), (GateScene.list(2, [1, 3]), 1), of: 1_000
        ).answer(Self.chain)
        #expect(answer.verdict == .unsafe && answer.refusing.share == 0.001)
        #expect(answer.reason.hasPrefix("version 2 refuses it"), "\(answer)")
    }

    @Test("the project's newest list and the one that the service serves must both accept it")
    func projectsNewestListAndTheOneThatTheServiceServesMustBothAcceptIt() throws {
        let (old, new) = (try GateScene.list(1, [1]), try GateScene.list(2, [1, 2]))
        for newest in [[old, new], [new, old]] {
            var scene = GateScene(counted: (old, 1), (new, 999), of: 1_000)
            #expect(try scene.answer(Self.chain).verdict == .safe)
            scene.newest = newest
            let answer = try scene.answer(Self.chain)
            #expect(answer.verdict == .unsafe && answer.reason.hasPrefix("version 1 refuses it"), "\(answer)")
        }
    }

    @Test("a denied key, wherever it stands in the path, is unsafe; one that is only reported is not")
    func deniedKeyWhereverItStandsInThePathIsUnsafeOneThatIsOnlyReportedIsNot() throws {
        for (key, isEnforced, verdict) in [
            (2, true, .unsafe), (7, true, .unsafe), (8, true, .unsafe), (7, false, .safe), (9, true, .safe),
        ] as [(UInt8, Bool, GateVerdict)] {
            let list = try GateScene.list(3, [2]) {
                $0.denied = [DeniedKey(FramedCertificate.pin(key), isEnforced: isEnforced)]
            }
            #expect(try GateScene(byTime: list).answer(Self.chain).verdict == verdict, "key \(key), \(isEnforced)")
        }
    }

    @Test("the order: refused before ending, ending before measured")
    func orderRefusedBeforeEndingEndingBeforeMeasured() throws {
        let ending = Self.lifetime(90 * GateScene.day, left: GateScene.day)
        let refused = try GateScene(byTime: GateScene.list(1, [1])).answer(Self.chain, lifetimes: [ending])
        #expect(refused.verdict == .unsafe && refused.reason.contains("no pin matches"), "\(refused)")
        let measured = try GateScene(counted: (GateScene.list(1, [2]), 1_000), of: 1_000)
        #expect(try measured.answer(Self.chain).verdict == .safe)
        let late = try measured.answer(Self.chain, lifetimes: [ending])
        #expect(late.verdict == .unsafe && late.reason.contains("less than 7 days is left"), "\(late)")
        #expect(late.refusing.share == 0)
    }

    @Test(
        "what must be left: 7 days, or a third of a lifetime of up to 21 days",
        arguments: [
            // Let's Encrypt's 90 and 45 days, its six days (160 hours), and around 21 days.
            (90 * 86_400, 7 * 86_400), (45 * 86_400, 7 * 86_400), (21 * 86_400, 7 * 86_400),
            (21 * 86_400 + 1, 7 * 86_400), (6 * 86_400, 2 * 86_400), (160 * 3_600, 192_000), (3, 1), (4, 2),
        ] as [(lifetime: Int64, minimum: Int64)])
    func whatMustBeLeft7DaysOrAThirdOfALifetimeOfUpTo21Days(lifetime: Int64, minimum: Int64) throws {
        #expect(!Self.lifetime(lifetime, left: minimum).isEnding(at: GateScene.now))
        #expect(Self.lifetime(lifetime, left: minimum - 1).isEnding(at: GateScene.now))
        let scene = try GateScene(byTime: GateScene.list(1, [2]))
        #expect(try scene.answer(Self.chain, lifetimes: [Self.lifetime(lifetime, left: minimum)]).verdict == .safe)
        let answer = try scene.answer(Self.chain, lifetimes: [Self.lifetime(lifetime, left: minimum - 1)])
        #expect(answer.verdict == .unsafe, "\(answer)")
    }

    @Test("times out of all bounds end, and nothing overflows")
    func timesOutOfAllBoundsEndAndNothingOverflows() {
        let (first, last) = (Timestamp(secondsSince1970: .min), Timestamp(secondsSince1970: .max))
        for (from, to) in [(first, first), (last, first), (GateScene.now, first)] {
            #expect(CertificateLifetime(notBefore: from, notAfter: to).isEnding(at: last))
            #expect(CertificateLifetime(notBefore: from, notAfter: to).isEnding(at: GateScene.now))
        }
        #expect(!CertificateLifetime(notBefore: first, notAfter: last).isEnding(at: first))
    }

    @Test("an intermediate that ends counts as the leaf does; one whose end cannot be read is unknown")
    func intermediateThatEndsCountsAsTheLeafDoesOneWhoseEndCannotBeReadIsUnknown() throws {
        let scene = try GateScene(byTime: GateScene.list(1, [2]))
        let ending = Self.lifetime(900 * GateScene.day, left: GateScene.day)
        let answer = try scene.answer(Self.chain, lifetimes: [Self.long, ending, Self.long])
        #expect(answer.verdict == .unsafe && answer.reason.hasPrefix("certificate 2 of the path ends"), "\(answer)")
        #expect(try scene.answer(Self.chain, lifetimes: [Self.long, nil]).verdict == .unknown)
    }

    @Test("a suspension hides nothing: it ends")
    func suspensionHidesNothingItEnds() throws {
        let list = try GateScene.list(1, [1]) {
            let until = Timestamp(secondsSince1970: GateScene.now.secondsSince1970 + 3_600)
            $0.suspended = [Suspension(.everything, until: until, reason: "incident")]
        }
        #expect(try GateScene(byTime: list).answer(Self.chain).verdict == .unsafe)
    }

    @Test("a host that no list covers is unknown; with unlisted: deny it is unsafe")
    func hostThatNoListCoversIsUnknownWithUnlistedDenyItIsUnsafe() throws {
        for (rule, verdict) in [(.allow, .unknown), (.report, .unknown), (.deny, .unsafe)]
            as [(UnlistedHosts, GateVerdict)]
        {
            let list = try GateScene.list(1, [2]) { $0.unlisted = rule }
            for scene in [GateScene(byTime: list), GateScene(counted: (list, 1_000), of: 1_000)] {
                let answer = try scene.answer(Self.chain, for: "apj.example.com")
                #expect(answer.verdict == verdict && answer.notedHostname == nil && answer.matched == nil)
                #expect(answer.reason.contains("apj.example.com"), "\(answer)")
            }
        }
    }

    @Test("an entry that is gone from the newest list still counts where installations hold it")
    func entryThatIsGoneFromTheNewestListStillCountsWhereInstallationsHoldIt() throws {
        let gone = try GateScene.list(2) { $0.domains = [] }
        let unknown = try GateScene(byTime: GateScene.list(1, [1]), gone).answer(Self.chain)
        #expect(unknown.verdict == .unknown && unknown.reason.contains("version 1"), "\(unknown)")
        let safe = try GateScene(byTime: GateScene.list(1, [2]), gone).answer(Self.chain)
        #expect(safe.verdict == .safe && safe.notedHostname == nil, "\(safe)")
        #expect(safe.reason.contains("no entry of version 2 covers"), "\(safe)")
    }

    @Test("entries that block no connection are safe, and the reason says that nothing is enforced")
    func entriesThatBlockNoConnectionAreSafeAndTheReasonSaysThatNothingIsEnforced() throws {
        for (mode, words) in [(.report, "which it reports"), (.off, "is off")] as [(PinnedDomain.Mode, String)] {
            let list = try GateScene.list(1, [1]) { $0.domains[0].entry.mode = mode }
            let answer = try GateScene(byTime: list).answer(Self.chain)
            #expect(answer.verdict == .safe && answer.matched == nil, "\(answer)")
            #expect(answer.reason.contains(words), "\(answer)")
        }
        let ended = try GateScene.list(1, [1]) { $0.domains[0].entry.expiresAt = GateScene.now }
        #expect(try GateScene(byTime: ended).answer(Self.chain).reason.contains("has ended"))
        let noInstallation = try GateScene.list(1, [1]) { $0.domains[0].rollout = 0 }
        #expect(try GateScene(byTime: noInstallation).answer(Self.chain).verdict == .safe)
    }

    @Test("without any list, and without one that is known to be out, nothing is safe")
    func withoutAnyListAndWithoutOneThatIsKnownToBeOutNothingIsSafe() throws {
        var scene = try GateScene(byTime: GateScene.list(1, [2]))
        scene.holders.recent = []
        #expect(try scene.answer(Self.chain).verdict == .unknown)
        scene.newest = []
        #expect(try scene.answer(Self.chain).verdict == .unknown)
    }

    @Test("a list that may be held and is not at hand may refuse it")
    func listThatMayBeHeldAndIsNotAtHandMayRefuseIt() throws {
        var scene = try GateScene(byTime: GateScene.list(2, [2]))
        #expect(try scene.answer(Self.chain).verdict == .safe)
        scene.holders.missing = ["what went out before version 2"]
        let answer = try scene.answer(Self.chain)
        #expect(answer.verdict == .unknown && answer.reason.contains("what went out before version 2"), "\(answer)")
    }
}
