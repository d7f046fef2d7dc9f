// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

/// formats.md, sections 3 and 3.2, sentence by sentence.
@Suite("The format of a list")
struct ListFormatTests {
    private func list(_ text: String) throws -> PinList { try PinList(payload: Array(text.utf8)) }

    /// The example with a part of its text replaced.
    private func edited(_ part: String, _ replacement: String) throws -> String {
        try #require(Payload.list.contains(part), "the example has no \(part)")
        return Payload.list.replacingOccurrences(of: part, with: replacement)
    }

    @Test("the example of the specification says what it seems to say")
    func exampleOfTheSpecificationSaysWhatItSeemsToSay() throws {
        let list = try self.list(Payload.list)
        #expect(list.name == "com.example.app")
        #expect(list.version == 7)
        #expect(list.issuedAt == Story.start)
        #expect(list.expiresAt == Story.after(days: 60))
        #expect(list.refreshAfter == 43_200)
        #expect(list.unlisted == .allow)
        #expect(list.unknownMembers == [])
        #expect(list.unusablePinCount == 0)
        let entry = try #require(list.domains.first).entry
        #expect(entry.domain.description == "api.example.com")
        #expect(entry.includeSubdomains)
        #expect(entry.pins == [KnownPin(Story.pin(1), note: "current"), KnownPin(Story.pin(2), note: "backup")])
        #expect(entry.reportTo == ["https://reports.example.com/v1/reports"])
        #expect(list.denied == [DeniedKey(Story.pin(3), note: "stolen 2026-11")])
        #expect(list.suspended.first?.scope == .entry(entry.domain))
    }

    @Test("absent members have their defaults")
    func absentMembersHaveTheirDefaults() throws {
        let list = try self.list(Payload.list(domain: #"{"domain":"A.example.","pins":[{"pin":"\#(Story.pin(1))"}]}"#))
        let domain = try #require(list.domains.first)
        #expect(domain == PinList.Domain(PinnedDomain(try HostName("a.example"), pins: [KnownPin(Story.pin(1))])))
        #expect(domain.rollout == 100)
        #expect(domain.entry.mode == .enforce)
        #expect(domain.entry.expiresAt == nil)
        #expect(list.refreshAfter == 43_200)
        #expect(list.unlisted == .allow)
        #expect(list.reportTo.isEmpty && list.denied.isEmpty && list.suspended.isEmpty)
    }

    @Test(
        "a member of another form is malformed",
        arguments: [
            (#""version": 7"#, #""version": 0"#), (#""version": 7"#, #""version": 9007199254740992"#),
            (#""version": 7"#, #""version": "7""#), (#""version": 7"#, #""version": 7.0"#),
            (#""version": 7"#, #""version": 7e0"#), (#""version": 7"#, #""version": null"#),
            (#""version": 7"#, #""version": true"#), (#""version": 7"#, #""versions": 7"#),
            (#""specVersion": "1.0""#, #""specVersion": "2.0""#), (#""specVersion": "1.0""#, #""specVersion": "10.0""#),
            (#""specVersion": "1.0""#, #""specVersion": "01.0""#), (#""specVersion": "1.0""#, #""specVersion": "1""#),
            (#""specVersion": "1.0""#, #""specVersion": 1"#), (#""specVersion": "1.0""#, #""specVersion": "1.0.0""#),
            (#""name": "com.example.app""#, #""name": """#), (#""name": "com.example.app""#, #""name": ".com""#),
            (#""name": "com.example.app""#, #""name": "a/b""#), (#""name": "com.example.app""#, #""name": "ä""#),
            (#""name": "com.example.app""#, #""name": "a\u0000""#),
            (#""expiresAt": "2027-01-20T00:00:00Z""#, #""expiresAt": "2026-11-21T00:00:00Z""#),
            (#""expiresAt": "2027-01-20T00:00:00Z""#, #""expiresAt": "2026-11-20T23:59:59Z""#),
            (#""expiresAt": "2027-01-20T00:00:00Z""#, #""expiresAt": "2027-01-20T00:00:00+00:00""#),
            (#""expiresAt": "2027-01-20T00:00:00Z""#, #""expiresAt": "2027-01-20T00:00:00.5Z""#),
            (#""expiresAt": "2027-01-20T00:00:00Z""#, #""expiresAt": 1800000000"#),
            (#""rollout": 100"#, #""rollout": 101"#), (#""rollout": 100"#, #""rollout": -1"#),
            (#""mode": "enforce", "rollout""#, #""mode": "Enforce", "rollout""#),
            (#""mode": "enforce", "rollout""#, #""mode": "block", "rollout""#),
            (#""mode": "enforce", "note": "st"#, #""mode": "off", "note": "st"#),
            (#""unlisted": "allow""#, #""unlisted": "block""#), (#""unlisted": "allow""#, #""unlisted": null"#),
            (#""includeSubdomains": true"#, #""includeSubdomains": 1"#),
            (#""requireIssuer": false"#, #""requireIssuer": true"#),
            (#""domain": "api.example.com", "includeSubdomains": true"#, #""includeSubdomains": true"#),
            (
                #""domain": "api.example.com", "includeSubdomains": true"#,
                #""domain": "10.0.0.1", "includeSubdomains": true"#
            ),
            (
                #""domain": "api.example.com", "includeSubdomains": true"#,
                #""domain": "::1", "includeSubdomains": true"#
            ),
            (#""domain": "api.example.com", "includeSubdomains"#, #""domain": "bücher.example", "includeSubdomains"#),
            (#""domain": "api.example.com", "includeSubdomains"#, #""domain": "127.1", "includeSubdomains"#),
            (#""domain": "api.example.com", "includeSubdomains"#, #""domain": "*", "includeSubdomains"#),
            (#""reason": "incident 4711""#, #""note": "incident 4711""#),
            (#""until": "2026-11-22T12:00:00Z", "#, ""),
            (#""until": "2026-11-22T12:00:00Z""#, #""until": "2026-11-21T00:00:00Z""#),
            (#""until": "2026-11-22T12:00:00Z""#, #""until": "2026-11-28T00:00:01Z""#),
            (#""position": "any""#, #""position": 1"#), (#""note": "current""#, #""note": ["current"]"#),
            (#""refreshAfter": 43200"#, #""refreshAfter": -1"#), (#""refreshAfter": 43200"#, #""refreshAfter": "12h""#),
            (#""rollout": 100"#, #""reportPerMillion": 0"#), (#""rollout": 100"#, #""reportPerMillion": 1000001"#),
            (#""rollout": 100"#, #""reportPerMillion": "10""#), (#""rollout": 100"#, #""reportPerMillion": null"#),
            (#""rollout": 100"#, #""reportPerMillion": 10.0"#), (#""refreshAfter": 43200"#, #""reportPerMillion": 0"#),
            (#""refreshAfter": 43200"#, #""reportPerMillion": 1000001"#),
            (#""refreshAfter": 43200"#, #""reportPerMillion": true"#),
        ])
    func memberOfAnotherFormIsMalformed(part: String, replacement: String) throws {
        let text = try self.edited(part, replacement)
        #expect(try Payload.refusal(list: text)?.code == .malformed)
    }

    @Test(
        "what is at the edge and good",
        arguments: [
            (#""version": 7"#, #""version": 9007199254740991"#), (#""specVersion": "1.0""#, #""specVersion": "1.17""#),
            (#""until": "2026-11-22T12:00:00Z""#, #""until": "2026-11-28T00:00:00Z""#),
            (#""until": "2026-11-22T12:00:00Z""#, #""until": "2026-11-21T00:00:01Z""#),
            (#""rollout": 100"#, #""rollout": 0"#), (#""refreshAfter": 43200"#, #""refreshAfter": 0"#),
            (#"{"domain": "api.example.com", "until""#, #"{"domain": "*", "until""#),
            (#""rollout": 100"#, #""reportPerMillion": 1"#), (#""rollout": 100"#, #""reportPerMillion": 1000000"#),
            (#""refreshAfter": 43200"#, #""reportPerMillion": 1"#),
        ])
    func whatIsAtTheEdgeAndGood(part: String, replacement: String) throws {
        #expect(try Payload.refusal(list: try self.edited(part, replacement)) == nil)
    }

    @Test("who reports is read, and a client of a version that does not know the member reads the list all the same")
    func whoReportsIsRead() throws {
        let text = try self.edited(#""refreshAfter": 43200"#, #""reportPerMillion": 20"#)
        var list = try PinList(payload: Array(text.utf8))
        #expect(list.reportPerMillion == 20 && list.domains[0].reportPerMillion == nil)
        let both = text.replacingOccurrences(of: #""rollout": 100"#, with: #""reportPerMillion": 30"#)
        #expect(try PinList(payload: Array(both.utf8)).domains[0].reportPerMillion == 30)
        // To that client it is an unknown member like any other.
        let older = both.replacingOccurrences(of: "reportPerMillion", with: "reportPerMillionth")
        let read = try PinList(payload: Array(older.utf8))
        #expect(read.unknownMembers.sorted() == ["domains[0].reportPerMillionth", "reportPerMillionth"])
        list.reportPerMillion = 1_000_000
        #expect(read.payload == list.payload, "what it knows is as it was")
    }

    @Test("a name of 128 bytes, and of 129")
    func nameOf128BytesAndOf129() throws {
        for (length, isGood) in [(128, true), (129, false)] {
            let name = String(repeating: "a", count: length)
            let text = try self.edited(#""name": "com.example.app""#, #""name": "\#(name)""#)
            #expect((try Payload.refusal(list: text) == nil) == isGood)
        }
    }

    @Test(
        "every member that must be there", arguments: ["type", "specVersion", "name", "version", "issuedAt", "domains"])
    func everyMemberThatMustBeThere(member: String) throws {
        let text = try self.edited("\"\(member)\": ", "\"x-\(member)\": ")
        #expect(try Payload.refusal(list: text)?.code == .malformed)
    }

    @Test("types: pins alone is a list")
    func typesPinsAloneIsAList() throws {
        for type in ["root", "Pins", "targets", ""] {
            let text = try self.edited(#""type": "pins""#, #""type": "\#(type)""#)
            #expect(try Payload.refusal(list: text)?.code == .wrongType)
        }
    }

    @Test("two domains that are one after normalisation")
    func twoDomainsThatAreOneAfterNormalisation() throws {
        for (first, second) in [
            ("a.example", "A.EXAMPLE."), ("::1", "[0:0:0:0:0:0:0:1]"), ("1.2.3.4", "::ffff:1.2.3.4"),
        ] {
            let entries = [first, second].map { #"{"domain":"\#($0)","mode":"off"}"# }
            let refused = try Payload.refusal(list: Payload.list(domain: entries.joined(separator: ",")))
            #expect(refused?.code == .malformed)
            #expect(refused?.detail.hasPrefix("domains[1].domain occurs twice") == true)
        }
    }

    @Test("no pin: only where the entry is off", arguments: ["enforce", "report", "off"])
    func noPinOnlyWhereTheEntryIsOff(mode: String) throws {
        for pins in ["", #","pins":[]"#] {
            let text = Payload.list(domain: #"{"domain":"a.example","mode":"\#(mode)"\#(pins)}"#)
            #expect((try Payload.refusal(list: text) == nil) == (mode == "off"))
        }
    }

    @Test("an unknown member is ignored and named, at every depth")
    func unknownMemberIsIgnoredAndNamedAtEveryDepth() throws {
        let text = try self.edited(#""unlisted": "allow""#, #""unlisted": "allow", "severity": {"a": [1, null]}"#)
            .replacingOccurrences(of: #""note": "backup""#, with: #""note": "backup", "colour": "red""#)
        #expect(try self.list(text).unknownMembers == ["domains[0].pins[1].colour", "severity"])
        let many = (0..<1_000).map { "\"x\($0)\":1" }.joined(separator: ",")
        #expect(try self.list(try self.edited(#""unlisted": "allow""#, many)).unknownMembers.count == 32)
    }

    @Test("members that Unicode calls the same as known ones are not those")
    func membersThatUnicodeCallsTheSameAsKnownOnesAreNotThose() throws {
        // KELVIN SIGN is canonically a K; COMBINING marks make another character of what stands before them.
        let text = try self.edited(#""unlisted": "allow""#, "\"unlisted\u{301}\": 1, \"\u{212A}\": 2")
        #expect(try self.list(text).unknownMembers.count == 2)
    }

    @Test("sizes: pins, denied, suspended, domains; the most, and one more")
    func sizesPinsDeniedSuspendedDomainsTheMostAndOneMore() throws {
        func repeated(_ text: String, _ count: Int) -> String {
            [String](repeating: text, count: count).joined(separator: ",")
        }
        let pin = #"{"pin":"\#(Story.pin(1))"}"#
        for (count, isGood) in [(16, true), (17, false)] {
            let text = Payload.list(domain: #"{"domain":"a.example","pins":[\#(repeated(pin, count))]}"#)
            #expect((try Payload.refusal(list: text) == nil) == isGood)
        }
        for (count, isGood) in [(256, true), (257, false)] {
            let denied = try self.edited(#""unlisted": "allow""#, #""x": 1"#)
                .replacingOccurrences(of: #""denied": ["#, with: #""denied": [\#(repeated(pin, count - 1)),"#)
            #expect((try Payload.refusal(list: denied) == nil) == isGood)
            let suspension = #"{"domain":"*","until":"2026-11-22T12:00:00Z","reason":""}"#
            let suspended = try self.edited(
                #""suspended": ["#, #""suspended": [\#(repeated(suspension, count - 1)),"#)
            #expect((try Payload.refusal(list: suspended) == nil) == isGood)
        }
        for (count, isGood) in [(10_000, true), (10_001, false)] {
            let entries = (0..<count).map { #"{"domain":"h\#($0).example","mode":"off"}"# }.joined(separator: ",")
            #expect((try Payload.refusal(list: Payload.list(domain: entries)) == nil) == isGood)
        }
    }

    @Test("what clients make of refreshAfter", arguments: [(0, 900), (899, 900), (900, 900), (86_401, 86_400)])
    func whatClientsMakeOfRefreshAfter(published: Int64, expected: Int64) throws {
        let text = try self.edited(#""refreshAfter": 43200"#, #""refreshAfter": \#(published)"#)
        #expect(try self.list(text).refreshAfter == published)
        #expect(try self.list(text).refreshInterval == expected)
    }
}
