// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How a command ends (formats.md, section 8).
enum CommandExit: Int32 {
    /// Holds, or allowed.
    case holds = 0
    /// Does not hold, or blocked.
    case doesNotHold = 1
    /// Could not be decided: network, file, server.
    case undecided = 2
    /// The command was called wrongly.
    case usage = 64
}

/// Why a command ends without its result: one line for people, and what to do where that can be said.
struct CommandFailure: Error {
    /// How the command ends.
    let exitCode: CommandExit

    /// What is wrong, without a full stop.
    let message: String

    /// What to do.
    let hint: String?

    /// States a failure.
    init(_ exitCode: CommandExit, _ message: String, hint: String? = nil) {
        self.exitCode = exitCode
        self.message = message
        self.hint = hint
    }
}
