// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@Suite("A request without TLS")
struct CleartextTests {
    static let now = Timestamp(secondsSince1970: 1_795_219_200)

    private func decision(
        mode: PinnedDomain.Mode = .enforce, isInRollout: Bool = true, expiresAt: Timestamp? = nil,
        suspended: [Suspension] = [], unlisted: UnlistedHosts = .allow, to host: String = "api.example.com"
    ) throws -> PinningDecision {
        let entry = PinnedDomain(
            try HostName("api.example.com"), mode: mode, isInRollout: isInRollout,
            pins: [KnownPin(Pin(kind: .publicKey, hashing: [1]))], expiresAt: expiresAt)
        let policy = try PinningPolicy(domains: [entry], suspended: suspended, unlisted: unlisted)
        return policy.cleartext(to: host, at: Self.now)
    }

    @Test("is refused to a host whose entry enforces")
    func isRefusedToAHostWhoseEntryEnforces() throws {
        let decision = try self.decision()
        #expect(decision.verdict == .block)
        #expect(decision.reason == .cleartext)
        #expect(decision.isEnforced)
    }

    @Test("is reported to a host whose entry reports, or that is outside the rollout")
    func isReportedToAHostWhoseEntryReportsOrThatIsOutsideTheRollout() throws {
        for decision in [try self.decision(mode: .report), try self.decision(isInRollout: false)] {
            #expect(decision.verdict == .allow)
            #expect(decision.reason == .cleartext)
            #expect(!decision.isEnforced)
        }
    }

    @Test("goes as default validation would have it where pins expect nothing")
    func goesAsDefaultValidationWouldHaveItWherePinsExpectNothing() throws {
        let suspension = Suspension(
            .everything, until: Timestamp(secondsSince1970: Self.now.secondsSince1970 + 1), reason: "test")
        #expect(try self.decision(suspended: [suspension]).reason == .suspended)
        #expect(try self.decision(mode: .off).reason == .notPinned)
        #expect(try self.decision(expiresAt: Self.now).reason == .domainExpired)
        #expect(try self.decision(to: "other.example.com").reason == .notPinned)
        #expect(try self.decision(unlisted: .report, to: "other.example.com").reason == .unlistedReported)
        #expect(try self.decision(suspended: [suspension]).verdict == .allow)
    }

    @Test("is refused to an unlisted host where those are denied, and to what is no host")
    func isRefusedToAnUnlistedHostWhereThoseAreDeniedAndToWhatIsNoHost() throws {
        #expect(try self.decision(unlisted: .deny, to: "other.example.com").verdict == .block)
        #expect(try self.decision(to: "no host").reason == .hostInvalid)
        #expect(try self.decision(to: "no host").verdict == .block)
    }
}
