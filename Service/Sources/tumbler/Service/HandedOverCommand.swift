// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface

/// A command of `tumbler-service`, which `tumbler` lists and hands over. Its options are those of the other program.
protocol HandedOverCommand: ParsableCommand {
    /// The command of the service.
    static var command: ServiceCommand { get }
    /// The arguments behind it, unread.
    var words: [String] { get }
}

extension HandedOverCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: self.command.rawValue, abstract: self.command.abstract,
            usage: "tumbler \(self.command.rawValue) …", discussion: "A command of \(CompanionProgram.service.name).")
    }

    /// Hands over where the command is not the first word, and was not handed over before anything was parsed.
    func run() { CompanionProgram.service.takesOver() }
}

struct ServeHandover: HandedOverCommand {
    static let command = ServiceCommand.serve
    @Argument(parsing: .captureForPassthrough) var words: [String] = []
}

struct TokenHandover: HandedOverCommand {
    static let command = ServiceCommand.token
    @Argument(parsing: .captureForPassthrough) var words: [String] = []
}

struct LoginLinkHandover: HandedOverCommand {
    static let command = ServiceCommand.loginLink
    @Argument(parsing: .captureForPassthrough) var words: [String] = []
}

struct AuditLogHandover: HandedOverCommand {
    static let command = ServiceCommand.auditLog
    @Argument(parsing: .captureForPassthrough) var words: [String] = []
}

struct BackupHandover: HandedOverCommand {
    static let command = ServiceCommand.backup
    @Argument(parsing: .captureForPassthrough) var words: [String] = []
}

struct AdoptionHandover: HandedOverCommand {
    static let command = ServiceCommand.adoption
    @Argument(parsing: .captureForPassthrough) var words: [String] = []
}

struct MoveDatabaseHandover: HandedOverCommand {
    static let command = ServiceCommand.moveDatabase
    @Argument(parsing: .captureForPassthrough) var words: [String] = []
}
