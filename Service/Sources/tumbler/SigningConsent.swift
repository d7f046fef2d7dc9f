// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Whether whoever runs a command wants what it is about to do.
enum SigningConsent {
    /// Makes sure that somebody can be asked.
    ///
    /// - Parameter hint: What to type where nobody can be.
    /// - Throws: ``CommandFailure`` in a pipe.
    static func expectSomebody(hint: String = "--yes signs without asking") throws(CommandFailure) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                .usage, "nobody can be asked here whether this is to be signed",
                hint: hint)
        }
    }

    /// Asks on the terminal for a text; without white space around it.
    static func answer(_ question: String) -> String {
        StandardError.question(question)
        return readLine()?.trimmingCharacters(in: .whitespaces) ?? ""
    }

    /// Asks on the terminal; anything but yes is no.
    static func ask(_ question: String) -> Bool {
        StandardError.question("\(question) [yes/no] ")
        let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased()
        return answer == "yes" || answer == "y"
    }
}
