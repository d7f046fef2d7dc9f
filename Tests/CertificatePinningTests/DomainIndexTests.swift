// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@Suite("Which entry applies to a host")
struct DomainIndexTests {
    /// The noted hostname for a host, among entries that are written `example.com`, or `*.example.com` for one that
    /// includes its subdomains.
    private func notedHostname(of host: String, among domains: [String]) throws -> String? {
        let policy = try PinningPolicy(
            domains: domains.map { text in
                let includes = text.hasPrefix("*.")
                return PinnedDomain(
                    try HostName(String(text.dropFirst(includes ? 2 : 0))), includeSubdomains: includes, pins: [])
            })
        return policy.entry(for: try HostName(host))?.domain.description
    }

    @Test(
        "the exact name comes first, then the nearest parent that includes its subdomains",
        arguments: [
            ("example.com", "example.com"), ("api.example.com", "api.example.com"), ("www.example.com", "example.com"),
            ("v2.api.example.com", "api.example.com"), ("a.b.v2.api.example.com", "api.example.com"),
            ("x.eu.example.com", "example.com"), ("eu.example.com", "eu.example.com"), ("com", nil), ("org", nil),
            ("example.org", nil), ("example.com.example.org", nil),
        ])
    func exactNameComesFirstThenTheNearestParentThatIncludesItsSubdomains(host: String, expected: String?) throws {
        let domains = ["*.example.com", "*.api.example.com", "eu.example.com"]
        #expect(try self.notedHostname(of: host, among: domains) == expected)
        #expect(try self.notedHostname(of: host, among: domains.reversed()) == expected)
    }

    @Test(
        "names are compared label by label: dynapins' hasSuffix took evilexample.com for a subdomain",
        arguments: [
            "evilexample.com", "evil-example.com", "example.com.evil.org", "xample.com", "e.xample.com", "example.co",
            "example.comx", "example-com", "com.example", "api.evilexample.com", "examplecom",
        ])
    func namesAreComparedLabelByLabelDynapinsHasSuffixTookEvilexampleComForASubdomain(host: String) throws {
        #expect(try self.notedHostname(of: host, among: ["*.example.com"]) == nil)
    }

    @Test(
        "the way a request writes the host does not skip its entry: CVE-2026-129482",
        arguments: ["API.example.COM.", "api.example.com.", "Api.Example.Com"])
    func wayARequestWritesTheHostDoesNotSkipItsEntryCVE2026129482(host: String) throws {
        #expect(try self.notedHostname(of: host, among: ["*.example.com"]) == "example.com")
        #expect(try self.notedHostname(of: host, among: ["api.example.com"]) == "api.example.com")
        #expect(try self.notedHostname(of: "api.example.com", among: [host]) == "api.example.com")
    }

    @Test("a host with an underscore has its entry as any other, and its parent's")
    func hostWithAnUnderscoreHasItsEntryAsAnyOtherAndItsParents() throws {
        #expect(try self.notedHostname(of: "a_b.example.com", among: ["A_B.example.com"]) == "a_b.example.com")
        #expect(try self.notedHostname(of: "a_b.example.com", among: ["*.example.com"]) == "example.com")
        #expect(try self.notedHostname(of: "x.a_b.example.com", among: ["*.a_b.example.com"]) == "a_b.example.com")
        #expect(try self.notedHostname(of: "a-b.example.com", among: ["a_b.example.com"]) == nil)
    }

    @Test("without includeSubdomains an entry is for one name")
    func withoutIncludeSubdomainsAnEntryIsForOneName() throws {
        #expect(try self.notedHostname(of: "example.com", among: ["example.com"]) == "example.com")
        #expect(try self.notedHostname(of: "api.example.com", among: ["example.com"]) == nil)
    }

    @Test("a nearer parent without includeSubdomains does not hide a farther one that has it")
    func nearerParentWithoutIncludeSubdomainsDoesNotHideAFartherOneThatHasIt() throws {
        #expect(
            try self.notedHostname(of: "x.api.example.com", among: ["*.example.com", "api.example.com"])
                == "example.com")
    }

    @Test("a nearer entry replaces a farther one whole, so one that is off carves its hosts out")
    func nearerEntryReplacesAFartherOneWholeSoOneThatIsOffCarvesItsHostsOut() throws {
        let policy = try PinningPolicy(domains: [
            PinnedDomain(
                HostName("example.com"), includeSubdomains: true, pins: [KnownPin(Cast.backup.pin)],
                reportTo: ["https://reports.example.com"]),
            PinnedDomain(HostName("legacy.example.com"), includeSubdomains: true, mode: .off, pins: []),
        ])
        for host in ["legacy.example.com", "a.legacy.example.com"] {
            let entry = try #require(policy.entry(for: HostName(host)))
            #expect(entry.mode == .off)
            #expect(entry.pins.isEmpty && entry.reportTo.isEmpty)
            #expect(policy.validate(Cast.path, for: host, at: Cast.now).reason == .notPinned)
        }
        #expect(policy.validate(Cast.path, for: "notlegacy.example.com", at: Cast.now).reason == .noMatchingPin)
    }

    @Test("an address matches exactly: it has no parents and takes no subdomains")
    func addressMatchesExactlyItHasNoParentsAndTakesNoSubdomains() throws {
        let domains = ["*.example.com", "10.0.0.1", "::1", "2001:db8::ffff"]
        #expect(try self.notedHostname(of: "10.0.0.1", among: domains) == "10.0.0.1")
        #expect(try self.notedHostname(of: "[::1]", among: domains) == "::1")
        #expect(try self.notedHostname(of: "2001:DB8:0::FFFF", among: domains) == "2001:db8::ffff")
        #expect(try self.notedHostname(of: "10.0.0.2", among: domains) == nil)
        #expect(try self.notedHostname(of: "::", among: domains) == nil)
        for address in ["10.0.0.1", "::1", "::ffff:10.0.0.1"] {
            let entry = PinnedDomain(try HostName(address), includeSubdomains: true, pins: [])
            #expect(throws: InputError(.policy, "")) { try PinningPolicy(domains: [entry]) }
        }
    }

    @Test("a top-level domain that includes its subdomains covers them, and no other")
    func topLevelDomainThatIncludesItsSubdomainsCoversThemAndNoOther() throws {
        #expect(try self.notedHostname(of: "api.example.com", among: ["*.com"]) == "com")
        #expect(try self.notedHostname(of: "example.xcom", among: ["*.com"]) == nil)
    }

    @Test("no entries, no entry")
    func noEntriesNoEntry() throws {
        #expect(try self.notedHostname(of: "example.com", among: []) == nil)
    }

    @Test(
        "two entries for one host are refused, however they are written",
        arguments: [
            ("example.com", "example.com"), ("example.com", "EXAMPLE.com."), ("10.0.0.1", "::ffff:10.0.0.1"),
            ("::1", "0:0:0:0:0:0:0:1"),
        ])
    func twoEntriesForOneHostAreRefusedHoweverTheyAreWritten(first: String, second: String) throws {
        let entries = [
            PinnedDomain(try HostName(first), pins: []), PinnedDomain(try HostName(second), mode: .off, pins: []),
        ]
        #expect(throws: InputError(.policy, "")) { try PinningPolicy(domains: entries) }
    }

    /// Two names with one FNV-1a hash (64 bits, from the end), 28553d07a95f67d0: found in five minutes on one core, so
    /// within reach of who registers a domain only to be taken for a listed one.
    @Test("names with one hash are two names, listed alone or together", arguments: [false, true])
    func namesWithOneHashAreTwoNamesListedAloneOrTogether(isReversed: Bool) throws {
        let names = ["eubxjnyyyshdv.com", "byo7ucdpd44dc.com"]
        let (listed, other) = isReversed ? (names[1], names[0]) : (names[0], names[1])
        for host in [other, "www.\(other)"] {
            #expect(try self.notedHostname(of: host, among: ["*.\(listed)"]) == nil)
            #expect(try self.notedHostname(of: host, among: ["*.\(listed)", "*.\(other)"]) == other)
        }
        #expect(try self.notedHostname(of: "www.\(listed)", among: ["*.\(listed)", "*.\(other)"]) == listed)
        let twice = try [listed, other, listed].map { PinnedDomain(try HostName($0), pins: []) }
        #expect(throws: InputError(.policy, "")) { try PinningPolicy(domains: twice) }
    }

    @Test("10,000 domains: each is found, its subdomains by their parent, and no other host")
    func of10000DomainsEachIsFoundItsSubdomainsByTheirParentAndNoOtherHost() throws {
        let names = (0..<10_000).map { "host-\($0).zone-\($0 % 97).example" }
        let policy = try PinningPolicy(
            domains: names.enumerated().map { index, name in
                PinnedDomain(try HostName(name), includeSubdomains: index % 2 == 0, pins: [])
            })
        for (index, name) in names.enumerated() {
            #expect(policy.entry(for: try HostName(name))?.domain.description == name)
            let below = policy.entry(for: try HostName("a.\(name)"))?.domain.description
            #expect(below == (index % 2 == 0 ? name : nil))
            #expect(policy.entry(for: try HostName("x\(name)")) == nil)
        }
    }
}
