// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import PinListRepository

/// The exit codes of commands (formats.md, section 8).
package enum CommandExit: Int32 {
    /// Holds, or allowed.
    case holds = 0
    /// Does not hold, or blocked.
    case doesNotHold = 1
    /// Could not be decided: network, file, server.
    case undecided = 2
    /// The command was called wrongly.
    case usage = 64
    /// The person at the terminal stopped it with Control-C, as a shell says it.
    case interrupted = 130
}

/// The failure of a command: one line for people, and what to do where that can be said.
package struct CommandError: Error {
    /// The exit code of the command.
    package let exitCode: CommandExit

    /// The error, without a full stop.
    package let message: String

    /// The next step for the user.
    package let hint: String?

    /// States a failure.
    package init(_ exitCode: CommandExit, _ message: String, hint: String? = nil) {
        self.exitCode = exitCode
        self.message = message
        self.hint = hint
    }
}

extension CommandError {
    /// Makes a failure of an error of the publisher's library, with the exit code of its kind.
    package init(_ error: RepositoryError) {
        let exit: CommandExit =
            switch error.code {
            case .usage: .usage
            case .interrupted: .interrupted
            case .source, .metadata: .doesNotHold
            default: .undecided
            }
        self.init(exit, error.reason, hint: error.hint)
    }

    /// Runs something of the publisher's half.
    package static func wrapping<Value>(_ body: () throws(RepositoryError) -> Value) throws(CommandError) -> Value {
        do { return try body() } catch { throw CommandError(error) }
    }

    /// Runs something of the publisher's half that takes its time.
    package static func wrapping<Value>(
        _ body: () async throws(RepositoryError) -> Value
    ) async throws(CommandError) -> Value {
        do { return try await body() } catch { throw CommandError(error) }
    }
}
