// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

/// Subjects and hosts come from the server, and end up on a terminal, in a log or in a ticket.
@Suite("Hostile text in a decision")
struct HostileTextTests {
    /// The decision on an interceptor's certificate with this subject.
    private func text(subject: DERNode) throws -> String {
        let certificate = SketchedCertificate(subject: subject, key: Array(1...8))
        let policy = try PinningPolicy(domains: [PinnedDomain(HostName("example.com"), pins: [KnownPin(Cast.leaf.pin)])]
        )
        let path = ValidatedPath(uncheckedValidatedPath: [certificate.der])
        return policy.validate(path, for: "example.com", at: Cast.now).description
    }

    private func text(commonName: String) throws -> String {
        try self.text(subject: SketchedCertificate.name(commonName: DERNode(0x0c, Array(commonName.utf8))))
    }

    /// What moves a cursor, turns the direction of text, or cannot be seen.
    private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }

    @Test(
        "escape sequences, line breaks and marks that turn text around come out as question marks",
        arguments: [
            "\u{1b}[2K\u{1b}[1Aapi", "\u{1b}]0;title\u{7}", "\u{9b}31m", "a\nb: allow (pin-match).", "a\rb",
            "a\u{2028}b", "a\u{2029}b", "\u{202e}moc.elpmaxe", "\u{2066}a\u{2069}", "\u{200f}", "\u{61c}", "a\0b",
            "\u{7f}", "\u{85}", "\u{8}\u{8}", "\u{e000}", "\u{feff}", "\u{200b}", "\u{ad}", "\u{e0041}", "\u{fff9}",
            "\u{378}", "\t", "\u{b}\u{c}",
        ])
    func escapeSequencesLineBreaksAndMarksThatTurnTextAroundComeOutAsQuestionMarks(name: String) throws {
        let text = try self.text(commonName: name)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 5)
        let subject = try #require(lines.last)
        #expect(subject.unicodeScalars.allSatisfy { self.isHarmless($0) })
        #expect(subject.contains("CN=") && subject.contains("?"))
        #expect(lines[0] == "example.com: block (no-matching-pin). No certificate of the validated path matches a pin.")
    }

    @Test("bytes that are not UTF-8, and names in every old string type, are written harmlessly")
    func bytesThatAreNotUTF8AndNamesInEveryOldStringTypeAreWrittenHarmlessly() throws {
        let values = [
            DERNode(0x0c, [0xff, 0xfe, 0x1b, 0xc0, 0x80, 0xed, 0xa0, 0x80]),
            DERNode(0x1e, [0x20, 0x2e, 0xd8, 0x00, 0x00]),
            DERNode(0x1e, []), DERNode(0x1e, [0x41]), DERNode(0x14, [0x9b, 0x33, 0x31, 0x6d]),
            DERNode(0x13, [0x1b, 0x5b]),
            DERNode(0x16, [0x0a]), DERNode(0x1c, [0, 0, 0x20, 0x2e]), DERNode(0x30, DERNode(0x0c, [0x1b])),
            DERNode(0x05, []),
        ]
        for value in values {
            let lines = try self.text(subject: SketchedCertificate.name(commonName: value))
                .split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 5)
            #expect(try #require(lines.last).unicodeScalars.allSatisfy { self.isHarmless($0) })
        }
    }

    @Test("a subject of 60,000 bytes is cut to 256 characters, in one attribute or in many")
    func subjectOf60000BytesIsCutTo256CharactersInOneAttributeOrInMany() throws {
        let attribute = SketchedCertificate.name(commonName: DERNode(0x0c, Array("x".utf8))).children[0]
        var many = SketchedCertificate.name(commonName: DERNode(0x0c, []))
        many.children = Array(repeating: attribute, count: 5_000)
        let one = SketchedCertificate.name(
            commonName: DERNode(0x0c, [UInt8](repeating: UInt8(ascii: "x"), count: 60_000)))
        for subject in [one, many] {
            let line = try #require(try self.text(subject: subject).split(separator: "\n").last)
            #expect(line.count < DistinguishedNameText.maximumLength + 80)
            #expect(line.hasSuffix("…"))
        }
    }

    @Test("a letter under hundreds of combining marks is cut as well: it is one character, and a kilobyte")
    func letterUnderHundredsOfCombiningMarksIsCutAsWellItIsOneCharacterAndAKilobyte() throws {
        let attribute = SketchedCertificate.name(
            commonName: DERNode(0x0c, Array(("x" + String(repeating: "\u{301}", count: 500)).utf8))
        ).children[0]
        var subject = SketchedCertificate.name(commonName: DERNode(0x0c, []))
        subject.children = Array(repeating: attribute, count: 50)
        let line = try #require(try self.text(subject: subject).split(separator: "\n").last)
        #expect(line.unicodeScalars.count < DistinguishedNameText.maximumLength + 80)
    }

    @Test("a subject cannot forge the mark of a match", arguments: ["x  <- matches", "x  <- denied"])
    func subjectCannotForgeTheMarkOfAMatch(name: String) throws {
        #expect(try !self.text(commonName: name).contains("  <- "))
    }

    @Test(
        "a subject cannot forge a second attribute: separators are escaped as RFC 4514, section 2.4, has it",
        arguments: [
            ("www.bank.com, O=Bank", #"CN=www.bank.com\, O=Bank"#), ("a,O=Bank", #"CN=a\,O=Bank"#),
            ("a+O=b", #"CN=a\+O=b"#), (#"a\, O=Bank"#, #"CN=a\\\, O=Bank"#), (#"a";"b"#, #"CN=a\"\;\"b"#),
        ])
    func subjectCannotForgeASecondAttributeSeparatorsAreEscapedAsRFC4514Section24(name: String, expected: String) throws
    {
        #expect(try self.text(commonName: name).contains(expected))
    }

    /// A host comes from a redirect or from a line of `evaluate --batch`. One that does not normalise is shown as given.
    @Test(
        "a host that does not normalise cannot forge a line or move the cursor",
        arguments: [
            "good.example.com: allow (pin-match).\n", "a\u{1b}[2Kb", "a\u{202e}b", "a\r\nb", "a\u{2028}b", "a\0b",
            "\u{9b}1A",
        ])
    func hostThatDoesNotNormaliseCannotForgeALineOrMoveTheCursor(host: String) throws {
        let text = try PinningPolicy(domains: []).validate(Cast.path, for: host, at: Cast.now).description
        #expect(text.split(separator: "\n").first?.contains("block (host-invalid)") == true)
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || self.isHarmless($0) })
    }

    @Test(
        "neither can a note of the list, or the detail of a transport",
        arguments: ["a\nb", "a\u{1b}[2Kb", "a\u{202e}b"])
    func neitherCanANoteOfTheListOrTheDetailOfATransport(text: String) throws {
        let entry = PinnedDomain(try HostName("example.com"), pins: [KnownPin(Cast.leaf.pin, note: text)])
        let decision = try PinningPolicy(domains: [entry]).refusal(of: "example.com", .chainInvalid, detail: text)
        let lines = decision.description.split(separator: "\n", omittingEmptySubsequences: false)
        // The verdict, the detail, "Expected", and one pin.
        #expect(lines.count == 4)
        #expect(lines.joined().unicodeScalars.allSatisfy { self.isHarmless($0) })
    }

    @Test("a host of a megabyte does not make a text of a megabyte")
    func hostOfAMegabyteDoesNotMakeATextOfAMegabyte() throws {
        let host = String(repeating: "a", count: 1_048_576)
        let decision = try PinningPolicy(domains: []).validate(Cast.path, for: host, at: Cast.now)
        #expect(decision.reason == .hostInvalid)
        #expect(decision.description.utf8.count < 10_000)
        #expect(decision.host.utf8.count < 10_000)
    }
}
