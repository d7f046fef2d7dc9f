// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository
import Testing

@Suite("Named pin sets, and what cannot be denied")
struct PinSetTests {
    private static let (a, b, c) = (SourceText.pin("a"), SourceText.pin("b"), SourceText.pin("c"))
    private static let sets = """
        name: com.example.app
        reportTo: [https://reports.example.net/v1]
        pinSets:
          current: [{pin: "\(a)", note: current}, {pin: "\(b)", note: backup}]
          edge:
            - {pin: "\(c)"}
        domains:

        """

    private static func findings(_ text: String) throws -> [LintFinding] {
        let source = try SourceText.read(text)
        var linter = Linter(try PinListBuilt.list(source, after: nil, at: SourceText.now), at: SourceText.now)
        linter.source = source
        return linter.findings
    }

    @Test("two entries use one set: clients see the pins in each, as if they had been written there")
    func twoEntriesUseOneSetClientsSeeThePinsInEachAsIfTheyHadBeenWrittenThere() throws {
        let text = """
              - {domain: api.example.com, use: [current]}
              - {domain: www.example.com, pins: [{pin: "\(SourceText.pin("d"))"}], use: [edge, current]}
            """
        let source = try SourceText.read(Self.sets + text)
        let written = try SourceText.read(
            """
            name: com.example.app
            reportTo: [https://reports.example.net/v1]
            domains:
              - domain: api.example.com
                pins: [{pin: "\(Self.a)", note: current}, {pin: "\(Self.b)", note: backup}]
              - domain: www.example.com
                pins:
                  - {pin: "\(SourceText.pin("d"))"}
                  - {pin: "\(Self.c)"}
                  - {pin: "\(Self.a)", note: current}
                  - {pin: "\(Self.b)", note: backup}
            """)
        let lists = try [source, written].map { try PinListBuilt.list($0, after: nil, at: SourceText.now) }
        #expect(lists[0].payload == lists[1].payload)
        #expect(try Self.findings(Self.sets + text).isEmpty)
    }

    @Test("an included file uses the sets of the file that includes it")
    func includedFileUsesTheSetsOfTheFileThatIncludesIt() throws {
        let source = try SourceText.read(
            Self.sets + "  - {domain: api.example.com, use: [current]}\ninclude: [more.yaml]",
            ["more.yaml": "domains: [{domain: www.example.com, use: [edge, current]}]"])
        #expect(source.domains.map(\.pins.count) == [2, 3])
        #expect(source.unusedPinSets.isEmpty)
    }

    @Test("a set that no entry uses is said, with its place")
    func setThatNoEntryUsesIsSaidWithItsPlace() throws {
        let findings = try Self.findings(Self.sets + "  - {domain: api.example.com, use: [current]}")
        #expect(findings.map(\.rule.id) == ["unused-pin-set"])
        #expect(findings.first?.detail == "edge" && findings.first?.position?.line == 5)
        #expect(findings.first?.rule.severity == .warning)
    }

    @Test("the same pin by its set and beside it is one pin")
    func samePinByItsSetAndBesideItIsOnePin() throws {
        let text = Self.sets + "  - {domain: api.example.com, pins: [{pin: \"\(Self.a)\"}], use: [current, edge]}"
        #expect(try Self.findings(text).map(\.rule.id) == ["backup-equals-primary"])
    }

    @Test("errors name the place and what to write")
    func errorsNameThePlaceAndWhatToWrite() {
        func entry(_ use: String) -> String { Self.sets + "  - {domain: api.example.com, use: \(use)}" }
        SourceText.expectRefusal(entry("[curent]"), at: "tumbler.yaml:8:37", "curent", "write current")
        SourceText.expectRefusal(entry("[zzzzzzzzzz]"), at: "tumbler.yaml:8:37", "pinSets")
        SourceText.expectRefusal(entry("[edge, edge]"), at: "tumbler.yaml:8:43", "once")
        SourceText.expectRefusal(entry("{edge: edge}"), at: "tumbler.yaml:8:36", "list")
        SourceText.expectRefusal(entry("[]"), at: "tumbler.yaml:8:5", "no pin")
        SourceText.expectRefusal("name: a\npinSets: [x]", at: "tumbler.yaml:2:10", "NAME")
        SourceText.expectRefusal("name: a\npinSets: {x: []}", at: "tumbler.yaml:2:11", "no pin")
        SourceText.expectRefusal("name: a\npinSets: {x: y}", at: "tumbler.yaml:2:11", "no pin")
        SourceText.expectRefusal("name: a\npinSets: {\"-\": [{pin: z}]}", at: "tumbler.yaml:2:11", "letter")
        SourceText.expectRefusal("name: a\npinSets: {x: [{pin: z}]}", at: "tumbler.yaml:2:21", "not a pin")
        SourceText.expectRefusal(
            "name: a\ninclude: [b.yaml]", ["b.yaml": "pinSets: {}"], at: "b.yaml:1:1", "tumbler.yaml")
    }

    @Test("sets cannot bring an entry over the pins that a list may hold")
    func setsCannotBringAnEntryOverThePinsThatAListMayHold() {
        let pin = "{pin: \"\(Self.a)\"}"
        let full = Array(repeating: pin, count: MetadataLimits.pins).joined(separator: ", ")
        SourceText.expectRefusal(
            "name: a\npinSets: {x: [\(full)]}\ndomains: [{domain: a.example, pins: [\(pin)], use: [x]}]",
            at: "tumbler.yaml:3:101", "over")
        SourceText.expectRefusal("name: a\npinSets: {x: [\(full), \(pin)]}", at: "tumbler.yaml:2:1007", "over")
    }

    @Test("the hash of a certificate denies nothing: a holder of the certificate evades it by another encoding")
    func hashOfACertificateDeniesNothingAHolderOfTheCertificateEvadesItByAnotherEncoding() throws {
        let pin = "cert-\(Self.c)"
        SourceText.expectRefusal(
            SourceText.good("denied: [\"\(pin)\"]"), at: "tumbler.yaml:8:10", "re-encode", "deny its key")
        SourceText.expectRefusal(
            SourceText.good("denied: [{pin: \"\(pin)\", mode: report}]"), at: "tumbler.yaml:8:10", "deny its key")
        // A list that was made elsewhere.
        var list = try PinListBuilt.list(
            try SourceText.read(SourceText.good()), after: nil, at: SourceText.now)
        list.denied = [DeniedKey(try Pin(canonical: pin))]
        #expect(Linter(list, at: SourceText.now).findings.map(\.rule.id) == ["denied-certificate"])
    }
}
