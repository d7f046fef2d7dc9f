// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("A command that is written wrongly")
struct BadArgumentTests {
    @Test(
        "is said in one line, with exit code 64",
        arguments: [
            ["pin"], ["evaluate"], ["frobnicate"], ["--frobnicate"], ["pin", "--frobnicate", "x"],
            ["pin", "x", "--ca-file"], ["pin", "--json=yes", "x"], ["pin", "x", "--at", "tomorrow"],
            ["pin", "x", "--at", "2026-11-21T00"],
            ["evaluate", "--host", "a.example"], ["evaluate", "--chain", "x"], ["evaluate", "--host"],
            ["evaluate", "--host", "a", "--host", "b", "--chain", "x", "surplus"],
            ["evaluate", "--host", "a", "--chain", "x", "--at", "2026-02-30T00:00:00Z"],
            ["evaluate", "--host", "a", "--chain", "x", "--list", "pins.json"], ["evaluate", "--batch"],
            ["pin", "--\n\u{1b}[31m"], ["pin", "--yaml", "--json", "x"],
        ])
    func isSaidInOneLineWithExitCode64(arguments: [String]) async throws {
        try await withTemporaryFolder { try await CommandRun.tumbler(arguments, in: $0).expectError(64) }
    }

    @Test("a name from outside does not reach the terminal as it is")
    func nameFromOutsideDoesNotReachTheTerminalAsItIs() async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.tumbler(["pin", "a\u{1b}[31m\nb\r\u{7f}\u{9b}c"], in: folder)
            run.expectError(2)
            let controls = run.errors.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }
            #expect(controls.isEmpty, "\(run)")
        }
    }

    @Test(
        "help and version are results, and so is the help of a call without arguments",
        arguments: [[], ["--help"], ["help"], ["pin", "--help"], ["evaluate", "-h"], ["help", "pin"], ["--version"]])
    func helpAndVersionAreResultsAndSoIsTheHelpOfACallWithoutArguments(arguments: [String]) async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.tumbler(arguments, in: folder)
            run.expectResult()
            #expect(!run.lines.isEmpty)
        }
    }
}
