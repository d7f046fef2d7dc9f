// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import Testing

@testable import tumbler

/// The shortcuts of a batch give the same as the slow way, which decides: no question is read, and no answer written,
/// in another way.
@Suite("The quick ways through a batch")
struct BatchShortcutTests {
    private static let rest = #""host":"a.example","chain":["c\n\/\"\\é\u00e9\ud83d\ude00"],"roots":[]"#

    @Test(
        "a question that is read quickly is the one that JSONDecoder reads",
        arguments: [
            "{\"id\":\"x\",\(rest)}", "{\"id\":-7,\(rest)}", " {\t\"id\" : 9223372036854775807 , \(rest) } ",
            "{\"id\":-0,\(rest),\"more\":[{},null,true,5]}", "{\"id\":\"\\u0000\",\(rest),\"nameCheck\":false}",
            "{\"id\":\"x\",\(rest),\"at\":null,\"pins\":null,\"list\":null,\"root\":null,\"nameCheck\":null}",
            "{\"id\":\"x\",\(rest),\"at\":\"2026-11-21T00:00:00Z\",\"pins\":[\"p\",\"q\"],\"list\":\"l\",\"root\":\"r\"}",
            "{\"id\":\"x\",\(rest),\"logs\":\"l\",\"transparency\":\"chrome\"}",
        ])
    func questionThatIsReadQuicklyIsTheOneThatJSONDecoderReads(line: String) throws {
        let data = Data(line.utf8)
        let quick = try #require(BatchQuestion(strict: data))
        let slow = try JSONDecoder().decode(BatchQuestion.self, from: data)
        #expect(String(reflecting: quick) == String(reflecting: slow))
    }

    @Test(
        "what is not strict, or of the wrong type, is left to JSONDecoder",
        arguments: [
            "{\"id\":1.0,\(rest)}", "{\"id\":\"x\",\"id\":\"y\",\(rest)}", "{\"id\":true,\(rest)}", "{\(rest)}", "[]",
            "5", "",
            "{\"id\":\"x\",\(rest),\"nameCheck\":0}", "{\"id\":\"x\",\(rest),\"pins\":\"\"}",
            "{\"id\":\"x\",\(rest),\"at\":0}", "{\"id\":\"x\",\(rest),\"logs\":0}",
            "{\"id\":\"x\",\"host\":\"a\",\"chain\":[1],\"roots\":[]}",
            "{\"id\":\"x\",\(rest),\"more\":[\(String(repeating: "1,", count: 2_000))1]}",
            "{\"id\":\"\\ud800\",\(rest)}",
        ])
    func whatIsNotStrictOrOfTheWrongTypeIsLeftToJSONDecoder(line: String) {
        #expect(BatchQuestion(strict: Data(line.utf8)) == nil)
    }

    @Test("an answer that is written quickly is, byte for byte, what JSONEncoder writes")
    func answerThatIsWrittenQuicklyIsByteForByteWhatJSONEncoderWrites() throws {
        let pins = try [
            "sha256/" + String(repeating: "A", count: 43) + "=", "sha256/" + String(repeating: "/", count: 42) + "8=",
        ]
        .map { try Pin($0) }
        let path = ValidatedPath(uncheckedValidatedPath: [[0x30, 0x00]])
        let name = try HostName("api.example.com")
        let policy = try PinningPolicy(
            list: ListIdentity(name: "com.example/app", version: 7, stale: true),
            domains: [PinnedDomain(name, pins: pins.map { KnownPin($0) })])
        var decisions = [
            policy.validate(path, for: "api.example.com", at: Timestamp(secondsSince1970: 1_800_000_000)),
            policy.refusal(of: "api.example.com", .chainInvalid, detail: "a reason without a full stop"),
            policy.refusal(of: "other.example", .cleartext),
            try PinningPolicy(domains: []).validate(
                path, for: "a.example", at: Timestamp(secondsSince1970: 1_800_000_000)
            )
            .requiring(
                TransparencyEvaluation(policy: "chrome", isSatisfied: false, detail: "none", timestamps: [])),
        ]
        #expect(decisions.last?.transparency != nil)
        // Texts that need an escape, or are none of ASCII, in each place that a question chooses.
        for text in ["", "a/b", "\"", "\\", "\n", "\u{0}", "\u{1f}", "\u{7f}", "é", "\u{2028}", "😀"] {
            decisions.append(PinningDecision(unreadableQuestionFor: text, detail: "x"))
            decisions.append(PinningDecision(unreadableQuestionFor: "a", detail: text))
        }
        for decision in decisions {
            for id in [nil, .text("x"), .text("a/\"\n"), .number(-7), .number(.max)] as [BatchQuestion.Identifier?] {
                let answer = BatchAnswer(id: id, decision: decision)
                #expect(try answer.line == JSONOutput.line(answer))
            }
        }
    }
}
