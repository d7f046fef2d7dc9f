// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListRepository

extension Tumbler {
    /// Runs a command as if it had been typed, in this process.
    ///
    /// - Parameters:
    ///   - words: The arguments behind `tumbler`. Relative paths begin where this process is.
    ///   - taker: Is given each line that the command writes, to standard output and to standard error.
    /// - Throws: ``CommandError``, with the words that the command would have ended with.
    static func run(
        _ words: [String], taking taker: @escaping @Sendable (String) -> Void
    ) async throws(CommandError) {
        let output: @Sendable (Data) -> Void = { bytes in
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") { taker(String(line)) }
        }
        do {
            try await StandardOutput.$taker.withValue(output) {
                try await StandardError.$taker.withValue(taker) {
                    var command = try await self.asyncParseAsRoot(words)
                    if var command = command as? any AsyncParsableCommand {
                        try await command.run()
                    } else {
                        try command.run()
                    }
                }
            }
        } catch let failure as CommandError {
            throw failure
        } catch let error as RepositoryError {
            throw CommandError(error)
        } catch let code as ExitCode {
            throw CommandError(
                CommandExit(rawValue: code.rawValue) ?? .undecided,
                "tumbler \(words.first ?? "") ended with exit code \(code.rawValue)")
        } catch {
            throw CommandError(.usage, Tumbler.message(for: error))
        }
    }
}
