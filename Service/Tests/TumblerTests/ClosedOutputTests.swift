// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Output of a program whose reader has gone must not be a crash. `env` sets what a broken pipe does: ends the program
/// silently, as in most shells, or fails the writing, as in services that ignore the signal.
@Suite("Standard output that cannot be written", .needsOpenSSL)
struct ClosedOutputTests {
    /// Many certificates, more than a pipe holds of their pins: 64 KiB on Linux, and 71 bytes for each pin.
    private func withManyCertificates(_ body: (URL) async throws -> Void) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("server", subject: "/CN=api.example.com", in: folder)
            try folder.write(String(repeating: try folder.text(of: "server.pem"), count: 1_200), as: "many.pem")
            let question = try BatchQuestionLine(id: .number(1), host: "a.example", chain: [], roots: []).line() + "\n"
            try folder.write(String(repeating: question, count: 3_000), as: "questions.jsonl")
            try await body(folder)
        }
    }

    static let commands = [
        "pin many.pem", "pin --json many.pem", "pin --yaml many.pem", "evaluate --batch questions.jsonl",
    ]

    @Test("a reader that has read enough ends the command silently", arguments: Self.commands)
    func readerThatHasReadEnoughEndsTheCommandSilently(command: String) async throws {
        try await self.withManyCertificates { folder in
            let line = #"env --default-signal=PIPE "$0" \#(command) | head -c 20"#
            let run = try await CommandRun.shell(line, in: folder)
            run.expectResult()
            #expect(run.outputBytes.count == 20)
        }
    }

    @Test("with the signal ignored it is one clear line", arguments: Self.commands)
    func withTheSignalIgnoredItIsOneClearLine(command: String) async throws {
        try await self.withManyCertificates { folder in
            let line = #"(env --ignore-signal=PIPE "$0" \#(command); echo $? > code) | head -c 20 > /dev/null"#
            let run = try await CommandRun.shell(line, in: folder)
            run.expectError(0, hint: false)
            #expect(try folder.text(of: "code") == "2\n")
        }
    }

    @Test(
        "a full disk and a closed output are errors, not silence",
        arguments: Self.commands + ["evaluate --host a.example --chain server.pem --roots server.pem"],
        [">/dev/full", ">&-"])
    func fullDiskAndAClosedOutputAreErrorsNotSilence(command: String, redirection: String) async throws {
        try await self.withManyCertificates { folder in
            try await CommandRun.shell(#""$0" \#(command) \#(redirection)"#, in: folder).expectError(2, hint: false)
        }
    }

    @Test("errors that cannot be written leave the exit code", arguments: ["2>/dev/full", "2>&-"])
    func errorsThatCannotBeWrittenLeaveTheExitCode(redirection: String) async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.shell(#""$0" pin missing.pem \#(redirection)"#, in: folder)
            #expect(run.exitCode == 2)
        }
    }
}
