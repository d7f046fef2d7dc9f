// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@Suite("A decision in words")
struct DecisionTextTests {
    private static let list = ListIdentity(name: "com.example.app", version: 7, stale: false)

    private func entry(_ pins: [KnownPin], mode: PinnedDomain.Mode = .enforce) throws -> PinnedDomain {
        PinnedDomain(try HostName("example.com"), includeSubdomains: true, mode: mode, pins: pins)
    }

    @Test("a refusal shows the host, what was expected, and what was seen, certificate by certificate")
    func refusalShowsTheHostWhatWasExpectedAndWhatWasSeenCertificateByCertificate() throws {
        let policy = try PinningPolicy(
            list: Self.list,
            domains: [
                self.entry([
                    KnownPin(Cast.leaf.pin, position: .leaf, note: "current"), KnownPin(Cast.backup.certificatePin),
                    KnownPin(Cast.root.pin, position: .issuer),
                ])
            ])
        let path = ValidatedPath(
            uncheckedValidatedPath: [Cast.interceptor.der, Cast.unreadable, Cast.interceptorRoot.der])
        let decision = policy.validate(path, for: "API.example.com.", at: Cast.now)
        #expect(
            decision.description == """
                api.example.com: block (no-matching-pin). No certificate of the validated path matches a pin.
                  Expected for example.com, list com.example.app version 7:
                    \(Cast.leaf.pin)  leaf  current
                    \(Cast.backup.certificatePin)
                    \(Cast.root.pin)  issuer
                  Seen, leaf first:
                    \(Cast.interceptor.pin)  CN=api.example.com
                    (a certificate that cannot be read)  \n\
                    \(Cast.interceptorRoot.pin)  CN=Interceptor Root
                """)
    }

    @Test("a match is marked where it lies, both of them with requireIssuer, and rules made in code name no list")
    func matchIsMarkedWhereItLiesBothOfThemWithRequireIssuer() throws {
        var entry = try self.entry([
            KnownPin(Cast.leaf.pin, position: .leaf), KnownPin(Cast.root.pin, position: .issuer),
        ])
        entry.requireIssuer = true
        let text = try PinningPolicy(domains: [entry]).validate(Cast.path, for: "example.com", at: Cast.now).description
        let lines = text.split(separator: "\n")
        #expect(lines.first == "example.com: allow (pin-match). A certificate of the validated path matches a pin.")
        #expect(lines.contains("  Expected for example.com:"))
        #expect(lines.filter { $0.contains("<- matches") }.count == 2)
        #expect(lines.contains("    \(Cast.leaf.pin)  CN=api.example.com  <- matches"))
        #expect(lines.contains("    \(Cast.intermediate.pin)  CN=Example Intermediate"))
        #expect(lines.contains("    \(Cast.root.pin)  CN=Example Root  <- matches"))
    }

    @Test("a denied key is marked where it lies, refused or only reported", arguments: [true, false])
    func deniedKeyIsMarkedWhereItLiesRefusedOrOnlyReported(isEnforced: Bool) throws {
        let policy = try PinningPolicy(
            domains: [self.entry([KnownPin(Cast.leaf.pin)])],
            denied: [DeniedKey(Cast.intermediate.pin, isEnforced: isEnforced)])
        let text = policy.validate(Cast.path, for: "example.com", at: Cast.now).description
        #expect(text.contains("\(Cast.intermediate.pin)  CN=Example Intermediate  <- denied"))
        #expect(text.hasPrefix("example.com: \(isEnforced ? "block (denied-key)" : "allow (pin-match)")."))
        #expect(text.contains("<- matches") == !isEnforced)
        // The first line stands alone, in a log too.
        let first = text.split(separator: "\n").first
        let words = isEnforced ? "A key of the validated path is denied." : "is denied; this is only reported."
        #expect(first?.hasSuffix(words) == true)
    }

    @Test("the first line says that a mismatch is only reported")
    func firstLineSaysThatAMismatchIsOnlyReported() throws {
        let decision = try PinningPolicy(domains: [self.entry([KnownPin(Cast.backup.pin)], mode: .report)])
            .validate(Cast.path, for: "example.com", at: Cast.now)
        #expect(decision.description.hasPrefix("example.com: allow (no-matching-pin)."))
        #expect(decision.description.split(separator: "\n").first?.hasSuffix("this is only reported.") == true)
    }

    @Test("a detail stands on its own line; without certificates or pins there is nothing to list")
    func detailStandsOnItsOwnLineWithoutCertificatesOrPinsThereIsNothingToList() throws {
        let policy = try PinningPolicy(list: Self.list, domains: [self.entry([], mode: .off)])
        let decision = policy.refusal(of: "example.com", .chainInvalid, detail: "no path to a trusted root")
        #expect(
            decision.description == """
                example.com: block (chain-invalid). The presented chain does not validate.
                  no path to a trusted root
                """)
    }

    @Test("a refusal for tampering says so, and not that a question could not be read")
    func refusalForTamperingSaysSoAndNotThatAQuestionCouldNotBeRead() throws {
        let decision = try PinningPolicy(domains: [self.entry([KnownPin(Cast.leaf.pin)])])
            .refusal(of: "example.com", .tampering, detail: "debugger-attached, known-agent")
        let lines = decision.description.split(separator: "\n")
        #expect(lines.first?.hasPrefix("example.com: block (tampering). ") == true)
        #expect(lines.first?.contains("signs of tampering") == true)
        #expect(lines.dropFirst().first == "  debugger-attached, known-agent")
    }

    @Test("every reason of the specification has a sentence of its own")
    func everyReasonOfTheSpecificationHasASentenceOfItsOwn() throws {
        let reasons: [PinningDecision.Reason] = [
            .chainInvalid, .noCertificates, .overBudget, .cleartext, .pinMatch, .noMatchingPin, .deniedKey,
            .deniedUndecidable, .suspended, .notPinned, .unlistedReported, .unlistedDenied, .domainExpired,
            .hostInvalid, .otherHostConnection, .tampering, .malformed, .transparency,
        ]
        let policy = try PinningPolicy(domains: [])
        let texts = reasons.map { policy.refusal(of: "example.com", $0).description }
        #expect(Set(texts.map { $0.split(separator: ". ").last }).count == reasons.count)
        for (reason, text) in zip(reasons, texts) { #expect(text.hasPrefix("example.com: block (\(reason)). ")) }
        let unknown = policy.refusal(of: "example.com", .init(code: "of-a-transport")).description
        #expect(unknown.hasPrefix("example.com: block (of-a-transport)."))
    }
}
