// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListRepository
import Testing

@Suite("Domains under which the public can register")
struct PublicSuffixTests {
    // From the test cases that publicsuffix.org publishes, and from its rules.
    @Test(
        "rules, wildcards and exceptions",
        arguments: [
            ("com", true), ("co.uk", true), ("example.com", false), ("b.example.co.uk", false), ("ck", true),
            ("test.ck", true), ("www.ck", false), ("b.test.ck", false), ("city.kobe.jp", false), ("c.kobe.jp", true),
            ("kobe.jp", true), ("github.io", true), ("me.github.io", false), ("xn--55qx5d.cn", true),
            ("shishi.xn--55qx5d.cn", false), ("xn--fiqs8s", true), ("localhost", false), ("192.0.2.1", false),
        ])
    func rulesWildcardsAndExceptions(host: String, isSuffix: Bool) throws {
        #expect(PublicSuffixes.contains(try HostName(host)) == isSuffix)
    }

    @Test("a top level that no rule knows, where subdomains are included")
    func topLevelThatNoRuleKnowsWhereSubdomainsAreIncluded() throws {
        #expect(PublicSuffixes.contains(try HostName("internal"), orUnknownTopLevel: true))
        #expect(!PublicSuffixes.contains(try HostName("api.internal"), orUnknownTopLevel: true))
    }
}
