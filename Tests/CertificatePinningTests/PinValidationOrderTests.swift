// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

/// formats.md, section 4, rule by rule, in its order. `Rules` gives a policy in which each rule would decide; a test takes
/// away those before its own.
@Suite("Pin Validation, in its order")
struct PinValidationOrderTests {
    /// Everything at once for `api.example.com`: an entry that blocks, a denied key, a suspension.
    private struct Rules {
        var denied = [DeniedKey(Cast.leaf.pin)]
        var suspended = [Suspension(.everything, until: Cast.later, reason: "incident")]
        var entry = PinnedDomain(Rules.host, pins: [KnownPin(Cast.backup.pin)])
        var isListed = true
        var unlisted = UnlistedHosts.deny
        var certificates = [Cast.leaf.der, Cast.intermediate.der, Cast.root.der]

        static let host: HostName = {
            guard let host = try? HostName("api.example.com") else { preconditionFailure("the name normalises") }
            return host
        }()

        func decision(for host: String = "api.example.com") throws -> PinningDecision {
            let policy = try PinningPolicy(
                list: ListIdentity(name: "com.example.app", version: 7, stale: false),
                domains: self.isListed ? [self.entry] : [], denied: self.denied, suspended: self.suspended,
                unlisted: self.unlisted)
            return policy.validate(ValidatedPath(uncheckedValidatedPath: self.certificates), for: host, at: Cast.now)
        }
    }

    @Test(
        "1. a host that does not normalise blocks, before all else",
        arguments: ["", "127.1", "api..example.com", "münchen.de", "api.example.com:443", "[::1"])
    func of1AHostThatDoesNotNormaliseBlocksBeforeAllElse(host: String) throws {
        var rules = Rules()
        rules.denied = []
        rules.entry.mode = .off
        rules.unlisted = .allow
        let decision = try rules.decision(for: host)
        #expect(decision.verdict == .block)
        #expect(decision.reason == .hostInvalid)
        #expect(decision.isEnforced)
        #expect(decision.host == host)
        #expect(decision.entry == nil)
        #expect(decision.detail != nil)
    }

    @Test("a path without certificates blocks, suspended or not: nothing was validated")
    func pathWithoutCertificatesBlocksSuspendedOrNotNothingWasValidated() throws {
        var rules = Rules()
        rules.certificates = []
        for mode in PinnedDomain.Mode.allCases {
            rules.entry.mode = mode
            for isListed in [true, false] {
                rules.isListed = isListed
                rules.unlisted = .allow
                let decision = try rules.decision()
                #expect(decision.verdict == .block)
                #expect(decision.reason == .noCertificates)
                #expect(decision.isEnforced)
            }
        }
    }

    @Test("2. a denied key blocks before the suspension, and says which key and where")
    func of2ADeniedKeyBlocksBeforeTheSuspensionAndSaysWhichKeyAndWhere() throws {
        var rules = Rules()
        rules.denied = [DeniedKey(Cast.root.pin)]
        let decision = try rules.decision()
        #expect(decision.verdict == .block)
        #expect(decision.reason == .deniedKey)
        #expect(decision.isEnforced)
        #expect(decision.denied == PinningDecision.Match(pin: Cast.root.pin, index: 2))
        #expect(decision.matched == nil)
    }

    @Test("3. a suspension allows before the entry is looked at")
    func suspensionAllowsBeforeTheEntryIsLookedAt() throws {
        var rules = Rules()
        rules.denied = []
        for isListed in [true, false] {
            rules.isListed = isListed
            let decision = try rules.decision()
            #expect(decision.verdict == .allow)
            #expect(decision.reason == .suspended)
            #expect(!decision.isEnforced)
            #expect(decision.matched == nil)
        }
    }

    @Test(
        "4. a host that no entry covers is decided by the rule for unlisted hosts",
        arguments: [
            (UnlistedHosts.allow, PinningDecision.Verdict.allow, PinningDecision.Reason.notPinned, false),
            (.report, .allow, .unlistedReported, false), (.deny, .block, .unlistedDenied, true),
        ])
    func hostThatNoEntryCoversIsDecidedByTheRuleForUnlistedHosts(
        rule: UnlistedHosts, verdict: PinningDecision.Verdict, reason: PinningDecision.Reason, isEnforced: Bool
    ) throws {
        var rules = Rules()
        rules.denied = []
        rules.suspended = []
        rules.unlisted = rule
        let decision = try rules.decision(for: "other.example.org")
        #expect(decision.verdict == verdict)
        #expect(decision.reason == reason)
        #expect(decision.isEnforced == isEnforced)
        #expect(decision.entry == nil)
        #expect(decision.host == "other.example.org")
    }

    @Test("5. an entry is not enforced from its expiry on, at the very second", arguments: [Cast.earlier, Cast.now])
    func of5AnEntryIsNotEnforcedFromItsExpiryOnAtTheVerySecond(end: Timestamp) throws {
        var rules = Rules()
        rules.denied = []
        rules.suspended = []
        rules.entry.expiresAt = end
        for mode in PinnedDomain.Mode.allCases {
            rules.entry.mode = mode
            let decision = try rules.decision()
            #expect(decision.verdict == .allow)
            #expect(decision.reason == .domainExpired)
            #expect(!decision.isEnforced)
        }
        rules.entry.expiresAt = Cast.later
        rules.entry.mode = .enforce
        #expect(try rules.decision().reason == .noMatchingPin)
    }

    @Test("6. an entry that is off expects nothing, not even of a path that matches")
    func of6AnEntryThatIsOffExpectsNothingNotEvenOfAPathThatMatches() throws {
        var rules = Rules()
        rules.denied = []
        rules.suspended = []
        rules.entry.mode = .off
        for pin in [Cast.leaf.pin, Cast.backup.pin] {
            rules.entry.pins = [KnownPin(pin)]
            let decision = try rules.decision()
            #expect(decision.verdict == .allow)
            #expect(decision.reason == .notPinned)
            #expect(!decision.isEnforced)
            #expect(decision.matched == nil)
            #expect(decision.entry?.mode == .off)
        }
    }

    @Test("7. a match allows, and says which pin and which certificate", arguments: [0, 1, 2])
    func of7AMatchAllowsAndSaysWhichPinAndWhichCertificate(index: Int) throws {
        let pin = [Cast.leaf, Cast.intermediate, Cast.root][index].pin
        var rules = Rules()
        rules.denied = []
        rules.suspended = []
        rules.entry.pins = [KnownPin(Cast.backup.pin), KnownPin(pin)]
        let decision = try rules.decision()
        #expect(decision.verdict == .allow)
        #expect(decision.reason == .pinMatch)
        #expect(decision.isEnforced)
        #expect(decision.matched == PinningDecision.Match(pin: pin, index: index))
        #expect(decision.matchedIssuer == nil)
    }

    @Test(
        "8. no match blocks where the entry is enforced, and is otherwise allowed with the same reason",
        arguments: [
            (PinnedDomain.Mode.enforce, true, PinningDecision.Verdict.block), (.enforce, false, .allow),
            (.report, true, .allow), (.report, false, .allow),
        ])
    func of8NoMatchBlocksWhereTheEntryIsEnforcedAndIsOtherwiseAllowedWithTheSameReason(
        mode: PinnedDomain.Mode, isInRollout: Bool, verdict: PinningDecision.Verdict
    ) throws {
        var rules = Rules()
        rules.denied = []
        rules.suspended = []
        rules.entry.mode = mode
        rules.entry.isInRollout = isInRollout
        let decision = try rules.decision()
        #expect(decision.verdict == verdict)
        #expect(decision.reason == .noMatchingPin)
        #expect(decision.isEnforced == (verdict == .block))
        #expect(decision.matched == nil)

        rules.entry.pins = [KnownPin(Cast.leaf.pin)]
        #expect(try rules.decision().reason == .pinMatch)
        #expect(try rules.decision().isEnforced == (verdict == .block))
    }

    @Test("an entry that enforces without a usable pin blocks: it never opens", arguments: [false, true])
    func entryThatEnforcesWithoutAUsablePinBlocksItNeverOpens(requireIssuer: Bool) throws {
        var rules = Rules()
        rules.denied = []
        rules.suspended = []
        rules.entry.pins = []
        rules.entry.requireIssuer = requireIssuer
        #expect(try rules.decision().verdict == .block)
        #expect(try rules.decision().reason == .noMatchingPin)
    }

    @Test("a decision names the list and the path it was made of")
    func decisionNamesTheListAndThePathItWasMadeOf() throws {
        let decision = try Rules().decision(for: "API.example.com.")
        #expect(decision.host == "api.example.com")
        #expect(decision.entry?.domain == Rules.host)
        #expect(decision.list == ListIdentity(name: "com.example.app", version: 7, stale: false))
        #expect(decision.path.publicKeyPins == [Cast.leaf.pin, Cast.intermediate.pin, Cast.root.pin])
    }
}
