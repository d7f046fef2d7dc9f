// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What goes to standard error: errors, hints and notes, each one line.
enum StandardError {
    /// Says why a command ends.
    static func failure(_ failure: CommandFailure) {
        self.line("tumbler: error: \(failure.message)")
        if let hint = failure.hint { self.line("tumbler: hint: \(hint)") }
    }

    /// Says what the reader of a result should know beside it.
    static func note(_ text: String) { self.line("tumbler: note: \(text)") }

    // Text from outside stands in some of these: line breaks and escape sequences must not reach a terminal.
    private static func line(_ text: String) {
        let plain = String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        FileHandle.standardError.write(Data((plain + "\n").utf8))
    }
}
