// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PinListRepository
import PinListServer
import PinListStore

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
        _ = StandardOutput.endsWhenNobodyReads
        do {
            var command = try Tumbler.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            self.end(with: failure)
        } catch let error as RepositoryError {
            self.end(with: CommandFailure(error))
        } catch let error as StoreError {
            self.end(with: CommandFailure(.undecided, "the database: \(error.detail)"))
        } catch {
            self.exitForParser(error)
        }
    }

    /// What the parser throws: help and versions are results, what it calls a validation failure is a usage error.
    /// Anything else is ours and has found no words of its own.
    private static func exitForParser(_ error: any Error) -> Never {
        switch Tumbler.exitCode(for: error) {
        case .success:
            print(Tumbler.fullMessage(for: error))
            exit(0)
        case .validationFailure:
            let message = Tumbler.message(for: error)
            self.end(
                with: CommandFailure(
                    .usage, message.isEmpty ? "these arguments do not fit" : message, hint: "see tumbler --help"))
        default:
            if let code = error as? ExitCode { exit(code.rawValue) }
            self.end(with: CommandFailure(.undecided, "\(error)"))
        }
    }

    private static func end(with failure: CommandFailure) -> Never {
        StandardError.failure(failure)
        exit(failure.exitCode.rawValue)
    }
}
