// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The vectors, which other languages are compared by")
struct VectorsTests {
    private static let environment = URL(fileURLWithPath: "/usr/bin/env")

    private static let vectors = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("vectors")

    @Sendable private static func hasPython() async throws -> Bool {
        try await self.python(["-c", "pass"]).status == 0
    }

    @Sendable private static func hasCryptography() async throws -> Bool {
        let modules = "from cryptography.hazmat.primitives.asymmetric import mldsa"
        return try await self.python(["-c", modules]).status == 0
    }

    private static func python(_ arguments: [String]) async throws -> FinishedProcess {
        try await withTemporaryFolder { folder in
            try await FinishedProcess.run(self.environment, ["python3", "-B"] + arguments, in: folder)
        }
    }

    /// Runs `vectors/run` with a command that answers.
    private func ask(_ command: [String], only: [String] = []) async throws -> (status: Int32, lines: [String]) {
        let runner = Self.vectors.appendingPathComponent("run").path
        let run = try await Self.python([runner] + only.flatMap { ["--only", $0] } + ["--"] + command)
        return (run.status, String(decoding: run.output, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    @Test("tumbler gives the expected answer to each of them", .enabled("there is no python3", Self.hasPython))
    func tumblerGivesTheExpectedAnswerToEachOfThem() async throws {
        let program = try #require(CommandRun.program, "there is no tumbler beside the tests")
        let (status, lines) = try await self.ask([program.path, "vectors"])
        #expect(status == 0, "\(lines.joined(separator: "\n"))")
        let last = try #require(lines.last)
        #expect(last.hasSuffix(" right, 0 wrong, 0 unsupported"))
        #expect(try #require(Int(last.prefix { $0 != " " })) >= 1_000)
    }

    @Test(
        "the reference, which is written from the documentation in Python, gives the same answers",
        .enabled("there is no python3 with a cryptography that has ML-DSA", Self.hasCryptography))
    func referenceWhichIsWrittenFromTheDocumentationInPythonGivesTheSameAnswers() async throws {
        let (status, lines) = try await self.ask([
            "python3", "-B", Self.vectors.appendingPathComponent("reference/answer.py").path,
        ])
        #expect(status == 0, "\(lines.joined(separator: "\n"))")
        #expect(lines.last?.hasSuffix(" right, 0 wrong, 0 unsupported") == true)
    }

    @Test(
        "a client that accepts any host's pin is found: its answers are told apart",
        .enabled("there is no python3", Self.hasPython))
    func clientThatAcceptsAnyHostsPinIsFoundItsAnswersAreToldApart() async throws {
        let program = try #require(CommandRun.program, "there is no tumbler beside the tests")
        let accepting = #""$0" vectors | sed 's/"verdict":"block"/"verdict":"allow"/'"#
        let (status, lines) = try await self.ask(["/bin/sh", "-c", accepting, program.path], only: ["decisions"])
        #expect(status == 1)
        #expect(lines.contains { $0.hasPrefix("decisions/any-hosts-pin: ") })
    }

    @Test(
        "a client that writes 1 for true, or true for 1, is found: types are compared as well",
        .enabled("there is no python3", Self.hasPython))
    func clientThatWrites1ForTrueIsFoundTypesAreComparedAsWell() async throws {
        let program = try #require(CommandRun.program, "there is no tumbler beside the tests")
        for (file, change) in [
            ("nspinneddomains", #"s/"accepted":true/"accepted":1/"#), ("decisions", #"s/"index":1,/"index":true,/"#),
            ("rollout", #"s/"place":\([0-9]*\)}/"place":\1.0}/"#),
        ] {
            let (status, lines) = try await self.ask(
                ["/bin/sh", "-c", "\"$0\" vectors | sed '\(change)'", program.path], only: [file])
            #expect(status == 1, "\(lines.joined(separator: "\n"))")
            #expect(lines.contains { $0.hasPrefix("  answer.") }, "\(lines.joined(separator: "\n"))")
        }
    }

    @Test("a program that ends before it answered is no client", .enabled("there is no python3", Self.hasPython))
    func programThatEndsBeforeItAnsweredIsNoClient() async throws {
        #expect(try await self.ask(["/bin/sh", "-c", "exit 0"], only: ["hosts"]).status == 2)
    }

    @Test("an unknown question is unsupported, an invalid line an error, and the next one is answered")
    func unknownQuestionIsUnsupportedAnInvalidLineAnErrorAndTheNextOneIsAnswered() async throws {
        try await withTemporaryFolder { folder in
            let lines = [
                #"{"id":"a","do":"fly"}"#, "hello", #"{"id":"b","do":"normalise"}"#,
                #"{"id":"c","do":"normalise","host":"Example.com."}"#,
            ]
            try folder.write(lines.joined(separator: "\n"), as: "questions")
            let run = try await CommandRun.tumbler(["vectors"], in: folder, standardInput: "questions")
            try run.expectSuccess()
            #expect(run.lines.count == 4)
            #expect(run.lines.first == #"{"id":"a","unsupported":"fly"}"#)
            #expect(run.lines[1].hasPrefix(#"{"error":"not strict JSON"#))
            #expect(run.lines[2] == #"{"error":"host is missing, or invalid","id":"b"}"#)
            #expect(run.lines[3] == #"{"answer":{"host":"example.com"},"id":"c"}"#)
        }
    }
}
