// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs a command and turns whatever it throws into the one form of errors: `tumbler: error: …`, a hint, an exit code.
@main
enum Main {
    static func main() async {
        do {
            var command = try Tumbler.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            StandardError.failure(failure)
            exit(failure.exitCode.rawValue)
        } catch {
            self.exitForParser(error)
        }
    }

    /// What the parser throws: help and versions are results, anything else is a usage error.
    private static func exitForParser(_ error: any Error) -> Never {
        let code = Tumbler.exitCode(for: error)
        guard code != .success else {
            print(Tumbler.fullMessage(for: error))
            exit(0)
        }
        if let code = error as? ExitCode { exit(code.rawValue) }
        let message = Tumbler.message(for: error)
        StandardError.failure(
            CommandFailure(.usage, message.isEmpty ? "these arguments do not fit" : message, hint: "see tumbler --help"))
        exit(CommandExit.usage.rawValue)
    }
}
