// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A person at a terminal, who waits for each question and types the answer.
enum Typist {
    private static let environment = URL(fileURLWithPath: "/usr/bin/env")

    /// Runs a command on a terminal of its own: waits for each question, then types the answer. Prints what the
    /// terminal showed, and ends as the command did. Where the answer is `SIGTERM`, that signal is sent to the process whose id is in
    /// the file `pid`.
    private static let script = #"""
        import json, os, pty, select, signal, sys
        dialogue, command = json.loads(sys.argv[1]), sys.argv[2:]
        process, terminal = pty.fork()
        if process == 0: os.execv(command[0], command)
        shown = b""
        def read():
            global shown
            assert select.select([terminal], [], [], 600)[0], shown
            try: part = os.read(terminal, 4096)
            except OSError: part = b""
            shown += part
            return part
        seen = 0
        for question, answer in dialogue:
            while question.encode() not in shown[seen:]: assert read(), shown
            seen = len(shown)
            if answer == "SIGTERM": os.kill(int(open("pid").read()), signal.SIGTERM)
            else: os.write(terminal, answer.encode() + b"\n")
        while read(): pass
        sys.stdout.buffer.write(shown)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
        """#

    @Sendable static func hasPython() async throws -> Bool {
        let python = try await FinishedProcess.run(
            self.environment, ["python3", "-c", "import pty"], in: FileManager.default.temporaryDirectory)
        return python.status == 0
    }

    /// Runs `tumbler` with a person who answers.
    static func type(
        _ answers: KeyValuePairs<String, String>, _ arguments: [String], in folder: URL
    ) async throws -> (exitCode: Int32, shown: String) {
        try await self.type(answers.map { ($0.key, $0.value) }, arguments, in: folder)
    }

    /// The same with questions that are put together.
    static func type(
        _ answers: [(question: String, answer: String)], _ arguments: [String], in folder: URL
    ) async throws -> (exitCode: Int32, shown: String) {
        try await self.type(answers, command: [try #require(CommandRun.program).path] + arguments, in: folder)
    }

    /// The same with a line of shell.
    static func type(
        _ answers: KeyValuePairs<String, String>, line: String, in folder: URL
    ) async throws -> (exitCode: Int32, shown: String) {
        try await self.type(answers.map { ($0.key, $0.value) }, command: ["/bin/sh", "-c", line], in: folder)
    }

    private static func type(
        _ answers: [(question: String, answer: String)], command: [String], in folder: URL
    ) async throws -> (exitCode: Int32, shown: String) {
        let dialogue = String(
            decoding: try JSONEncoder().encode(answers.map { [$0.question, $0.answer] }), as: UTF8.self)
        let run = try await FinishedProcess.run(
            self.environment, ["python3", "-c", self.script, dialogue] + command, in: folder)
        return (run.status, String(decoding: run.output + run.errors, as: UTF8.self))
    }
}
