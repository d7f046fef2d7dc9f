// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Dispatch
import Foundation
import PinListRepository

/// The common part of the two programs: how they begin and end.
package enum CommandLineProgram {
    /// The text on exit codes in the help of the root commands.
    package static let exitCodes = """
        Exit codes: 0 holds or allowed, 1 does not hold or blocked, 2 could not be decided (network, file, server), \
        64 usage.
        """

    /// Runs the command that was typed, turns each error into the one form (`tumbler: error: …`, a hint, an exit code), and
    /// ends the process.
    ///
    /// Nothing here is `async` before the words are known. libdispatch ends a process by a trap where `/proc` is not mounted,
    /// as soon as it looks how many of its threads run: by chance before the reason is printed.
    ///
    /// - Parameters:
    ///   - root: The program's root command.
    ///   - failure: Words for errors that only this program knows.
    package static func main(
        _ root: any AsyncParsableCommand.Type, failure: @escaping @Sendable (any Error) -> CommandError? = { _ in nil }
    ) -> Never {
        _ = StandardOutput.endsWithoutReader
        let (colour, words): (ColourChoice, [String])
        do throws(CommandError) {
            (colour, words) = try ColourChoice.taken(from: try self.words(CommandLine.arguments))
        } catch {
            self.end(with: error)
        }
        let environment = ProcessInfo.processInfo.environment
        let output = colour.colours(isTerminal: isatty(STDOUT_FILENO) == 1, environment: environment)
        let errors = colour.colours(isTerminal: isatty(STDERR_FILENO) == 1, environment: environment)
        Task {
            await Colour.$isInOutput.withValue(output) {
                await Colour.$isInErrors.withValue(errors) { await self.run(words, of: root, failure: failure) }
            }
            exit(0)
        }
        dispatchMain()
    }

    /// The words behind the program's name.
    ///
    /// - Parameter arguments: The arguments of the process, as Swift has them.
    /// - Throws: ``CommandError`` when there are none, not even the program's name. Swift reads them from
    ///   `/proc/self/cmdline` on Linux, and has none where `/proc` is not mounted: help and an exit code of 0 would be the
    ///   answer to any question.
    package static func words(_ arguments: [String]) throws(CommandError) -> [String] {
        guard !arguments.isEmpty else {
            throw CommandError(
                .undecided, "the arguments cannot be read, because /proc is not mounted",
                hint: "in a chroot: mount -t proc proc /proc")
        }
        return Array(arguments.dropFirst())
    }

    private static func run(
        _ words: [String], of root: any AsyncParsableCommand.Type, failure: @Sendable (any Error) -> CommandError?
    ) async {
        do {
            var command = try await root.asyncParseAsRoot(words)
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
            self.exitForParser(error, words, root)
        }
    }

    /// Ends the program for an error of the argument parser: help and versions are results, a validation failure is a
    /// usage error. Anything else is ours and has found no words of its own.
    private static func exitForParser(
        _ error: any Error, _ words: [String], _ root: any AsyncParsableCommand.Type
    ) -> Never {
        switch root.exitCode(for: error) {
        case .success:
            print(root.fullMessage(for: error))
            exit(0)
        case .validationFailure:
            let typed = TypedCommand(words, of: root)
            if let failure = typed.failure { self.end(with: failure) }
            // The parser's own nearest option may be another word altogether: `--at` for `--yes`.
            let said = root.message(for: error)
            let message =
                typed.unknownOption ?? said.range(of: ". Did you mean").map { String(said[..<$0.lowerBound]) } ?? said
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
