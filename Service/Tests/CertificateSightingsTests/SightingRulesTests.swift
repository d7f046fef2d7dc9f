// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import PinListMetadata
import Testing

@Suite("The meaning of a certificate in a log")
struct SightingRulesTests {
    private static let now = Timestamp(secondsSince1970: 1_795_219_200)

    private static func pin(_ number: UInt8) -> Pin { Pin(kind: .publicKey, hashing: [number]) }

    private static func entry(
        _ domain: String, _ pins: [KnownPin], subdomains: Bool = false, mode: PinnedDomain.Mode = .enforce,
        expiresAt: Timestamp? = nil
    ) throws -> PinList.Domain {
        PinList.Domain(
            PinnedDomain(
                try HostName(domain), includeSubdomains: subdomains, mode: mode, pins: pins, expiresAt: expiresAt))
    }

    private static func rules(_ domains: [PinList.Domain], denied: [Pin] = []) -> SightingRules {
        SightingRules(
            PinList(
                name: "com.example.app", version: 1, issuedAt: Self.now, expiresAt: Self.now, domains: domains,
                denied: denied.map { DeniedKey($0) }))
    }

    private static func evaluate(
        _ rules: SightingRules, _ names: [String], key: UInt8, issuers: [UInt8] = [], isServed: Bool = false
    ) -> String {
        let evaluated = rules.evaluate(
            names: names, key: Self.pin(key), issuers: issuers.map(Self.pin), isServed: isServed, at: Self.now)
        return
            "\(evaluated.state.rawValue) \(evaluated.entry?.description ?? "-")\(evaluated.isEnforced ? " enforced" : "")"
    }

    @Test("each state has its certificate")
    func eachStateHasItsCertificate() throws {
        let rules = Self.rules(
            [try Self.entry("a.example", [KnownPin(Self.pin(1)), KnownPin(Self.pin(2), position: .issuer)])],
            denied: [Self.pin(9)])
        #expect(Self.evaluate(rules, ["a.example"], key: 1, isServed: true) == "pinned a.example enforced")
        #expect(Self.evaluate(rules, ["a.example"], key: 1) == "backup a.example enforced")
        #expect(Self.evaluate(rules, ["a.example"], key: 3, issuers: [4, 2]) == "issuer a.example enforced")
        #expect(Self.evaluate(rules, ["a.example"], key: 9) == "denied a.example enforced")
        #expect(Self.evaluate(rules, ["a.example"], key: 1, issuers: [9]) == "denied a.example enforced")
        #expect(Self.evaluate(rules, ["a.example"], key: 3, issuers: [4]) == "unknown a.example enforced")
        // A key that is pinned for issuers alone is none of the server's own.
        #expect(Self.evaluate(rules, ["a.example"], key: 2) == "unknown a.example enforced")
        #expect(Self.evaluate(rules, ["b.example"], key: 1) == "unlisted -")
        #expect(Self.evaluate(rules, [], key: 1) == "unlisted -")
    }

    @Test("the edition of a list is its digest, and another one with each entry that ends")
    func editionOfAListIsItsDigestAndAnotherOneWithEachEntryThatEnds() throws {
        func time(_ seconds: Int64) -> Timestamp { Timestamp(secondsSince1970: Self.now.secondsSince1970 + seconds) }
        let list = PinList(
            name: "com.example.app", version: 1, issuedAt: Self.now, expiresAt: Self.now,
            domains: [
                try Self.entry("a.example", [KnownPin(Self.pin(1))]),
                try Self.entry("b.example", [KnownPin(Self.pin(1))], expiresAt: time(10)),
                try Self.entry("c.example", [KnownPin(Self.pin(1))], expiresAt: time(20)),
            ])
        let editions = [0, 9, 10, 19, 20].map { SightingRules.edition(of: list, "d", at: time($0)) }
        #expect(editions == ["d", "d", "d+1", "d+1", "d+2"])
    }

    @Test("a key that is pinned for the server alone does not let an issuer pass with it")
    func keyThatIsPinnedForTheServerAloneDoesNotLetAnIssuerPassWithIt() throws {
        let rules = Self.rules([try Self.entry("a.example", [KnownPin(Self.pin(1), position: .leaf)])])
        #expect(Self.evaluate(rules, ["a.example"], key: 3, issuers: [1]) == "unknown a.example enforced")
    }

    @Test("a wildcard stands for each entry directly below, and for that of the names above; a name for its own entry")
    func wildcardStandsForEachEntryDirectlyBelowAndForThatOfTheNamesAbove() throws {
        let rules = Self.rules([
            try Self.entry("example.com", [KnownPin(Self.pin(1))], subdomains: true),
            try Self.entry("api.example.com", [KnownPin(Self.pin(2))]),
            try Self.entry("a.b.example.com", [KnownPin(Self.pin(3))]),
            try Self.entry("192.0.2.7", [KnownPin(Self.pin(4))]),
        ])
        #expect(Self.evaluate(rules, ["www.example.com"], key: 1) == "backup example.com enforced")
        #expect(Self.evaluate(rules, ["*.example.com"], key: 1) == "unknown api.example.com enforced")
        #expect(Self.evaluate(rules, ["*.example.com"], key: 2) == "unknown example.com enforced")
        #expect(Self.evaluate(rules, ["*.b.example.com"], key: 3) == "unknown example.com enforced")
        #expect(Self.evaluate(rules, ["*.com"], key: 7) == "unknown example.com enforced")
        #expect(Self.evaluate(rules, ["API.example.com."], key: 2) == "backup api.example.com enforced")
        #expect(Self.evaluate(rules, ["192.0.2.7"], key: 4) == "backup 192.0.2.7 enforced")
        for name in [
            "com", "*", "*.", "f*.other.example", "*.*.example.net", "xexample.com", "a b", "*.192.0.2.7",
        ] {
            #expect(Self.evaluate(rules, [name], key: 7) == "unlisted -", "\(name)")
        }
    }

    @Test("of several entries the worst decides, and of those one that enforces; an entry that ended enforces nothing")
    func ofSeveralEntriesTheWorstDecides() throws {
        let rules = Self.rules([
            try Self.entry("a.example", [KnownPin(Self.pin(1))]),
            try Self.entry("b.example", [KnownPin(Self.pin(2))], mode: .report),
            try Self.entry("c.example", [KnownPin(Self.pin(3))]),
            try Self.entry("d.example", [KnownPin(Self.pin(4))], expiresAt: Self.now),
        ])
        #expect(Self.evaluate(rules, ["a.example", "b.example"], key: 1) == "unknown b.example")
        #expect(Self.evaluate(rules, ["a.example", "b.example", "c.example"], key: 1) == "unknown c.example enforced")
        #expect(Self.evaluate(rules, ["b.example", "a.example"], key: 2) == "unknown a.example enforced")
        #expect(Self.evaluate(rules, ["d.example"], key: 5) == "unknown d.example")
    }
}
