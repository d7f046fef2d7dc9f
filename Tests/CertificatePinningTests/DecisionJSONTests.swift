// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

/// formats.md, section 4: programs read this, so its members are counted.
@Suite("A decision as JSON")
struct DecisionJSONTests {
    private static let always: Set<String> = [
        "host", "notedHostname", "verdict", "enforced", "reason", "matched", "matchedIssuer", "path", "list",
    ]

    private func json(_ decision: PinningDecision) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(decision))
        return try #require(object as? [String: Any])
    }

    @Test("the example of the specification, byte for byte")
    func exampleOfTheSpecificationByteForByte() throws {
        let policy = try PinningPolicy(
            list: ListIdentity(name: "com.example.app", version: 7, stale: false),
            domains: [PinnedDomain(HostName("api.example.com"), pins: [KnownPin(Cast.leaf.pin)])])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(policy.validate(Cast.path, for: "api.example.com", at: Cast.now))
        let expected = """
            {"enforced":true,"host":"api.example.com",\
            "list":{"name":"com.example.app","stale":false,"version":7},\
            "matched":{"index":0,"pin":"\(Cast.leaf.pin)"},"matchedIssuer":null,\
            "notedHostname":"api.example.com",\
            "path":["\(Cast.leaf.pin)","\(Cast.intermediate.pin)","\(Cast.root.pin)"],\
            "reason":"pin-match","verdict":"allow"}
            """
        #expect(String(decoding: data, as: UTF8.self) == expected)
    }

    @Test("every decision has the same members; null stands where there is nothing")
    func everyDecisionHasTheSameMembersNullStandsWhereThereIsNothing() throws {
        let policy = try PinningPolicy(domains: [], unlisted: .deny)
        let path = ValidatedPath(uncheckedValidatedPath: [Cast.leaf.der, Cast.unreadable])
        let object = try self.json(policy.validate(path, for: "example.org", at: Cast.now))
        #expect(Set(object.keys) == Self.always)
        for member in ["notedHostname", "matched", "matchedIssuer", "list"] { #expect(object[member] is NSNull) }
        let pins = try #require(object["path"] as? [Any])
        #expect(pins.count == 2)
        #expect(pins.first as? String == Cast.leaf.pin.description)
        #expect(pins.last is NSNull)
        #expect(object["verdict"] as? String == "block")
        #expect(object["reason"] as? String == "unlisted-denied")
        #expect(object["enforced"] as? Bool == true)
    }

    @Test("a detail and a denied key are told only where there are such")
    func detailAndADeniedKeyAreToldOnlyWhereThereAreSuch() throws {
        let policy = try PinningPolicy(domains: [], denied: [DeniedKey(Cast.root.pin)])
        let denied = try self.json(policy.validate(Cast.path, for: "example.org", at: Cast.now))
        #expect(Set(denied.keys) == Self.always.union(["denied"]))
        let match = try #require(denied["denied"] as? [String: Any])
        #expect(Set(match.keys) == ["pin", "index"])
        #expect(match["pin"] as? String == Cast.root.pin.description)
        #expect(match["index"] as? Int == 2)

        let invalid = try self.json(policy.validate(Cast.path, for: "127.1", at: Cast.now))
        #expect(Set(invalid.keys) == Self.always.union(["detail"]))
        #expect(invalid["host"] as? String == "127.1")
        #expect(invalid["reason"] as? String == "host-invalid")
    }

    @Test("both matches of requireIssuer, a certificate pin in its own form, and a stale list")
    func bothMatchesOfRequireIssuerACertificatePinInItsOwnFormAndAStaleList() throws {
        let pins = [
            KnownPin(Cast.leaf.certificatePin, position: .leaf), KnownPin(Cast.intermediate.pin, position: .issuer),
        ]
        let policy = try PinningPolicy(
            list: ListIdentity(name: "x", version: 9_007_199_254_740_991, stale: true),
            domains: [PinnedDomain(HostName("example.com"), includeSubdomains: true, pins: pins, requireIssuer: true)])
        let object = try self.json(policy.validate(Cast.path, for: "API.example.com.", at: Cast.now))
        #expect(object["host"] as? String == "api.example.com")
        #expect(object["notedHostname"] as? String == "example.com")
        #expect((object["matched"] as? [String: Any])?["pin"] as? String == Cast.leaf.certificatePin.description)
        #expect((object["matchedIssuer"] as? [String: Any])?["index"] as? Int == 1)
        let list = try #require(object["list"] as? [String: Any])
        #expect(list["version"] as? Int == 9_007_199_254_740_991)
        #expect(list["stale"] as? Bool == true)
        // The path always holds public key pins.
        #expect((object["path"] as? [String])?.first == Cast.leaf.pin.description)
    }

    @Test(
        "the codes are those of the specification",
        arguments: [
            (PinningDecision.Reason.pinMatch, "pin-match"), (.noMatchingPin, "no-matching-pin"),
            (.hostInvalid, "host-invalid"), (.deniedKey, "denied-key"), (.deniedUndecidable, "denied-undecidable"),
            (.suspended, "suspended"), (.notPinned, "not-pinned"), (.unlistedReported, "unlisted-reported"),
            (.unlistedDenied, "unlisted-denied"), (.domainExpired, "domain-expired"), (.chainInvalid, "chain-invalid"),
            (.noCertificates, "no-certificates"), (.overBudget, "over-budget"), (.cleartext, "cleartext"),
            (.otherHostConnection, "other-host-connection"), (.malformed, "malformed"),
            (.transparency, "transparency"),
        ])
    func codesAreThoseOfTheSpecification(reason: PinningDecision.Reason, code: String) throws {
        #expect(
            try self.json(PinningPolicy(domains: []).refusal(of: "example.com", reason))["reason"] as? String == code)
    }

    @Test("hosts with quotation marks, line breaks and control characters stay inside their string")
    func hostsWithQuotationMarksLineBreaksAndControlCharactersStayInsideTheirString() throws {
        let host = "a\",\"verdict\":\"allow\",\"x\":\"\n\u{1b}\u{2028}\0"
        let object = try self.json(PinningPolicy(domains: []).validate(Cast.path, for: host, at: Cast.now))
        #expect(object["host"] as? String == host)
        #expect(object["verdict"] as? String == "block")
        #expect(Set(object.keys) == Self.always.union(["detail"]))
    }
}
