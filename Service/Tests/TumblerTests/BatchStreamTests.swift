// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("evaluate --batch answers a stream of questions", .needsOpenSSL)
struct BatchStreamTests {
    private func withChain(_ body: (URL, TestChain, _ pins: [String]) async throws -> Void) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let chain = try await TestChain(with: openssl, in: folder)
            try await body(folder, chain, try await openssl.pins(ofCertificates: chain.path, in: folder))
        }
    }

    /// Questions of every cost: a core that answers quickly must not put its answers before those of another.
    @Test("1,000 lines are answered in their order, each with what it asked")
    func of1000LinesAreAnsweredInTheirOrderEachWithWhatItAsked() async throws {
        try await self.withChain { folder, chain, pins in
            let (presented, roots) = (try chain.presentedTexts(), try chain.rootTexts())
            let foreign = "sha256/\(Data(repeating: 9, count: 32).base64EncodedString())"
            var expected: [BatchAnswerLine] = []
            var lines: [String] = []
            for number in 0..<1_000 {
                let id = PrintedIdentifier.number(Int64(number))
                var question = BatchQuestionLine(id: id, host: "host\(number).example.com", chain: [], roots: roots)
                question.nameCheck = false
                let reason: String
                switch number % 5 {
                case 0:
                    (question.chain, question.pins, reason) = (presented, [foreign, pins[3]], "pin-match")
                case 1:
                    (question.chain, question.pins, reason) = (presented, [foreign], "no-matching-pin")
                case 2: reason = "no-certificates"
                case 3: (question.host, reason) = ("host\(number)..example.com", "host-invalid")
                default: (question.chain, reason) = ([presented[0]], "chain-invalid")
                }
                lines.append(try question.line())
                expected.append(BatchAnswerLine(id: id, host: question.host, reason: reason))
            }
            try folder.write(lines.joined(separator: "\n") + "\n", as: "questions.jsonl")
            let run = try await CommandRun.tumbler(["evaluate", "--batch", "questions.jsonl"], in: folder)
            run.expectResult()
            #expect(try run.decodedLines(as: BatchAnswerLine.self) == expected)
        }
    }

    @Test("an answer has the members of a decision, and the question's id")
    func answerHasTheMembersOfADecisionAndTheQuestionsId() async throws {
        try await self.withChain { folder, chain, pins in
            var question = try BatchQuestionLine(id: .text("one"), asking: chain)
            question.pins = [pins[0]]
            try folder.write(try question.line() + "\n", as: "questions.jsonl")
            let run = try await CommandRun.tumbler(
                ["evaluate", "--batch", "-"], in: folder, standardInput: "questions.jsonl")
            run.expectResult()
            #expect(try run.members() == [PrintedDecision.members.union(["id"])])
            #expect(try run.decoded(as: PrintedDecision.self).matched == PrintedDecision.Match(pin: pins[0], index: 0))
        }
    }

    @Test("numbers and texts come back as they were")
    func numbersAndTextsComeBackAsTheyWere() async throws {
        let numbers: [Int64] = [0, -1, .max, .min, 9_007_199_254_740_993]
        let texts = [
            "", "1", "a b", "\"\\/\n\t\u{0}\u{7f}\u{2028}", "é", "e\u{301}", "😀",
            String(repeating: "x", count: 100_000),
        ]
        let identifiers = numbers.map { PrintedIdentifier.number($0) } + texts.map { PrintedIdentifier.text($0) }
        try await withTemporaryFolder { folder in
            let questions = identifiers.map { BatchQuestionLine(id: $0, host: "a.example", chain: [], roots: []) }
            try folder.write(try questions.map { try $0.line() + "\n" }.joined(), as: "questions.jsonl")
            let run = try await CommandRun.tumbler(["evaluate", "--batch", "questions.jsonl"], in: folder)
            run.expectResult()
            let answers = try run.decodedLines(as: BatchAnswerLine.self)
            #expect(answers.map(\.id) == identifiers)
            // Byte by byte: texts that look the same are not.
            let asked = texts.map { Array($0.utf8) }
            #expect(answers.dropFirst(numbers.count).map { Array($0.id?.text?.utf8 ?? "".utf8) } == asked)
        }
    }

    @Test("a time of its own, the time of --at, or now; the name checked or not")
    func timeOfItsOwnTheTimeOfAtOrNowTheNameCheckedOrNot() async throws {
        try await self.withChain { folder, chain, _ in
            let now = ISO8601DateFormatter().string(from: Date())
            var questions: [BatchQuestionLine] = []
            for (at, host, nameCheck) in [
                (nil, TestChain.host, nil), (now, TestChain.host, nil), (now, "other.example", nil),
                (now, "other.example", true), (now, "other.example", false),
            ] as [(String?, String, Bool?)] {
                var question = try BatchQuestionLine(id: .number(Int64(questions.count)), asking: chain)
                (question.at, question.host, question.nameCheck) = (at, host, nameCheck)
                questions.append(question)
            }
            try folder.write(try questions.map { try $0.line() + "\n" }.joined(), as: "questions.jsonl")
            let asOfNow = try await CommandRun.tumbler(["evaluate", "--batch", "questions.jsonl"], in: folder)
            #expect(
                try asOfNow.decodedLines(as: BatchAnswerLine.self).map(\.reason)
                    == ["not-pinned", "not-pinned", "chain-invalid", "chain-invalid", "not-pinned"])
            let late = ["evaluate", "--batch", "questions.jsonl", "--at", "2099-01-01T00:00:00Z"]
            let asOfThen = try await CommandRun.tumbler(late, in: folder)
            #expect(
                try asOfThen.decodedLines(as: BatchAnswerLine.self).map(\.reason)
                    == ["chain-invalid", "not-pinned", "chain-invalid", "chain-invalid", "not-pinned"])
        }
    }

    @Test("a caller that waits for an answer before the next question gets it")
    func callerThatWaitsForAnAnswerBeforeTheNextQuestionGetsIt() async throws {
        let program = try #require(CommandRun.program)
        try await withTemporaryFolder { folder in
            try await withRunningProcess(program, ["evaluate", "--batch", "-"], in: folder) { tumbler in
                for number in 0..<20 {
                    let id = PrintedIdentifier.number(Int64(number))
                    let question = BatchQuestionLine(id: id, host: "a.example", chain: [], roots: [])
                    try tumbler.say(try question.line())
                    let answer = try #require(await tumbler.nextLine())
                    #expect(try JSONDecoder().decode(BatchAnswerLine.self, from: Data(answer.utf8)).id == id)
                }
                tumbler.endInput()
                #expect(await tumbler.nextLine() == nil)
            }
        }
    }

    @Test("no questions, blank lines, Windows line ends, and a last line without an end")
    func noQuestionsBlankLinesWindowsLineEndsAndALastLineWithoutAnEnd() async throws {
        try await withTemporaryFolder { folder in
            let question = try BatchQuestionLine(id: .number(1), host: "a.example", chain: [], roots: []).line()
            for (text, count) in [
                ("", 0), ("\n\n \t\n", 0), (question, 1), ("\n\(question)\r\n\r\n\(question)", 2),
            ] {
                try folder.write(text, as: "questions.jsonl")
                let run = try await CommandRun.tumbler(["evaluate", "--batch", "questions.jsonl"], in: folder)
                run.expectResult()
                let reasons = try run.decodedLines(as: BatchAnswerLine.self).map(\.reason)
                #expect(reasons == Array(repeating: "no-certificates", count: count))
            }
        }
    }

    @Test("questions that cannot be read at all are an error: a missing file, a folder, one whose reading fails")
    func questionsThatCannotBeReadAtAllAreAnErrorAMissingFileAFolder() async throws {
        try await withTemporaryFolder { folder in
            for file in ["missing.jsonl", folder.path, "/proc/self/mem"] {
                try await CommandRun.tumbler(["evaluate", "--batch", file], in: folder).expectError(2)
            }
        }
    }

    @Test("a batch takes its questions from the file alone")
    func batchTakesItsQuestionsFromTheFileAlone() async throws {
        try await withTemporaryFolder { folder in
            for options in [
                ["--host", "a.example"], ["--chain", "x"], ["--roots", "x"], ["--pin", "x"], ["--no-name-check"],
            ] {
                try await CommandRun.tumbler(["evaluate", "--batch", "-"] + options, in: folder).expectError(64)
            }
        }
    }
}
