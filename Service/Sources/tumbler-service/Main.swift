// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import PinListServer
import PinListStore

/// The program of the service: it serves, and has what is typed on the machine where it does.
@main
enum Main {
    static func main() {
        CommandLineProgram.main(TumblerService.self) { error in
            if let error = error as? ListenError { return CommandError(.undecided, error.reason, hint: error.hint) }
            return (error as? StoreError).map { CommandError(.undecided, "the database: \($0.detail)") }
        }
    }
}

struct TumblerService: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: Self.name,
        abstract: "The service of Tumbler: serves signed pin lists, takes failure reports, warns.",
        discussion: "Each command can be typed as a command of tumbler as well. \(CommandLineProgram.exitCodes)",
        version: ProgramVersion.current,
        subcommands: [
            ServeCommand.self, TokenCommand.self, LoginLinkCommand.self, AuditLogCommand.self, BackupCommand.self,
            AdoptionCommand.self, MoveDatabaseCommand.self,
        ]
    )

    @OptionGroup var colour: ColourOption

    /// The name that was typed: `tumbler` hands its own name over, and help says what can be typed again.
    private static var name: String {
        CommandLine.arguments.first?.split(separator: "/").last == "tumbler" ? "tumbler" : "tumbler-service"
    }
}
