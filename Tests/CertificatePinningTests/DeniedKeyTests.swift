// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@Suite("Denied keys")
struct DeniedKeyTests {
    private func entry(_ mode: PinnedDomain.Mode = .enforce, isInRollout: Bool = true) throws -> PinnedDomain {
        PinnedDomain(
            try HostName("api.example.com"), mode: mode, isInRollout: isInRollout, pins: [KnownPin(Cast.leaf.pin)])
    }

    @Test("a stolen key is refused anywhere in the path, even where its own pin is expected", arguments: [0, 1, 2])
    func stolenKeyIsRefusedAnywhereInThePathEvenWhereItsOwnPinIsExpected(index: Int) throws {
        let pin = [Cast.leaf, Cast.intermediate, Cast.root][index].pin
        let policy = try PinningPolicy(domains: [self.entry()], denied: [DeniedKey(Cast.backup.pin), DeniedKey(pin)])
        let decision = policy.validate(Cast.path, for: "api.example.com", at: Cast.now)
        #expect(decision.reason == .deniedKey)
        #expect(decision.verdict == .block)
        #expect(decision.denied == PinningDecision.Match(pin: pin, index: index))
    }

    @Test("a denied certificate is refused as itself; the same key in another one is not")
    func deniedCertificateIsRefusedAsItselfTheSameKeyInAnotherOneIsNot() throws {
        let policy = try PinningPolicy(domains: [self.entry()], denied: [DeniedKey(Cast.leaf.certificatePin)])
        #expect(policy.validate(Cast.path, for: "api.example.com", at: Cast.now).reason == .deniedKey)
        let renewed = SketchedCertificate(subject: "renewed", key: Array(1...32))
        #expect(renewed.pin == Cast.leaf.pin)
        let path = ValidatedPath(uncheckedValidatedPath: [renewed.der, Cast.root.der])
        #expect(policy.validate(path, for: "api.example.com", at: Cast.now).reason == .pinMatch)
    }

    @Test("it holds in every mode, for every rollout share, after the entry's expiry and for unlisted hosts")
    func itHoldsInEveryModeForEveryRolloutShare() throws {
        let denied = [DeniedKey(Cast.intermediate.pin)]
        var entries: [PinnedDomain] = []
        for mode in PinnedDomain.Mode.allCases {
            for isInRollout in [true, false] {
                for end in [nil, Cast.earlier, Cast.later] {
                    var entry = try self.entry(mode, isInRollout: isInRollout)
                    entry.expiresAt = end
                    entries.append(entry)
                }
            }
        }
        for entry in entries {
            let policy = try PinningPolicy(domains: [entry], denied: denied)
            #expect(policy.validate(Cast.path, for: "api.example.com", at: Cast.now).reason == .deniedKey)
        }
        for unlisted in UnlistedHosts.allCases {
            let policy = try PinningPolicy(domains: [], denied: denied, unlisted: unlisted)
            let decision = policy.validate(Cast.path, for: "elsewhere.example.org", at: Cast.now)
            #expect(decision.reason == .deniedKey)
            #expect(decision.isEnforced)
        }
    }

    @Test("no suspension relaxes it, named or for everything")
    func noSuspensionRelaxesItNamedOrForEverything() throws {
        for scope in [Suspension.Scope.everything, .entry(try HostName("api.example.com"))] {
            let policy = try PinningPolicy(
                domains: [self.entry()], denied: [DeniedKey(Cast.root.pin)],
                suspended: [Suspension(scope, until: Cast.later, reason: "incident")])
            #expect(policy.validate(Cast.path, for: "api.example.com", at: Cast.now).reason == .deniedKey)
        }
    }

    @Test("an entry that only reports changes no verdict, and is named in the decision")
    func entryThatOnlyReportsChangesNoVerdictAndIsNamedInTheDecision() throws {
        let denied = [DeniedKey(Cast.root.pin, isEnforced: false)]
        let matching = try PinningPolicy(domains: [self.entry()], denied: denied)
        let decision = matching.validate(Cast.path, for: "api.example.com", at: Cast.now)
        #expect(decision.verdict == .allow)
        #expect(decision.reason == .pinMatch)
        #expect(decision.denied == PinningDecision.Match(pin: Cast.root.pin, index: 2))

        let unlisted = matching.validate(Cast.path, for: "elsewhere.example.org", at: Cast.now)
        #expect(unlisted.reason == .notPinned)
        #expect(unlisted.denied != nil)

        var mismatching = try self.entry()
        mismatching.pins = [KnownPin(Cast.backup.pin)]
        let blocked = try PinningPolicy(domains: [mismatching], denied: denied)
            .validate(Cast.path, for: "api.example.com", at: Cast.now)
        #expect(blocked.verdict == .block)
        #expect(blocked.reason == .noMatchingPin)
        #expect(blocked.denied != nil)
    }

    @Test(
        "an entry that only reports does not hide one that enforces, whichever comes first", arguments: [false, true])
    func entryThatOnlyReportsDoesNotHideOneThatEnforcesWhicheverComesFirst(isReportFirst: Bool) throws {
        let reported = [DeniedKey(Cast.leaf.pin, isEnforced: false), DeniedKey(Cast.root.pin, isEnforced: false)]
        let enforced = [DeniedKey(Cast.root.pin)]
        let policy = try PinningPolicy(
            domains: [self.entry()], denied: isReportFirst ? reported + enforced : enforced + reported)
        let decision = policy.validate(Cast.path, for: "api.example.com", at: Cast.now)
        #expect(decision.verdict == .block)
        #expect(decision.reason == .deniedKey)
        #expect(decision.denied == PinningDecision.Match(pin: Cast.root.pin, index: 2))
    }

    @Test(
        "an unreadable certificate beside a deny set: its key may be a denied one",
        arguments: [UnlistedHosts.allow, .report, .deny])
    func unreadableCertificateBesideADenySetItsKeyMayBeADeniedOne(unlisted: UnlistedHosts) throws {
        let policy = try PinningPolicy(
            domains: [self.entry()], denied: [DeniedKey(Cast.backup.pin)],
            suspended: [Suspension(.everything, until: Cast.later, reason: "incident")], unlisted: unlisted)
        for certificates in [
            [Cast.leaf.der, Cast.unreadable, Cast.root.der], [Cast.leaf.der, Cast.root.der, []], [Cast.unreadable],
        ] {
            let path = ValidatedPath(uncheckedValidatedPath: certificates)
            for host in ["api.example.com", "elsewhere.example.org"] {
                let decision = policy.validate(path, for: host, at: Cast.now)
                #expect(decision.verdict == .block)
                #expect(decision.reason == .deniedUndecidable)
                #expect(decision.isEnforced)
                #expect(decision.denied == nil)
            }
        }
    }

    @Test("a denied key that can be read is named before a certificate that cannot")
    func deniedKeyThatCanBeReadIsNamedBeforeACertificateThatCannot() throws {
        let policy = try PinningPolicy(domains: [self.entry()], denied: [DeniedKey(Cast.root.pin)])
        let path = ValidatedPath(uncheckedValidatedPath: [Cast.unreadable, Cast.root.der])
        #expect(policy.validate(path, for: "api.example.com", at: Cast.now).reason == .deniedKey)
    }

    @Test("a deny set that only reports, or none, leaves the other certificates to be looked at")
    func denySetThatOnlyReportsOrNoneLeavesTheOtherCertificatesToBeLookedAt() throws {
        let path = ValidatedPath(uncheckedValidatedPath: [Cast.leaf.der, Cast.unreadable, Cast.root.der])
        for denied in [[], [DeniedKey(Cast.backup.pin, isEnforced: false)]] {
            let policy = try PinningPolicy(domains: [self.entry()], denied: denied)
            let decision = policy.validate(path, for: "api.example.com", at: Cast.now)
            #expect(decision.reason == .pinMatch)
            #expect(decision.matched?.index == 0)
        }
    }
}
