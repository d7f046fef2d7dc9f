// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import Testing

@Suite("Colour")
struct ColourTests {
    @Test("--color stands anywhere before --, and the last one counts")
    func colorStandsAnywhereBeforeTheTerminator() throws {
        let cases: [([String], ColourChoice, [String])] = [
            (["lint"], .auto, ["lint"]),
            (["--color", "never", "lint", "-C", "p"], .never, ["lint", "-C", "p"]),
            (["lint", "--color=always", "--strict"], .always, ["lint", "--strict"]),
            (["lint", "--color", "never", "--color", "always"], .always, ["lint"]),
            (["intercept", "--", "ls", "--color", "x"], .auto, ["intercept", "--", "ls", "--color", "x"]),
            (["lint", "--colorful"], .auto, ["lint", "--colorful"]),
        ]
        for (words, choice, rest) in cases {
            let taken = try ColourChoice.taken(from: words)
            #expect(taken.choice == choice && taken.words == rest, "\(words)")
        }
    }

    @Test(
        "a value that is none is a usage error", arguments: [["--color"], ["--color", "red"], ["lint", "--color="]])
    func valueThatIsNoneIsAUsageError(words: [String]) async throws {
        #expect(throws: CommandError.self) { _ = try ColourChoice.taken(from: words) }
        try await withTemporaryFolder { folder in
            try await CommandRun.tumbler(words, in: folder).expectError(64, hint: true)
        }
    }

    @Test("auto is colour on a terminal, unless NO_COLOR is set to something or the terminal is a dumb one")
    func autoIsColourOnATerminal() {
        let plain = ["TERM": "xterm"]
        #expect(ColourChoice.auto.colours(isTerminal: true, environment: plain))
        #expect(ColourChoice.auto.colours(isTerminal: true, environment: plain.merging(["NO_COLOR": ""]) { $1 }))
        #expect(!ColourChoice.auto.colours(isTerminal: true, environment: plain.merging(["NO_COLOR": "1"]) { $1 }))
        #expect(!ColourChoice.auto.colours(isTerminal: true, environment: ["TERM": "dumb"]))
        #expect(!ColourChoice.auto.colours(isTerminal: false, environment: plain))
        #expect(ColourChoice.always.colours(isTerminal: false, environment: ["NO_COLOR": "1"]))
        #expect(!ColourChoice.never.colours(isTerminal: true, environment: plain))
    }

    @Test("an error is coloured on a terminal and when that is asked for, and in a pipe it is plain")
    func errorIsColouredOnATerminalAndWhenThatIsAskedFor() async throws {
        try await withTemporaryFolder { folder in
            let error = "\u{1B}[31merror\u{1B}[0m: "
            let always = try await CommandRun.tumbler(["pin", "none.pem", "--color", "always"], in: folder)
            #expect(always.exitCode == 2 && always.errors.hasPrefix("tumbler: \(error)"), "\(always)")
            let piped = try await CommandRun.tumbler(["pin", "none.pem"], in: folder)
            piped.expectError(2)
            #expect(!piped.errors.contains("\u{1B}"))
            // The parser's own errors, too.
            let usage = try await CommandRun.tumbler(["--color=always", "pin", "--nonsense"], in: folder)
            #expect(usage.exitCode == 64 && usage.errors.hasPrefix("tumbler: \(error)"), "\(usage)")
        }
    }

    @Test("on a terminal errors are red", .enabled("there is no python3 to type", Typist.hasPython))
    func onATerminalErrorsAreRed() async throws {
        try await withTemporaryFolder { folder in
            let program = try #require(CommandRun.program).path
            for (environment, isRed) in [("TERM=xterm", true), ("TERM=xterm NO_COLOR=1", false), ("TERM=dumb", false)] {
                let shown = try await Typist.type([:], line: "\(environment) '\(program)' pin none.pem", in: folder)
                #expect(shown.shown.contains("\u{1B}[31merror\u{1B}[0m: ") == isRed, "\(environment): \(shown)")
            }
        }
    }

    @Test("a verdict is coloured where it stands behind the host, and not in the name of a host")
    func verdictIsColouredWhereItStandsBehindTheHost() {
        Colour.$isInOutput.withValue(true) {
            #expect(
                Colour.green.word("safe", of: "safe.example.com: safe. every list accepts it")
                    == "safe.example.com: \u{1B}[32msafe\u{1B}[0m. every list accepts it")
            #expect(Colour.red.word("error", of: "error: x") == "\u{1B}[31merror\u{1B}[0m: x")
            #expect(Colour.red.word("block", of: "nothing of it") == "nothing of it")
        }
        #expect(Colour.red.word("error", of: "error: x") == "error: x")
    }
}
