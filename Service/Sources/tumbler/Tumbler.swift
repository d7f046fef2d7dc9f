// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The command line: one file a command. Standard output is for results and stays as documented; all else goes to
/// standard error (formats.md, section 8).
struct Tumbler: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tumbler",
        abstract: "Certificate pinning that can be operated.",
        discussion: """
            Exit codes: 0 holds or allowed, 1 does not hold or blocked, 2 could not be decided (network, file, server), \
            64 usage.
            """,
        version: "0.1.0-dev",
        subcommands: [
            PinCommand.self, EvaluateCommand.self, TransparencyCommand.self, InitCommand.self, ReleaseCommand.self,
            KeyCommand.self,
            RootCommand.self, BuildCommand.self,
            LintCommand.self, DiffCommand.self, SignCommand.self, CombineCommand.self, VerifyCommand.self,
            RotateCommand.self, SuspendCommand.self, ResumeCommand.self, ExportCommand.self, RefreshCommand.self,
            FetchCommand.self,
            ConvertCommand.self,
            ServeCommand.self, TokenCommand.self, LoginLinkCommand.self, AuditLogCommand.self, BackupCommand.self,
            AdoptionCommand.self, MoveDatabaseCommand.self,
            PublishCommand.self, ProbeCommand.self, GateCommand.self, StatusCommand.self,
            AlarmsCommand.self, SimulateCommand.self,
            DrillCommand.self, AttestCommand.self, VectorsCommand.self, AuditCommand.self,
        ]
    )
}
