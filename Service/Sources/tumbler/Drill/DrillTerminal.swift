// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation

/// The person at the terminal. Lines are told on standard error: standard output is for the page.
struct DrillTerminal: OnCallPerson {
    /// The lines that are typed.
    let lines: AsyncStream<String>

    private let typed: AsyncStream<String>.Continuation
    /// Whether input comes from a terminal.
    private let isAsked: Bool

    /// A terminal; without `asks` it is only told, for `--auto`.
    init(asks: Bool) {
        (self.lines, self.typed) = AsyncStream.makeStream(of: String.self)
        self.isAsked = asks
    }

    /// Reads one line, on a thread of its own. Only when it is asked for: between two lines the terminal belongs to the
    /// program that the person started, such as an editor.
    func ask() {
        guard self.isAsked else { return }
        let typed = self.typed
        Thread.detachNewThread {
            StandardError.prompt("drill> ")
            guard let line = readLine() else { return typed.finish() }
            typed.yield(line)
        }
    }

    func tell(_ line: String) { StandardError.told(line) }

    /// Runs `/bin/sh -c`, with this program's own folder first on PATH, so that `tumbler` is this `tumbler`.
    func run(_ line: String, in folder: String, tokenFile: String) async -> Int32 {
        let program = Bundle.main.executableURL?.deletingLastPathComponent().path ?? ""
        let script = """
            cd \(Self.quoted(folder)) || exit 2
            PATH=\(Self.quoted(program)):"$PATH" \(ServiceToken.environmentName)=\(Self.quoted(tokenFile))
            export PATH \(ServiceToken.environmentName)
            \(line)
            """
        let (answers, answer) = AsyncStream.makeStream(of: Int32.self)
        Thread.detachNewThread {
            // In the foreground of the terminal, which `Process` does not do: editors and passphrases work.
            let status = system(script)
            answer.yield(status == -1 ? 2 : status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f))
            answer.finish()
        }
        for await status in answers { return status }
        return CommandExit.undecided.rawValue
    }

    /// A word of shell.
    static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}
