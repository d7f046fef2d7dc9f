// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import PinListRepository

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The common part of the two programs: their version, and how they begin and end.
package enum CommandLineProgram {
    /// The version that `--version` prints.
    package static let version = "0.1.0-dev"

    /// The text on exit codes in the help of the root commands.
    package static let exitCodes = """
        Exit codes: 0 holds or allowed, 1 does not hold or blocked, 2 could not be decided (network, file, server), \
        64 usage.
        """

    /// Runs the command that was typed and turns whatever it throws into the one form of errors: `tumbler: error: …`, a
    /// hint, an exit code.
    ///
    /// - Parameters:
    ///   - root: The program's root command.
    ///   - failure: Words for errors that only this program knows.
    package static func run(
        _ root: any AsyncParsableCommand.Type, failure: @Sendable (any Error) -> CommandError? = { _ in nil }
    ) async {
        _ = StandardOutput.endsWhenNobodyReads
        do {
            var command = try root.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandError {
            self.end(with: failure)
        } catch let error as RepositoryError {
            self.end(with: CommandError(error))
        } catch {
            if let failure = failure(error) { self.end(with: failure) }
            self.exitForParser(error, root)
        }
    }

    /// Ends the program for an error of the argument parser: help and versions are results, a validation failure is a
    /// usage error. Anything else is ours and has found no words of its own.
    private static func exitForParser(_ error: any Error, _ root: any AsyncParsableCommand.Type) -> Never {
        switch root.exitCode(for: error) {
        case .success:
            print(root.fullMessage(for: error))
            exit(0)
        case .validationFailure:
            let typed = TypedCommand(Array(CommandLine.arguments.dropFirst()), of: root)
            if let failure = typed.failure { self.end(with: failure) }
            let message = root.message(for: error)
            self.end(
                with: CommandError(
                    .usage, message.isEmpty ? "these arguments do not fit" : message, hint: "see \(typed.path) --help"))
        default:
            if let code = error as? ExitCode { exit(code.rawValue) }
            self.end(with: CommandError(.undecided, "\(error)"))
        }
    }

    /// Says why, and ends the process.
    package static func end(with failure: CommandError) -> Never {
        StandardError.failure(failure)
        exit(failure.exitCode.rawValue)
    }
}
