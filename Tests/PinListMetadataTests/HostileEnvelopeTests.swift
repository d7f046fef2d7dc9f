// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinningTesting
import Testing

/// The work that an attacker without keys can cause in a client. It is counted, not timed.
@Suite("Hostile envelopes")
struct HostileEnvelopeTests {
    @Test("32 junk signatures over the largest payload: refused as unsigned")
    func of32JunkSignaturesOverTheLargestPayloadRefusedAsUnsigned() throws {
        let repository = try Story.repository(pinsKeys: (2, 2))
        var client = try repository.client()
        var random = SeededGenerator(seed: 9)
        let payload = [UInt8](repeating: 0x20, count: 3_100_000)
        let signatures = (0..<32).map { number in
            Envelope.Signature(
                keyID: repository.pinsKeys[number % 2].keyID, bytes: random.bytes(63) + [UInt8(number % 16)])
        }
        let envelope = Envelope(
            payloadType: Envelope.payloadType(of: .pins), payload: payload, signatures: signatures)
        #expect(envelope.bytes.count < MetadataLimits().listBytes)
        #expect(try code { try client.accept(list: envelope.bytes, at: Story.start) } == .unsigned)
    }

    @Test(
        "what is no envelope: cut short, of the wrong types, with members twice",
        arguments: [
            "", "{", "[]", "null", "{}", #"{"payloadType":1,"payload":"","signatures":[]}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"","signatures":null}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"AA","signatures":[]}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"AA=","signatures":[]}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"AB==","signatures":[]}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"_-==","signatures":[]}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"AAA=\n","signatures":[]}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"","signatures":[{}]}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"","signatures":[{"sig":1}]}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"","signatures":[{"sig":"","keyid":null}]}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"","payload":"","signatures":[]}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"","signatures":[],"x":1.5}"#,
            #"{"payloadType":"application/vnd.tumbler.pins+json","payload":"","signatures":[]} x"#,
        ])
    func whatIsNoEnvelopeCutShortOfTheWrongTypesWithMembersTwice(text: String) throws {
        var client = try Story.repository().client()
        #expect(try code { try client.accept(list: Array(text.utf8), at: Story.start) } == .malformed)
    }

    @Test("an envelope of very many values is refused before they take their memory")
    func envelopeOfVeryManyValuesIsRefusedBeforeTheyTakeTheirMemory() throws {
        func envelope(_ strangers: Int) -> [UInt8] {
            let values = [String](repeating: "[]", count: strangers).joined(separator: ",")
            return Array(
                """
                {"payloadType":"application/vnd.tumbler.pins+json","payload":"","signatures":[],"x":[\(values)]}
                """.utf8)
        }
        var client = try Story.repository().client()
        // Five that are known or hold the strangers.
        let maximum = MetadataLimits.envelopeValues - 5
        #expect(try code { try client.accept(list: envelope(maximum), at: Story.start) } == .unsigned)
        #expect(try code { try client.accept(list: envelope(maximum + 1), at: Story.start) } == .malformed)
        #expect(try code { try client.accept(list: envelope(1_300_000), at: Story.start) } == .malformed)
        #expect(throws: JSONValue.ParsingError.self) { try JSONValue(strict: Array("[1,2]".utf8), maximumValues: 2) }
        #expect(throws: Never.self) { try JSONValue(strict: Array("[1,2]".utf8), maximumValues: 3) }
    }

    @Test("an envelope cut at each length, and each of its bytes changed: never trusted, never a crash")
    func envelopeCutAtEachLengthAndEachOfItsBytesChangedNeverTrustedNeverACrash() throws {
        var repository = try Story.repository()
        let list = try repository.publishList()
        var random = SeededGenerator(seed: 10)
        let whole = try Envelope(list, of: .pins, limits: MetadataLimits())
        for index in list.indices {
            var client = try repository.client()
            #expect(try code { try client.accept(list: Array(list.prefix(index)), at: Story.start) } != nil)
            var changed = list
            changed[index] = UInt8(truncatingIfNeeded: random.next())
            guard let outcome = try? client.accept(list: changed, at: Story.start) else { continue }
            // A hint may change without harm; what is signed may not.
            #expect(outcome == .newer)
            #expect(try Envelope(changed, of: .pins, limits: MetadataLimits()).payload == whole.payload)
        }
    }

    @Test("the refusal of an unsigned envelope holds none of its text")
    func refusalOfAnUnsignedEnvelopeHoldsNoneOfItsText() throws {
        var client = try Story.repository().client()
        let evil = "EVIL-\u{1b}[31m"
        for text in [
            "{\"\(evil)\":1}", "{\"payloadType\":\"\(evil)\",\"payload\":\"\",\"signatures\":[]}",
            "{\"payloadType\":\"x\",\"payload\":\"\(evil)\",\"signatures\":[]}",
            "{\"payloadType\":\"x\",\"payload\":\"\",\"signatures\":[{\"keyid\":\"\(evil)\",\"sig\":\"\(evil)\"}]}",
        ] {
            let escaped = text.unicodeScalars.map { $0.value == 0x1b ? "\\u001b" : String($0) }.joined()
            let refused = try #require(try refusal { try client.accept(list: Array(escaped.utf8), at: Story.start) })
            #expect(!refused.description.contains("EVIL"))
        }
    }
}
