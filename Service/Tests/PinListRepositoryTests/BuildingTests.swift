// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository
import Testing

@Suite("From a source to an unsigned list")
struct BuildingTests {
    @Test("times, version and members; a client reads the same list back")
    func timesVersionAndMembersAClientReadsTheSameListBack() throws {
        let source = try SourceText.read(
            SourceText.good("denied: [\"\(SourceText.pin("c"))\"]", entry: "rollout: 5", list: "validFor: 30d"))
        let list = try PinListBuilt.list(source)
        #expect(list.version == 1 && list.name == "com.example.app")
        #expect(list.issuedAt == SourceText.now && list.expiresAt == SourceText.now.later(30 * 86_400))
        #expect(list.domains == source.domains.map(\.domain) && list.denied == source.denied.map(\.value))
        #expect(try PinList(payload: list.payload) == list)
        var newest = list
        newest.version = 41
        #expect(try PinListBuilt.list(source, after: newest).version == 42)
    }

    @Test("the share that reports goes into the list, and an entry's own beside it; defaults are left out")
    func shareThatReportsGoesIntoTheListAndAnEntrysOwnBesideItDefaultsAreLeftOut() throws {
        let quiet = try PinListBuilt.list(
            SourceText.good(entry: "reportPerMillion: 1000000", list: "reportPerMillion: 10000"))
        #expect(quiet.reportPerMillion == 10_000 && quiet.domains[0].reportPerMillion == 1_000_000)
        #expect(try PinList(payload: quiet.payload) == quiet)
        let usual = try PinListBuilt.list(SourceText.good(list: "reportPerMillion: 1000000"))
        #expect(usual == (try PinListBuilt.list(SourceText.good())))
        #expect(!String(decoding: usual.payload, as: UTF8.self).contains("reportPerMillion"))
        #expect(try SourceText.read(SourceText.good(list: "reportPerMillion: 5")) != SourceText.read(SourceText.good()))
    }

    @Test("the newest list has another name, or the last version there is")
    func newestListHasAnotherNameOrTheLastVersionThereIs() throws {
        var newest = try PinListBuilt.list(SourceText.good())
        newest.name = "other"
        #expect(throws: RepositoryError.self) { try PinListBuilt.list(SourceText.good(), after: newest) }
        newest.name = "com.example.app"
        newest.version = MetadataLimits.version
        #expect(throws: RepositoryError.self) { try PinListBuilt.list(SourceText.good(), after: newest) }
    }

    @Test("a rebuild prolongs no suspension: a later one holds as long, and one that ended is left out")
    func rebuildProlongsNoSuspensionALaterOneHoldsAsLongAndOneThatEndedIsLeftOut() throws {
        let text = SourceText.good("suspended: [{domain: '*', until: \(SourceText.now.later(3_600)), reason: x}]")
        #expect(try PinListBuilt.list(text).suspended.first?.until == SourceText.now.later(3_600))
        let later = try PinListBuilt.list(text, at: SourceText.now.later(1_800))
        #expect(later.suspended.first?.until == SourceText.now.later(3_600))
        #expect(try PinListBuilt.list(text, at: SourceText.now.later(3_600)).suspended.isEmpty)
    }

    @Test("a suspension of over seven days says where it is and what is possible")
    func suspensionOfOverSevenDaysSaysWhereItIsAndWhatIsPossible() throws {
        let week: Int64 = 7 * 86_400
        let text = { (seconds: Int64) in
            SourceText.good("suspended: [{domain: '*', until: \(SourceText.now.later(seconds)), reason: x}]")
        }
        #expect(try PinListBuilt.list(text(week)).suspended.count == 1)
        do {
            _ = try PinListBuilt.list(text(week + 1))
            Issue.record("built")
        } catch {
            #expect(error.reason.hasPrefix("tumbler.yaml:8:13: "), "\(error)")
            #expect(error.hint?.contains("\(SourceText.now.later(week))") == true)
        }
    }

    @Test("a list that would be too large for an envelope is refused here")
    func listThatWouldBeTooLargeForAnEnvelopeIsRefusedHere() throws {
        let note = String(repeating: "n", count: 400_000)
        let pins = (0..<8).map { "{pin: \"\(SourceText.pin(Character("\($0)")))\", note: \(note)}" }
        let text = "name: a\ndomains:\n- {domain: x.example, pins: [\(pins.joined(separator: ", "))]}"
        do {
            _ = try PinListBuilt.list(text)
            Issue.record("built")
        } catch { #expect(error.hint?.contains("notes") == true, "\(error)") }
    }

    @Test("a list that is built fits into an envelope with as many of the longest signatures as clients read")
    func listThatIsBuiltFitsIntoAnEnvelopeWithAsManyOfTheLongestSignaturesAsClients() throws {
        func text(_ length: Int) -> String {
            let note = String(repeating: "n", count: length)
            let pins = (0..<8).map { "{pin: \"\(SourceText.pin(Character("\($0)")))\", note: \(note)}" }
            return "name: a\ndomains:\n- {domain: x.example, pins: [\(pins.joined(separator: ", "))]}"
        }
        let limit = MetadataLimits().listBytes
        let signatures = (0..<MetadataLimits.signatures).map { number in
            Envelope.Signature(
                keyID: String(repeating: "\(number % 10)", count: 64), bytes: [UInt8](repeating: 7, count: 3_309))
        }
        func envelope(_ payload: [UInt8]) -> Envelope {
            Envelope(payloadType: Envelope.payloadType(of: .pins), payload: payload, signatures: signatures)
        }
        // 3,030,000 bytes of notes fit. 3,100,000 fit with signatures of 64 bytes alone, and are refused before a
        // signer is asked.
        let list = try PinListBuilt.list(text(378_750))
        #expect(envelope(list.payload).bytes.count <= limit)
        var longer = list
        longer.domains[0].entry.pins = longer.domains[0].entry.pins.map {
            KnownPin($0.pin, position: $0.position, note: String(repeating: "n", count: 387_500))
        }
        #expect(envelope(longer.payload).bytes.count > limit)
        #expect((longer.payload.count + 2) / 3 * 4 + 8_192 < limit)
        #expect(throws: RepositoryError.self) { try PinListBuilt.list(text(387_500)) }
    }
}
