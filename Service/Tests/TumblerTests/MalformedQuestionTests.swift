// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// One line that cannot be read is answered so, and the rest go on.
@Suite("A malformed question in a batch")
struct MalformedQuestionTests {
    /// The defect of a line, and the `id` that can be read in it all the same.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let line: Data
        let id: PrintedIdentifier?

        init(_ description: String, _ line: String, id: PrintedIdentifier? = nil) {
            self.init(description, Data(line.utf8), id: id)
        }

        init(_ description: String, _ line: Data, id: PrintedIdentifier? = nil) {
            self.testDescription = description
            self.line = line
            self.id = id
        }
    }

    private static let deep = String(repeating: "[", count: 100_000)
    private static let rest = #""host":"a.example","chain":[],"roots":[]"#
    private static let noBase64 = #"-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n"#

    static let notJSON: [Case] = [
        Case("not JSON", "hello"), Case("half a line", #"{"id":"x","host":"a.example""#), Case("two values", "{} {}"),
        Case("an array", "[]"), Case("a number", "5"), Case("null", "null"), Case("no members", "{}"),
        Case("NUL bytes", Data([0, 0, 0, 0])), Case("a NUL byte in a text", "{\"id\":\"x\0\",\(rest)}"),
        Case("100,000 brackets", deep), Case("100,000 brackets in a member", #"{"id":"x","host":\#(deep)"#),
        Case("100,000 brackets, closed", "{\"more\":\(deep)\(String(repeating: "]", count: 100_000)),\(rest)}"),
        Case("100,000 braces", String(repeating: #"{"id":"#, count: 100_000)),
        Case("text that is not UTF-8, in the id", Data(#"{"id":""#.utf8) + [0xff] + Data("\",\(rest)}".utf8)),
        Case(
            "text that is not UTF-8, in the host",
            Data(#"{"id":"x","host":""#.utf8) + [0xff] + Data(#"","chain":[],"roots":[]}"#.utf8), id: .text("x")),
        Case("half a surrogate pair", #"{"id":"\ud800",\#(rest)}"#),
        Case("a line of 9 MiB", Data(repeating: UInt8(ascii: " "), count: 9 << 20)),
        Case("a text of 9 MiB", "{\"id\":\"\(String(repeating: "x", count: 9 << 20))\",\(rest)}"),
    ]

    static let wrongMembers: [Case] = [
        Case("no id", "{\(rest)}"), Case("an id that is true", "{\"id\":true,\(rest)}"),
        Case("an id that is null", "{\"id\":null,\(rest)}"), Case("an id with a fraction", "{\"id\":1.5,\(rest)}"),
        Case("an id beyond 64 bits", "{\"id\":18446744073709551616,\(rest)}"),
        Case("an id that is an object", "{\"id\":{},\(rest)}"),
        Case("no host", #"{"id":"x","chain":[],"roots":[]}"#, id: .text("x")),
        Case("no chain", #"{"id":7,"host":"a.example","roots":[]}"#, id: .number(7)),
        Case("no roots", #"{"id":"x","host":"a.example","chain":[]}"#, id: .text("x")),
        Case("a host that is a number", #"{"id":-7,"host":5,"chain":[],"roots":[]}"#, id: .number(-7)),
        Case("a chain that is a text", #"{"id":"x","host":"a.example","chain":"","roots":[]}"#, id: .text("x")),
        Case("a chain of numbers", #"{"id":"x","host":"a.example","chain":[1],"roots":[]}"#, id: .text("x")),
        Case("roots that are null", #"{"id":"x","host":"a.example","chain":[],"roots":null}"#, id: .text("x")),
        Case("a name check that is a text", "{\"id\":\"x\",\"nameCheck\":\"false\",\(rest)}", id: .text("x")),
        Case("pins that are a text", "{\"id\":\"x\",\"pins\":\"\",\(rest)}", id: .text("x")),
        Case("a time that is a number", "{\"id\":\"x\",\"at\":0,\(rest)}", id: .text("x")),
    ]

    static let wrongTexts: [Case] = [
        Case("a pin that is none", "{\"id\":\"x\",\"pins\":[\"sha256/x\"],\(rest)}", id: .text("x")),
        Case("an empty pin", "{\"id\":\"x\",\"pins\":[\"\"],\(rest)}", id: .text("x")),
        Case("a time that is none", "{\"id\":\"x\",\"at\":\"tomorrow\",\(rest)}", id: .text("x")),
        Case("a time with an offset", "{\"id\":\"x\",\"at\":\"2026-11-21T00:00:00+00:00\",\(rest)}", id: .text("x")),
        Case("a chain without PEM", #"{"id":"x","host":"a.example","chain":[""],"roots":[]}"#, id: .text("x")),
        Case("a chain of broken PEM", #"{"id":"x","host":"a","chain":["\#(noBase64)"],"roots":[]}"#, id: .text("x")),
        Case("roots of broken PEM", #"{"id":"x","host":"a","chain":[],"roots":["\#(noBase64)"]}"#, id: .text("x")),
        Case("roots without PEM", #"{"id":"x","host":"a.example","chain":[],"roots":["x"]}"#, id: .text("x")),
        Case("a signed list, not evaluated yet", "{\"id\":\"x\",\"list\":\"pins.json\",\(rest)}", id: .text("x")),
    ]

    private static func file(of lines: [Data]) -> Data {
        lines.reduce(into: Data()) { $0.append($1 + [UInt8(ascii: "\n")]) }
    }

    @Test(
        "is answered malformed, with its id where that can be read, and the lines around it as ever",
        arguments: Self.notJSON + Self.wrongMembers + Self.wrongTexts)
    func isAnsweredMalformedWithItsIdWhereThatCanBeReadAndTheLinesAroundItAsEver(malformed: Case) async throws {
        let question = BatchQuestionLine(id: .text("good"), host: "a.example", chain: [], roots: [])
        let good = Data(try question.line().utf8)
        try await withTemporaryFolder { folder in
            try folder.write(Self.file(of: [good, malformed.line, good]), as: "questions.jsonl")
            let run = try await CommandRun.tumbler(["evaluate", "--batch", "questions.jsonl"], in: folder)
            run.expectResult()
            let answers = try run.decodedLines(as: BatchAnswerLine.self)
            try #require(answers.count == 3, "\(run)")
            #expect(answers.map(\.reason) == ["no-certificates", "malformed", "no-certificates"])
            #expect(answers.map(\.id) == [.text("good"), malformed.id, .text("good")])
            let decision = try JSONDecoder().decode(PrintedDecision.self, from: Data(run.lines[1].utf8))
            #expect(decision.verdict == "block" && decision.enforced && decision.path.isEmpty)
            #expect(decision.detail?.isEmpty == false)
        }
    }

    @Test("all of them in one file: as many answers as lines, in their order")
    func allOfThemInOneFileAsManyAnswersAsLinesInTheirOrder() async throws {
        let cases = Self.notJSON + Self.wrongMembers + Self.wrongTexts
        try await withTemporaryFolder { folder in
            try folder.write(Self.file(of: cases.map(\.line)), as: "questions.jsonl")
            let run = try await CommandRun.tumbler(["evaluate", "--batch", "questions.jsonl"], in: folder)
            run.expectResult()
            let answers = try run.decodedLines(as: BatchAnswerLine.self)
            #expect(answers.map(\.id) == cases.map(\.id))
            #expect(Set(answers.map(\.reason)) == ["malformed"])
        }
    }

    @Test("an empty chain can be read: nothing was presented")
    func emptyChainCanBeReadNothingWasPresented() async throws {
        try await withTemporaryFolder { folder in
            let question = BatchQuestionLine(id: .number(1), host: "a.example", chain: [], roots: [])
            try folder.write(try question.line(), as: "q")
            let run = try await CommandRun.tumbler(["evaluate", "--batch", "q"], in: folder)
            run.expectResult()
            let decision = try run.decoded(as: PrintedDecision.self)
            #expect(decision.verdict == "block" && decision.reason == "no-certificates")
        }
    }
}
