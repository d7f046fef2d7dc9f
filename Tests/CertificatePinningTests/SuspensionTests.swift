// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@Suite("Suspensions, the kill switch")
struct SuspensionTests {
    private static let names = ["example.com", "api.example.com", "legacy.example.com"]

    /// Three entries, all of which block, the first with its subdomains.
    private func policy(
        suspending scope: Suspension.Scope, until end: Timestamp = Cast.later, unlisted: UnlistedHosts = .deny
    ) throws -> PinningPolicy {
        try PinningPolicy(
            domains: Self.names.map { name in
                PinnedDomain(
                    try HostName(name), includeSubdomains: name == Self.names[0], pins: [KnownPin(Cast.backup.pin)])
            },
            suspended: [Suspension(scope, until: end, reason: "incident 4711")], unlisted: unlisted)
    }

    private func reason(
        _ policy: PinningPolicy, _ host: String, at time: Timestamp = Cast.now
    ) -> PinningDecision.Reason {
        policy.validate(Cast.path, for: host, at: time).reason
    }

    @Test("a named one is for the noted hostname: its own subdomains, not its parents, children or neighbours")
    func namedOneIsForTheNotedHostnameItsOwnSubdomainsNotItsParents() throws {
        let parent = try self.policy(suspending: .entry(HostName("example.com")))
        #expect(self.reason(parent, "example.com") == .suspended)
        #expect(self.reason(parent, "www.example.com") == .suspended)
        #expect(self.reason(parent, "api.example.com") == .noMatchingPin)
        #expect(self.reason(parent, "legacy.example.com") == .noMatchingPin)
        #expect(self.reason(parent, "example.org") == .unlistedDenied)

        let child = try self.policy(suspending: .entry(HostName("API.example.com.")))
        #expect(self.reason(child, "api.example.com") == .suspended)
        #expect(self.reason(child, "example.com") == .noMatchingPin)
        #expect(self.reason(child, "v2.api.example.com") == .noMatchingPin)
    }

    @Test("one that names a host without an entry of its own suspends nothing")
    func oneThatNamesAHostWithoutAnEntryOfItsOwnSuspendsNothing() throws {
        let policy = try self.policy(suspending: .entry(HostName("www.example.com")))
        #expect(self.reason(policy, "www.example.com") == .noMatchingPin)
        let unlisted = try self.policy(suspending: .entry(HostName("example.org")))
        #expect(self.reason(unlisted, "example.org") == .unlistedDenied)
    }

    @Test("`*` is for every entry and for the rule for unlisted hosts", arguments: UnlistedHosts.allCases)
    func isForEveryEntryAndForTheRuleForUnlistedHosts(unlisted: UnlistedHosts) throws {
        let policy = try self.policy(suspending: .everything, unlisted: unlisted)
        for host in Self.names + ["www.example.com", "example.org", "10.0.0.1"] {
            let decision = policy.validate(Cast.path, for: host, at: Cast.now)
            #expect(decision.reason == .suspended)
            #expect(decision.verdict == .allow)
            #expect(!decision.isEnforced)
        }
    }

    @Test("it does not make a host of what is none, nor a path of nothing")
    func itDoesNotMakeAHostOfWhatIsNoneNorAPathOfNothing() throws {
        let policy = try self.policy(suspending: .everything)
        #expect(self.reason(policy, "127.1") == .hostInvalid)
        let nothing = ValidatedPath(uncheckedValidatedPath: [])
        #expect(policy.validate(nothing, for: "example.com", at: Cast.now).verdict == .block)
    }

    @Test("it holds up to the second before `until`, and at `until` no more")
    func itHoldsUpToTheSecondBeforeUntilAndAtUntilNoMore() throws {
        let policy = try self.policy(suspending: .everything, until: Cast.now)
        #expect(self.reason(policy, "example.com", at: Cast.earlier) == .suspended)
        #expect(self.reason(policy, "example.com", at: Cast.now) == .noMatchingPin)
        #expect(self.reason(policy, "example.com", at: Cast.later) == .noMatchingPin)
        #expect(self.reason(policy, "example.org", at: Cast.now) == .unlistedDenied)
    }

    @Test("one that has ended does not hide one that holds, whichever comes first", arguments: [false, true])
    func oneThatHasEndedDoesNotHideOneThatHoldsWhicheverComesFirst(isEndedFirst: Bool) throws {
        let ended = Suspension(.everything, until: Cast.now, reason: "old")
        let holding = Suspension(.entry(try HostName("api.example.com")), until: Cast.later, reason: "new")
        let policy = try PinningPolicy(
            domains: [PinnedDomain(HostName("api.example.com"), pins: [])],
            suspended: isEndedFirst ? [ended, holding] : [holding, ended], unlisted: .deny)
        #expect(self.reason(policy, "api.example.com") == .suspended)
        #expect(self.reason(policy, "example.org") == .unlistedDenied)
    }

    @Test("a suspended entry is named, so that a report can be sent where it says")
    func suspendedEntryIsNamedSoThatAReportCanBeSentWhereItSays() throws {
        let policy = try self.policy(suspending: .everything)
        let decision = policy.validate(Cast.path, for: "www.example.com", at: Cast.now)
        #expect(decision.entry?.domain.description == "example.com")
        #expect(decision.host == "www.example.com")
    }
}
