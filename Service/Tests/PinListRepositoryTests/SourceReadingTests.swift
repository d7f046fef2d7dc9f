// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository
import Testing

@Suite("The source that operators write")
struct SourceReadingTests {
    private static let whole = """
        name: com.example.app
        validFor: 60d              # expiresAt = issuedAt + this
        refreshAfter: 12h
        propagation: 14d
        unlisted: deny
        reportTo: [https://pins.example.com/v1/reports]
        server: https://pins.example.com
        signers: {pins: ["file:keys/pins.pem"], root: ["file:keys/root.pem", "exec:sign it"]}
        include: [common.yaml]
        domains:
          - domain: API.example.com.
            includeSubdomains: true
            mode: enforce
            rollout: 25
            requireIssuer: true
            expiresAt: 2027-06-01T00:00:00Z
            reportTo: [https://reports.example.com/v1]
            pins:
              - {pin: "\(SourceText.pin("a"))", note: current, position: leaf}
              - pin: cert-sha256/\(SourceText.pin("b").dropFirst(7))
                position: issuer
        denied:
          - "\(SourceText.pin("c"))"
          - {pin: "\(SourceText.pin("d"))", mode: report, note: stolen}
        suspended:
          - {domain: api.example.com, until: 2026-11-22T12:00:00Z, reason: incident 4711}
        """

    @Test("every member of the contract's example comes through")
    func everyMemberOfTheContractsExampleComesThrough() throws {
        let included = """
            domains: [{domain: other.example.com, mode: off}]
            denied: ["\(SourceText.pin("e"))"]
            suspended: [{domain: "*", until: "2026-11-23T00:00:00Z", reason: drill}]
            """
        let source = try SourceText.read(Self.whole, ["common.yaml": included])
        #expect(source.name == "com.example.app")
        #expect(source.validFor == 60 * 86_400)
        #expect(source.refreshAfter == 43_200)
        #expect(source.propagation == 14 * 86_400)
        #expect(source.unlisted == .deny)
        #expect(source.reportTo == ["https://pins.example.com/v1/reports"])
        #expect(source.server?.value == "https://pins.example.com")
        #expect(source.signers.root == ["file:keys/root.pem", "exec:sign it"])
        #expect(source.domains.map { "\($0.host)" } == ["api.example.com", "other.example.com"])

        let entry = try #require(source.domains.first).domain
        #expect(entry.rollout == 25)
        #expect(entry.entry.includeSubdomains && entry.entry.requireIssuer && entry.entry.mode == .enforce)
        #expect(entry.entry.expiresAt?.description == "2027-06-01T00:00:00Z")
        #expect(entry.entry.reportTo == ["https://reports.example.com/v1"])
        #expect(entry.entry.pins.map(\.position) == [.leaf, .issuer])
        #expect(entry.entry.pins.map(\.pin.kind) == [.publicKey, .certificate])
        #expect(entry.entry.pins.map(\.note) == ["current", nil])

        #expect(source.denied.map(\.value.isEnforced) == [true, false, true])
        #expect(source.suspended.map(\.value.scope) == [.entry(try HostName("api.example.com")), .everything])
        #expect(source.suspended.map(\.position.file) == ["tumbler.yaml", "common.yaml"])
        #expect(source.suspended.first?.position.line == 26)
    }

    @Test("an absent member has the default of the format")
    func absentMemberHasTheDefaultOfTheFormat() throws {
        let source = try SourceText.read(
            "name: a\ndomains:\n- {domain: x.example, pins: [{pin: \(SourceText.pin("a"))}]}")
        let entry = try #require(source.domains.first).domain
        #expect(source.refreshAfter == PinList.defaultRefreshAfter && source.unlisted == .allow)
        #expect(source.denied.isEmpty && source.suspended.isEmpty && source.reportTo.isEmpty && source.server == nil)
        #expect(entry == PinList.Domain(PinnedDomain(try HostName("x.example"), pins: entry.entry.pins)))
        #expect(try SourceText.read("name: a\ndomains:\ndenied: ~\nsuspended: null").domains.isEmpty)
    }

    @Test("off, \"off\" and false all mean off", arguments: ["off", "\"off\"", "'off'", "false"])
    func offOffAndFalseAllMeanOff(text: String) throws {
        let source = try SourceText.read("name: a\ndomains: [{domain: x.example, mode: \(text)}]")
        #expect(source.domains.first?.domain.entry.mode == .off)
    }

    @Test(
        "a time is text, with and without YAML's own tag",
        arguments: ["2026-11-22T12:00:00Z", "\"2026-11-22T12:00:00Z\"", "!!timestamp 2026-11-22T12:00:00Z"])
    func timeIsTextWithAndWithoutYAMLsOwnTag(text: String) throws {
        let source = try SourceText.read("name: a\nsuspended: [{domain: '*', until: \(text), reason: x}]")
        #expect(source.suspended.first?.value.until.description == "2026-11-22T12:00:00Z")
    }

    @Test(
        "a duration is its seconds, and is written back as a length",
        arguments: zip(["90s", "5m", "12h", "30d"], [90, 300, 43_200, 2_592_000] as [Int64]))
    func durationIsItsSecondsAndIsWrittenBackAsALength(text: String, seconds: Int64) throws {
        #expect(try SourceText.read("name: a\nvalidFor: \(text)").validFor == seconds)
        #expect(SourceDuration.seconds(of: SourceDuration.text(seconds)) == seconds)
    }

    // The A-labels are those that Python's idna package gives (uts46=True, transitional=False).
    @Test(
        "names in their own script become A-labels, without the transition of UTS 46",
        arguments: [
            ("bücher.example", "xn--bcher-kva.example"), ("faß.de", "xn--fa-hia.de"),
            ("BÜCHER.Example", "xn--bcher-kva.example"),
            ("τελικός.gr", "xn--qxaidc1bh4d.gr"), ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
        ])
    func namesInTheirOwnScriptBecomeALabelsWithoutTheTransitionOfUTS46(name: String, ascii: String) throws {
        let source = try SourceText.read("name: a\ndomains: [{domain: \(name), mode: off}]")
        #expect(source.domains.first?.host.description == ascii)
    }

    @Test("a byte order mark and CRLF do not matter")
    func byteOrderMarkAndCRLFDoNotMatter() throws {
        let text = "\u{FEFF}" + Self.whole.replacing("include: [common.yaml]\n", with: "")
        let source = try SourceText.read(text)
        let other = try ListSource(
            Array(text.replacing("\n", with: "\r\n").utf8), file: "tumbler.yaml", files: FilesInMemory())
        #expect(source == other)
        #expect(other.suspended.first?.position.line == 25)
    }

    @Test("a sign of an alias within quotation marks, in comments and inside of words is a letter")
    func signOfAnAliasWithinQuotationMarksInCommentsAndInsideOfWordsIsALetter() throws {
        let source = try SourceText.read(
            "name: a # see *this* & that\nsuspended: [{domain: \"*\", until: 2026-11-22T12:00:00Z, reason: R&D *now*}]")
        #expect(source.suspended.first?.value.reason == "R&D *now*")
    }
}
