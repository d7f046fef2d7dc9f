// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@Suite("A response over a connection that was evaluated for another host")
struct OtherHostConnectionTests {
    private func policy(
        mode: PinnedDomain.Mode = .enforce, denied: [DeniedKey] = [], suspended: [Suspension] = [],
        unlisted: UnlistedHosts = .allow
    ) throws -> PinningPolicy {
        let entry = PinnedDomain(
            try HostName("api.example.com"), mode: mode, pins: [KnownPin(Cast.leaf.pin)], reportTo: [])
        return try PinningPolicy(domains: [entry], denied: denied, suspended: suspended, unlisted: unlisted)
    }

    private func decision(
        _ policy: PinningPolicy, over path: ValidatedPath?, for host: String = "api.example.com"
    ) -> PinningDecision {
        policy.validateResponse(for: host, over: path, evaluatedFor: "www.example.com", at: Cast.now)
    }

    @Test("passes when that connection's path satisfies this host's pins")
    func passesWhenThatConnectionsPathSatisfiesThisHostsPins() throws {
        let decision = self.decision(try self.policy(), over: Cast.path)
        #expect(decision.verdict == .allow)
        #expect(decision.reason == .pinMatch)
    }

    @Test("is refused when it does not, and the refusal names the other host")
    func isRefusedWhenItDoesNotAndTheRefusalNamesTheOtherHost() throws {
        let decision = self.decision(try self.policy(), over: Cast.interceptorPath)
        #expect(decision.verdict == .block)
        #expect(decision.reason == .otherHostConnection)
        #expect(decision.detail == "the connection that answered was evaluated for www.example.com")
        #expect(decision.path == Cast.interceptorPath)
    }

    @Test("is refused when the path is not known, and reported where the entry reports")
    func isRefusedWhenThePathIsNotKnownAndReportedWhereTheEntryReports() throws {
        let refused = self.decision(try self.policy(), over: nil)
        #expect(refused.verdict == .block)
        #expect(refused.reason == .otherHostConnection)
        let reported = self.decision(try self.policy(mode: .report), over: nil)
        #expect(reported.verdict == .allow)
        #expect(reported.reason == .otherHostConnection)
        #expect(!reported.isEnforced)
    }

    @Test("is no matter where pins expect nothing: an unlisted host, an entry that is off, a suspension")
    func isNoMatterWherePinsExpectNothingAnUnlistedHostAnEntryThatIsOffASuspension() throws {
        let suspension = Suspension(.everything, until: Cast.later, reason: "test")
        #expect(self.decision(try self.policy(mode: .off), over: nil).reason == .notPinned)
        #expect(self.decision(try self.policy(suspended: [suspension]), over: nil).reason == .suspended)
        #expect(self.decision(try self.policy(), over: nil, for: "other.example.net").verdict == .allow)
        #expect(self.decision(try self.policy(unlisted: .deny), over: nil, for: "other.example.net").verdict == .block)
    }

    @Test("is refused for a denied key as that")
    func isRefusedForADeniedKeyAsThat() throws {
        let policy = try self.policy(denied: [DeniedKey(Cast.interceptor.pin)])
        #expect(self.decision(policy, over: Cast.interceptorPath).reason == .deniedKey)
    }
}

@Suite("Rules that only report")
struct ReportingOnlyTests {
    @Test("find the same mismatches, and refuse none")
    func findTheSameMismatchesAndRefuseNone() throws {
        let policy = try PinningPolicy(
            domains: [
                PinnedDomain(try HostName("api.example.com"), includeSubdomains: true, pins: [KnownPin(Cast.leaf.pin)]),
                PinnedDomain(try HostName("off.api.example.com"), mode: .off, pins: []),
            ], denied: [DeniedKey(Cast.interceptorRoot.pin)], unlisted: .deny
        ).reportingOnly
        for host in ["api.example.com", "v2.api.example.com"] {
            let decision = policy.validate(Cast.interceptorPath, for: host, at: Cast.now)
            #expect(decision.verdict == .allow)
            #expect(decision.reason == .noMatchingPin)
            #expect(decision.denied != nil)
        }
        #expect(policy.validate(Cast.path, for: "api.example.com", at: Cast.now).reason == .pinMatch)
        #expect(policy.validate(Cast.path, for: "off.api.example.com", at: Cast.now).reason == .notPinned)
        #expect(policy.validate(Cast.path, for: "example.net", at: Cast.now).reason == .unlistedReported)
    }
}
