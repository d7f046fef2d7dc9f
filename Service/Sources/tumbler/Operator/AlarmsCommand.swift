// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListRepository

/// `alarms`: the alarms of the service, and what a person does about them.
struct AlarmsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alarms", abstract: "List the alarms of the service, acknowledge and silence them.",
        discussion: """
            list needs a token of scope read or operate, the others one of scope operate. Each change is in the audit log.
            """,
        subcommands: [
            AlarmsListCommand.self, AlarmsAcknowledgeCommand.self, AlarmsSilenceCommand.self,
            AlarmsUnsilenceCommand.self,
        ],
        defaultSubcommand: AlarmsListCommand.self)
}

/// `alarms list`: the alarms that fire, and the silences.
struct AlarmsListCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the alarms that fire, and the silences.",
        discussion: "Exit code 0: no alarm fires that is not silenced; 1: one does; 2: the service could not be asked.")

    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions

    @Flag(help: "Print the service's answer: JSON.")
    var json = false

    @OptionGroup var project: ProjectOption

    func run() async throws {
        let address = try self.service.requiredAddress(self.project)
        let token =
            try address.isLoopback
            ? self.service.token(for: address) : self.service.requiredToken("read", for: address)
        let (json, alarms) = try await self.service.client(address, token).alarms()
        if self.json {
            try JSONOutput.write(foreign: json)
        } else {
            try StandardOutput.write(lines: alarms.lines)
        }
        guard alarms.alarms.allSatisfy({ $0.silencedUntil != nil }) else {
            throw ExitCode(CommandExit.doesNotHold.rawValue)
        }
    }
}

/// A person has seen an alarm.
struct AlarmsAcknowledgeCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge", abstract: "Acknowledge an alarm.",
        discussion: "Others see it, until the alarm ends or becomes more urgent. Silence stops the notifications.")

    @Argument(help: "The key of an alarm that fires, as tumbler alarms lists it.")
    var key: String

    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions
    @OptionGroup var project: ProjectOption

    func run() async throws {
        try await self.service.requiredClient(self.project, scope: "operate").handleAlarm(
            "acknowledge", Array(try JSONOutput.line(["key": self.key])))
        try StandardOutput.write(lines: ["acknowledged \(PrintableText.line(self.key, maximumLength: 400))"])
    }
}

/// Silences an alarm, or a kind of alarms, for a time.
struct AlarmsSilenceCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "silence", abstract: "Keep an alarm, or a kind of alarms, quiet for a time.",
        discussion: """
            It is still shown, and sends no notification until the time is over. An alarm that fires then notifies \
            again, and one that is more urgent than --up-to notifies at once.
            """)

    @Argument(help: "The key of an alarm that fires, as tumbler alarms lists it, or a kind such as probe-unreached.")
    var what: String

    @Option(name: .customLong("for"), help: ArgumentHelp("How long, 7d at most: 4h.", valueName: "duration"))
    var length: String

    @Option(help: "The reason; it is written into the audit log.")
    var because: String

    @Option(
        name: .customLong("up-to"),
        help: ArgumentHelp(
            "The highest silenced severity: notice, warning or critical; by default the current one, and a warning "
                + "where none fires.", valueName: "severity"),
        completion: .list(ServiceAlarms.severities))
    var severity: String?

    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions
    @OptionGroup var project: ProjectOption

    private struct Body: Encodable {
        let what: String
        let seconds: Int64
        let because: String
        let upTo: String?
    }

    func validate() throws {
        guard let seconds = SourceDuration.seconds(of: self.length), (60...604_800).contains(seconds) else {
            throw ValidationError("--for \(self.length): from 60s to 7d; write \(SourceDuration.form)")
        }
        guard !self.because.isEmpty else { throw ValidationError("--because is empty") }
        guard self.severity.map(ServiceAlarms.severities.contains) ?? true else {
            throw ValidationError("--up-to is notice, warning or critical")
        }
    }

    func run() async throws {
        guard let seconds = SourceDuration.seconds(of: self.length) else { return }
        let body = Body(what: self.what, seconds: seconds, because: self.because, upTo: self.severity)
        try await self.service.requiredClient(self.project, scope: "operate").handleAlarm(
            "silence", Array(try JSONOutput.line(body)))
        try StandardOutput.write(
            lines: ["silenced \(PrintableText.line(self.what, maximumLength: 400)) for \(self.length)"])
    }
}

/// A silence is over before its time.
struct AlarmsUnsilenceCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "unsilence", abstract: "End a silence before its time.")

    @Argument(help: "The silence, as tumbler alarms lists it.")
    var what: String

    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions
    @OptionGroup var project: ProjectOption

    func run() async throws {
        try await self.service.requiredClient(self.project, scope: "operate").handleAlarm(
            "unsilence", Array(try JSONOutput.line(["what": self.what])))
        try StandardOutput.write(lines: ["no longer silenced: \(PrintableText.line(self.what, maximumLength: 400))"])
    }
}
