// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AppAudit
import Testing

@Suite("Each rule")
struct RuleTests {
    @Test(
        "a rule fires on the fixture that it is for",
        arguments: RuleFixture.swift + RuleFixture.others + RuleFixture.files)
    func aRuleFiresOnTheFixtureThatItIsFor(_ fixture: RuleFixture) {
        #expect(RuleFixture.rules(fixture.path, fixture.fires).contains(fixture.rule))
    }

    @Test(
        "a rule is silent about the fixture that looks alike",
        arguments: RuleFixture.swift + RuleFixture.others + RuleFixture.files)
    func aRuleIsSilentAboutTheFixtureThatLooksAlike(_ fixture: RuleFixture) {
        #expect(!RuleFixture.rules(fixture.path, fixture.quiet).contains(fixture.rule))
    }

    @Test("every rule has a fixture, or a test of its own that names it")
    func everyRuleHasAFixtureOrATestOfItsOwn() {
        let fixed = Set((RuleFixture.swift + RuleFixture.others + RuleFixture.files).map(\.rule))
        let elsewhere: Set<String> = [
            // ListTests
            "ats-exception-for-pinned-host", "ats-pinned-domains-differ", "android-pins-differ", "pin-not-in-list",
            "list-unverified", "list-expired", "list-expiring", "list-age",
            // CertificateTests
            "pin-of-raw-key", "certificate-in-app", "certificate-expired", "certificate-expiring",
            // ArtifactTests
            "own-tls-stack",
        ]
        #expect(Set(AuditRule.all.map(\.id)) == fixed.union(elsewhere))
        #expect(fixed.isDisjoint(with: elsewhere))
    }

    @Test("an error in debug builds alone is a warning")
    func anErrorInDebugBuildsAloneIsAWarning() {
        let text =
            "func f() {\n#if DEBUG\npolicy.validatesDomainName = false\n#else\npolicy.validatesDomainName = false\n#endif\n}"
        let found = RuleFixture.findings([("A.swift", Array(text.utf8))])
        #expect(found.map(\.severity) == [.warning, .error])
        #expect(found.map(\.line) == [3, 5])
    }

    @Test("a finding is allowed at its line and the line above, with a reason, and counts no more")
    func aFindingIsAllowedAtItsLineAndTheLineAbove() {
        let text = """
            let a = WKWebView() // tumbler:allow surface-wkwebview shows a page of the bundle
            // tumbler:allow surface-wkwebview shows a page of the bundle
            let b = WKWebView()
            let c = WKWebView() // tumbler:allow surface-safari it is another rule
            """
        let report = RuleFixture.report([("A.swift", Array(text.utf8))])
        #expect(report.open.map(\.line) == [4])
        #expect(report.findings.count == 3)
        #expect(report.findings.first?.reason == "shows a page of the bundle")
    }

    @Test("a finding of the baseline no longer counts, also when its line has moved; a new one does")
    func findingOfTheBaselineNoLongerCountsAlsoWhenItsLineHasMovedANewOneDoes() {
        let before = RuleFixture.report([("A.swift", Array("let a = URLSession.shared\n".utf8))])
        let known = Set(before.findings.map(\.fingerprint))
        let after = RuleFixture.report(
            [
                (
                    "A.swift",
                    Array("\n\nlet a = URLSession.shared\nlet b = URLSession.shared\nlet a = URLSession.shared\n".utf8)
                )
            ], known: known)
        #expect(after.findings.map(\.suppression) == [.known, nil, nil])
    }

    @Test(
        "validation that is switched off by an argument is found as by an assignment, and a server that asks for no certificate is none"
    )
    func validationThatIsSwitchedOffByAnArgumentIsFound() {
        let argument = "let a = HTTPClient.Configuration(certificateVerification: .none)"
        #expect(RuleFixture.rules("A.swift", argument) == ["trust-invalid-certificates"])
        #expect(
            RuleFixture.rules("A.swift", "let a = HTTPClient.Configuration(certificateVerification: .fullVerification)")
                .isEmpty)
        #expect(
            RuleFixture.rules("A.swift", "clientConfig.certificateVerification = .none") == [
                "trust-invalid-certificates"
            ])
        #expect(RuleFixture.rules("A.swift", "serverConfig.certificateVerification = .none").isEmpty)
        #expect(RuleFixture.rules("A.swift", "serverConfig.certificateVerification = .noHostnameVerification").isEmpty)
    }
}
