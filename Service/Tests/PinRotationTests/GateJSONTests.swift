// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinRotation
import Testing

@Suite("The gate's JSON")
struct GateJSONTests {
    private static let pin = FramedCertificate.pin(2)

    private func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func answer(share: Double?) throws -> GateAnswer {
        GateAnswer(
            host: try HostName("api.example.com"), notedHostname: try HostName("example.com"), verdict: .safe,
            matched: GateAnswer.Match(Self.pin, .leaf),
            refusing: GateRefusing(share: share, hours: 24, requests: 18_211), reason: "all is well")
    }

    @Test("word by word, measured and not")
    func wordByWordMeasuredAndNot() throws {
        #expect(
            try self.text(try self.answer(share: 0.004))
                == #"{"host":"api.example.com","matched":{"pin":"\#(Self.pin)","position":"leaf"},"#
                + #""notedHostname":"example.com","reason":"all is well","#
                + #""refusing":{"measured":true,"period":"24h","requests":18211,"share":0.004},"verdict":"safe"}"#)
        let bare = GateAnswer(
            host: try HostName("api.example.com"), notedHostname: nil, verdict: .unknown, matched: nil,
            refusing: GateRefusing(share: nil, hours: 48, requests: 0), reason: "there is no list yet")
        #expect(
            try self.text(GateRecord(bare, certificate: String(repeating: "0f", count: 32)))
                == #"{"certificate":"\#(String(repeating: "0f", count: 32))","host":"api.example.com","matched":null,"#
                + #""notedHostname":null,"reason":"there is no list yet","#
                + #""refusing":{"measured":false,"period":"48h","requests":0,"share":null},"verdict":"unknown"}"#)
    }

    @Test("a written answer is read as it was")
    func writtenAnswerIsReadAsItWas() throws {
        for share in [nil, 0, 0.004, 1] as [Double?] {
            let record = GateRecord(try self.answer(share: share), certificate: String(repeating: "a", count: 64))
            let text = try self.text(record)
            #expect(text.utf8.count <= GateRecord.maximumLength)
            #expect(try JSONDecoder().decode(GateRecord.self, from: Data(text.utf8)) == record)
        }
    }

    @Test(
        "what contradicts itself, or is no answer, is refused",
        arguments: [
            (#""share":0.004"#, #""share":1.5"#), (#""share":0.004"#, #""share":-0.1"#),
            (#""share":0.004"#, #""share":null"#), (#""measured":true"#, #""measured":false"#),
            (#""period":"24h""#, #""period":"1d""#), (#""period":"24h""#, #""period":"-1h""#),
            (#""period":"24h""#, #""period":"+24h""#), (#""requests":18211"#, #""requests":-1"#),
            (#""verdict":"safe""#, #""verdict":"fine""#), (#""position":"leaf""#, #""position":"root""#),
            (#""host":"api.example.com""#, #""host":"not a host""#), (#""pin":"sha256/"#, #""pin":"sha1/"#),
            ("aaaa", "AAAA"),
        ])
    func whatContradictsItselfOrIsNoAnswerIsRefused(part: String, other: String) throws {
        let record = GateRecord(try self.answer(share: 0.004), certificate: String(repeating: "a", count: 64))
        let text = try self.text(record)
        #expect(text.contains(part))
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(GateRecord.self, from: Data(text.replacing(part, with: other).utf8))
        }
    }

    @Test("a reason from outside is one printable line")
    func reasonFromOutsideIsOnePrintableLine() throws {
        let text = try self.text(try self.answer(share: nil)).replacing("all is well", with: #"all\n\u001b[2Jis well"#)
        let answer = try JSONDecoder().decode(GateAnswer.self, from: Data(text.utf8))
        #expect(answer.reason.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f })
    }
}
