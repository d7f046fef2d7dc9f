// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

/// Connections that never had a validated path, and unreadable questions.
@Suite("Refusals without a path")
struct RefusalTests {
    private func policy() throws -> PinningPolicy {
        try PinningPolicy(
            list: ListIdentity(name: "com.example.app", version: 7, stale: true),
            domains: [
                PinnedDomain(
                    HostName("example.com"), includeSubdomains: true, mode: .report, pins: [KnownPin(Cast.leaf.pin)])
            ],
            suspended: [Suspension(.everything, until: Cast.later, reason: "incident")])
    }

    @Test(
        "what a transport refuses stays refused: no mode, suspension or rule for unlisted hosts allows it",
        arguments: [
            PinningDecision.Reason.chainInvalid, .noCertificates, .overBudget, .cleartext,
            .init(code: "of-a-transport"),
        ])
    func whatATransportRefusesStaysRefusedNoMode(reason: PinningDecision.Reason) throws {
        for host in ["API.example.com.", "elsewhere.example.org"] {
            let decision = try self.policy().refusal(of: host, reason, detail: "why")
            #expect(decision.verdict == .block)
            #expect(decision.isEnforced)
            #expect(decision.reason == reason)
            #expect(decision.detail == "why")
            #expect(decision.path.certificates.isEmpty)
            #expect(decision.matched == nil && decision.matchedIssuer == nil && decision.denied == nil)
        }
    }

    @Test("it names the entry, the list and what there is of a path, so that it can be reported")
    func itNamesTheEntryTheListAndWhatThereIsOfAPathSoThatItCanBeReported() throws {
        let decision = try self.policy().refusal(of: "API.example.com.", .chainInvalid, path: Cast.interceptorPath)
        #expect(decision.host == "api.example.com")
        #expect(decision.entry?.domain.description == "example.com")
        #expect(decision.list == ListIdentity(name: "com.example.app", version: 7, stale: true))
        #expect(decision.path == Cast.interceptorPath)
        #expect(try self.policy().refusal(of: "elsewhere.example.org", .chainInvalid).entry == nil)
    }

    @Test(
        "a host that does not normalise is refused as that, before anything else that is wrong",
        arguments: ["", "127.1", "a..b"])
    func hostThatDoesNotNormaliseIsRefusedAsThatBeforeAnythingElseThatIsWrong(host: String) throws {
        let decision = try self.policy().refusal(of: host, .pinMatch, detail: "something else")
        #expect(decision.reason == .hostInvalid)
        #expect(decision.verdict == .block)
        #expect(decision.host == host)
        #expect(decision.detail != nil && decision.detail != "something else")
    }

    @Test("a question that could not be read is refused, and says why")
    func questionThatCouldNotBeReadIsRefusedAndSaysWhy() {
        let decision = PinningDecision(unreadableQuestionFor: "", detail: "line 7 is not JSON")
        #expect(decision.verdict == .block)
        #expect(decision.reason == .malformed)
        #expect(decision.isEnforced)
        #expect(decision.list == nil && decision.entry == nil && decision.path.certificates.isEmpty)
        #expect(decision.description.contains("The question could not be read."))
        #expect(decision.description.contains("line 7 is not JSON"))
    }
}
