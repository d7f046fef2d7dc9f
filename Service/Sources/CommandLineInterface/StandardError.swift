// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation

/// Standard error: errors, hints and notes, each one line.
package enum StandardError {
    /// Takes notes and warnings in place of standard error, for commands that a drill runs.
    @TaskLocal package static var taker: (@Sendable (String) -> Void)?

    /// Says why a command ends.
    package static func failure(_ failure: CommandError) {
        self.line("error", failure.message, .red)
        if let hint = failure.hint { self.line("hint", hint) }
    }

    /// Says what the reader of a result should know beside it.
    package static func note(_ text: String) { self.line("note", text) }

    /// Prints a warning about something unexpected.
    package static func warning(_ text: String) { self.line("warning", text, .yellow) }

    /// Prints the progress for a person who follows it.
    package static func told(_ text: String) { self.write(text) }

    /// Waits behind a text for what is typed.
    package static func prompt(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }

    /// Prints a question, and leaves the cursor behind it.
    package static func question(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(PrintableText.line("tumbler: \(text)").utf8))
    }

    private static func line(_ label: String, _ text: String, _ colour: Colour? = nil) {
        if let taker { return taker("tumbler: \(label): \(text)") }
        let shown = Colour.isInErrors ? colour?.around(label) : nil
        self.write(text, behind: "tumbler: \(shown ?? label): ")
    }

    // Text from outside stands in some of these: line breaks and escape sequences must not reach a terminal.
    private static func write(_ text: String, behind prefix: String = "") {
        // When standard error cannot be written, the message is lost; the exit code still says how the command ended.
        try? FileHandle.standardError.write(
            contentsOf: Data("\(prefix)\(PrintableText.line(text, maximumLength: 1_024))\n".utf8))
    }
}
