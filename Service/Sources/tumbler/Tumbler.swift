// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface

/// The command line: a file for a command, or for a command with its subcommands. Standard output is for results and stays
/// as documented; all else goes to standard error (formats.md, section 8).
struct Tumbler: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tumbler",
        abstract: "Certificate pinning that can be operated.",
        discussion: CommandLineProgram.exitCodes,
        version: ProgramVersion.current,
        subcommands: [
            PinCommand.self, EvaluateCommand.self, TransparencyCommand.self, InitCommand.self, ReleaseCommand.self,
            KeyCommand.self,
            RootCommand.self, BuildCommand.self,
            LintCommand.self, DiffCommand.self, SignCommand.self, CombineCommand.self, VerifyCommand.self,
            RotateCommand.self, SuspendCommand.self, ResumeCommand.self, ExportCommand.self, RefreshCommand.self,
            FetchCommand.self,
            ConvertCommand.self,
            ServeHandover.self, TokenHandover.self, LoginLinkHandover.self, AuditLogHandover.self, BackupHandover.self,
            AdoptionHandover.self, MoveDatabaseHandover.self,
            PublishCommand.self, ProbeCommand.self, GateCommand.self, SightingCommand.self, RevocationsCommand.self,
            StatusCommand.self, AlarmsCommand.self, SimulateCommand.self,
            DrillCommand.self, AuditCommand.self, InterceptCommand.self, AttestCommand.self, VectorsCommand.self,
        ]
    )

    @OptionGroup var colour: ColourOption
}
