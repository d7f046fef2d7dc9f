// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListRepository
import Testing

@Suite("An error in a source names file, line and what to write")
struct SourceErrorTests {
    /// A source whose one entry has a line of its own, line 6.
    private static func entry(_ line: String) -> String {
        "name: a\ndomains:\n  - domain: api.example.com\n    pins:\n      - {pin: \"\(SourceText.pin("a"))\"}\n    \(line)\n"
    }

    @Test("an unknown member: the nearest known one is suggested")
    func unknownMemberTheNearestKnownOneIsSuggested() {
        SourceText.expectRefusal("nam: a", at: "tumbler.yaml:1:1", "nam", "write name")
        SourceText.expectRefusal("name: a\nvalidfor: 3d", at: "tumbler.yaml:2:1", "write validFor")
        SourceText.expectRefusal(
            Self.entry("includeSubdomain: true"), at: "tumbler.yaml:6:5", "write includeSubdomains")
        SourceText.expectRefusal(Self.entry("zzz: true"), at: "tumbler.yaml:6:5", "known are domain")
        SourceText.expectRefusal("name: a\nversion: 3", at: "tumbler.yaml:2:1", "no member version")
        SourceText.expectRefusal(
            "name: a\ndomains: [{domain: x.example, pins: [{pin: x, positon: leaf}]}]", at: "tumbler.yaml:2:47",
            "write position")
    }

    @Test(
        "a value of the wrong kind",
        arguments: [
            ("mode: enfoce", "tumbler.yaml:6:11", "write enforce"), ("mode: no", "tumbler.yaml:6:11", "off"),
            ("rollout: 0x10", "tumbler.yaml:6:14", "decimal"), ("rollout: 1_0", "tumbler.yaml:6:14", "decimal"),
            ("rollout: 010", "tumbler.yaml:6:14", "decimal"), ("rollout: 1e1", "tumbler.yaml:6:14", "decimal"),
            ("rollout: \"10\"", "tumbler.yaml:6:14", "decimal"), ("rollout: 101", "tumbler.yaml:6:14", "0 to 100"),
            ("rollout: -1", "tumbler.yaml:6:14", "0 to 100"), ("rollout: 50.0", "tumbler.yaml:6:14", "decimal"),
            ("reportPerMillion: 0", "tumbler.yaml:6:23", "decimal"),
            ("reportPerMillion: 1000001", "tumbler.yaml:6:23", "1 to 1000000"),
            ("reportPerMillion: 1 %", "tumbler.yaml:6:23", "decimal"),
            ("includeSubdomains: yes", "tumbler.yaml:6:24", "true or false"),
            ("includeSubdomains: \"true\"", "tumbler.yaml:6:24", "unquoted"),
            ("expiresAt: 30d", "tumbler.yaml:6:16", "prolong"),
            ("expiresAt: 2027-06-01", "tumbler.yaml:6:16", "2026-11-21T00:00:00Z"),
            ("expiresAt: 2027-06-01T00:00:00+01:00", "tumbler.yaml:6:16", "UTC"),
            ("expiresAt:", "tumbler.yaml:6:5", "empty"),
            ("reportTo: [http://reports.example.com/]", "tumbler.yaml:6:16", "https"),
            ("reportTo: {a: b}", "tumbler.yaml:6:15", "not a list"),
            ("requireIssuer: true", "tumbler.yaml:6:5", "position: leaf"),
        ])
    func valueOfTheWrongKind(line: String, place: String, hint: String) {
        SourceText.expectRefusal(Self.entry(line), at: place, hint)
    }

    @Test("the settings of the whole")
    func settingsOfTheWhole() {
        SourceText.expectRefusal("domains: []", at: "tumbler.yaml:1:1", "name is missing", "com.example.app")
        SourceText.expectRefusal("name: -a", at: "tumbler.yaml:1:7", "name")
        SourceText.expectRefusal("name: a\nvalidFor: 60", at: "tumbler.yaml:2:11", "30d")
        SourceText.expectRefusal("name: a\nvalidFor: 1.5d", at: "tumbler.yaml:2:11", "30d")
        SourceText.expectRefusal("name: a\nreportPerMillion: 0", at: "tumbler.yaml:2:19", "1 to 1000000")
        SourceText.expectRefusal("name: a\nrefreshAfter: 0s", at: "tumbler.yaml:2:15", "12h")
        SourceText.expectRefusal("name: a\nvalidFor: 99999999999d", at: "tumbler.yaml:2:11", "30d")
        SourceText.expectRefusal("name: a\nunlisted: block", at: "tumbler.yaml:2:11", "allow, report, deny")
        SourceText.expectRefusal("name: a\nserver: pins.example.com", at: "tumbler.yaml:2:9", "https")
        SourceText.expectRefusal("name: a\nsigners: {pin: [x]}", at: "tumbler.yaml:2:11", "write pins")
        SourceText.expectRefusal("- name", at: "tumbler.yaml:1:1", "a list")
        SourceText.expectRefusal("name: [a]", at: "tumbler.yaml:1:7", "not a single value")
    }

    @Test("entries that clients would refuse")
    func entriesThatClientsWouldRefuse() {
        let pin = "pins: [{pin: \"\(SourceText.pin("a"))\"}]"
        SourceText.expectRefusal(
            "name: a\ndomains: [{domain: x.example}]", at: "tumbler.yaml:2:11", "no pin", "mode: off")
        SourceText.expectRefusal(
            "name: a\ndomains:\n- {domain: x.example, \(pin)}\n- {domain: X.example., \(pin)}", at: "tumbler.yaml:4:12",
            "already", "tumbler.yaml:3:12")
        SourceText.expectRefusal(
            "name: a\ndomains: [{domain: 192.0.2.1, includeSubdomains: true, \(pin)}]", at: "tumbler.yaml:2:31", "IP")
        SourceText.expectRefusal(
            "name: a\ndomains: [{domain: \"*.x.example\", \(pin)}]", at: "tumbler.yaml:2:20", "includeSubdomains")
        SourceText.expectRefusal("name: a\ndomains: [{domain: a‍b.example, \(pin)}]", at: "tumbler.yaml:2:20", "xn--")
        let many = (0..<17).map { _ in "{pin: \"\(SourceText.pin("a"))\"}" }.joined(separator: ", ")
        SourceText.expectRefusal(
            "name: a\ndomains: [{domain: x.example, pins: [\(many)]}]", at: "tumbler.yaml:2:1030", "16")
    }

    @Test("pins that are written in another form, twice, or not at all")
    func pinsThatAreWrittenInAnotherFormTwiceOrNotAtAll() {
        func pins(_ pin: String) -> String { "name: a\ndomains:\n- domain: x.example\n  pins:\n  - \(pin)" }
        let bare = String(SourceText.pin("a").dropFirst(7))
        SourceText.expectRefusal(pins("{pin: \"\(bare)\"}"), at: "tumbler.yaml:5:11", "write \"sha256/\(bare)\"")
        SourceText.expectRefusal(pins("{pin: sha256/short}"), at: "tumbler.yaml:5:11", "44 characters")
        SourceText.expectRefusal(pins("sha256/abc"), at: "tumbler.yaml:5:5", "- {pin:")
        SourceText.expectRefusal(pins("{note: x}"), at: "tumbler.yaml:5:5", "pin, cert, key, publicKey, csr")
        SourceText.expectRefusal(pins("{pin: x, cert: y}"), at: "tumbler.yaml:5:5", "pin and cert")
        SourceText.expectRefusal(pins("{cert: tls/no.pem}"), at: "tumbler.yaml:5:12", "tls/no.pem: no such file")
        SourceText.expectRefusal(
            pins("{pin: \"\(SourceText.pin("a"))\", position: root}"), at: "tumbler.yaml:5:76", "any")
    }

    @Test("a suspension without an end or a reason, or with a length of time")
    func suspensionWithoutAnEndOrAReasonOrWithALengthOfTime() {
        func suspended(_ text: String) -> String { "name: a\nsuspended: [\(text)]" }
        SourceText.expectRefusal(
            suspended("{domain: x.example, reason: x}"), at: "tumbler.yaml:2:13", "until is missing", "until: 2026")
        SourceText.expectRefusal(
            suspended("{domain: x.example, until: 12h, reason: x}"), at: "tumbler.yaml:2:40", "prolong")
        SourceText.expectRefusal(
            suspended("{domain: x.example, until: 2026-11-22T12:00:00Z}"), at: "tumbler.yaml:2:13", "reason is missing")
    }
}
