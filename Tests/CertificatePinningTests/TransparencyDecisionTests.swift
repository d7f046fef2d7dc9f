// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@Suite("A policy of Certificate Transparency beside the pins")
struct TransparencyDecisionTests {
    private static func evaluation(_ isSatisfied: Bool) -> TransparencyEvaluation {
        TransparencyEvaluation(
            policy: "chrome", isSatisfied: isSatisfied, detail: "1 log of 1 operator",
            timestamps: [
                .init(
                    log: "bG9n", operatorName: "A\u{202e}", timestamp: Timestamp(secondsSince1970: 0), status: .valid),
                .init(log: nil, operatorName: nil, timestamp: nil, status: .malformed),
            ])
    }

    /// The decision on the real server under an entry with this pin.
    private static func decision(
        pin: Pin = Cast.leaf.pin, mode: PinnedDomain.Mode = .enforce, expiresAt: Timestamp? = nil,
        suspended: [Suspension] = []
    ) throws -> PinningDecision {
        let entry = PinnedDomain(
            try HostName("api.example.com"), mode: mode, pins: [KnownPin(pin)], expiresAt: expiresAt)
        return try PinningPolicy(domains: [entry], suspended: suspended)
            .validate(Cast.path, for: "api.example.com", at: Cast.now)
    }

    @Test("a path that matches and is not logged as the policy asks is refused, and what matched is still said")
    func pathThatMatchesAndIsNotLoggedAsThePolicyAsksIsRefused() throws {
        let decision = try Self.decision().requiring(Self.evaluation(false))
        #expect(decision.verdict == .block && decision.reason == .transparency && decision.isEnforced)
        #expect(decision.matched?.pin == Cast.leaf.pin && decision.transparency == Self.evaluation(false))
    }

    @Test("a policy that is satisfied changes nothing but what is said")
    func policyThatIsSatisfiedChangesNothingButWhatIsSaid() throws {
        let decision = try Self.decision().requiring(Self.evaluation(true))
        #expect(decision.verdict == .allow && decision.reason == .pinMatch)
        #expect(decision.transparency?.isSatisfied == true)
    }

    @Test("an entry that only reports lets the path in, for that reason")
    func entryThatOnlyReportsLetsThePathInForThatReason() throws {
        let decision = try Self.decision(mode: .report).requiring(Self.evaluation(false))
        #expect(decision.verdict == .allow && decision.reason == .transparency && !decision.isEnforced)
    }

    @Test("a mismatch, a denied host, a suspension, an entry that has ended or is off ask for no evaluation")
    func mismatchADeniedHostASuspensionAnEntryThatHasEndedOrIsOffAskForNoEvaluation() throws {
        let suspension = Suspension(.everything, until: Cast.later, reason: "a drill")
        let decisions = [
            try Self.decision(pin: Cast.backup.pin), try Self.decision(pin: Cast.backup.pin, mode: .report),
            try Self.decision(suspended: [suspension]), try Self.decision(expiresAt: Cast.earlier),
            try Self.decision(mode: .off),
            PinningPolicy(unlisted: .deny).validate(Cast.path, for: "example.org", at: Cast.now),
            PinningPolicy(unlisted: .report).validate(Cast.path, for: "example.org", at: Cast.now),
        ]
        for decision in decisions {
            #expect(decision.requiring(Self.notToBeAsked()) == decision)
        }
    }

    private static func notToBeAsked() -> TransparencyEvaluation {
        Issue.record("the policy was asked")
        return self.evaluation(false)
    }

    @Test("without any rules the policy alone decides on what default validation accepted")
    func withoutAnyRulesThePolicyAloneDecidesOnWhatDefaultValidationAccepted() throws {
        let decision = PinningPolicy(unlisted: .allow).validate(Cast.path, for: "example.org", at: Cast.now)
        #expect(decision.requiring(Self.evaluation(true)).verdict == .allow)
        #expect(decision.requiring(Self.evaluation(true)).reason == .notPinned)
        let refused = decision.requiring(Self.evaluation(false))
        #expect(refused.verdict == .block && refused.reason == .transparency && refused.isEnforced)
    }

    @Test("the JSON has the members of the specification; what is not known is absent")
    func jsonHasTheMembersOfTheSpecificationWhatIsNotKnownIsAbsent() throws {
        let decision = try Self.decision().requiring(Self.evaluation(false))
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(decision)) as? [String: Any]
        let transparency = try #require(object?["transparency"] as? [String: Any])
        #expect(Set(transparency.keys) == ["policy", "satisfied", "detail", "scts"])
        #expect(transparency["policy"] as? String == "chrome" && transparency["satisfied"] as? Bool == false)
        let timestamps = try #require(transparency["scts"] as? [[String: String]])
        #expect(
            timestamps == [
                ["log": "bG9n", "operator": "A\u{202e}", "timestamp": "1970-01-01T00:00:00Z", "status": "valid"],
                ["status": "malformed"],
            ])
        let without = try JSONSerialization.jsonObject(with: JSONEncoder().encode(Self.decision())) as? [String: Any]
        #expect(without?.keys.contains("transparency") == false)
    }

    @Test("the text has a line for each timestamp, without what cannot be seen, and the policy's verdict")
    func textHasALineForEachTimestampWithoutWhatCannotBeSeenAndThePolicysVerdict() throws {
        let lines = try Self.decision().requiring(Self.evaluation(false)).description.split(separator: "\n")
        #expect(lines.first?.hasPrefix("api.example.com: block (transparency). ") == true)
        #expect(
            lines.suffix(4) == [
                "  Transparency:", "    valid  1970-01-01T00:00:00Z  bG9n  A?", "    malformed",
                "    chrome: not satisfied: 1 log of 1 operator",
            ])
    }
}
