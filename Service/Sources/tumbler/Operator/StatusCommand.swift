// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListRepository

/// `status`: the dashboard's figures, in a terminal.
struct StatusCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the status of the service: alarms, lists, adoption, failures, probes.",
        discussion: """
            A token with the scope read is needed, or one that publishes: it sees what is about its names. On loopback \
            no token is needed with openOnLoopback: true of the service. --list-version with --min-adoption \
            fails until so many hold a list, as far as requests tell: an estimate, and never the only reason to remove \
            a key.

            Exit code 0: there is no alarm; 1: there is an alarm, or too few hold the version; 2: the service could \
            not be asked.
            """
    )

    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions
    @OptionGroup var demand: AdoptionDemand

    @Flag(help: "Print the service's answer: JSON.")
    var json = false

    @OptionGroup var project: ProjectOption

    func run() async throws {
        let address = try self.service.requiredAddress(self.project)
        let token = try self.service.token(for: address)
        guard token != nil || address.isLoopback else {
            _ = try self.service.requiredToken("read", for: address)
            return
        }
        let (json, status) = try await self.service.client(address, token).status()
        let shortfall = try self.demand.shortfall(in: status, project: self.projectName)
        if self.json {
            try JSONOutput.write(foreign: json)
        } else {
            try StandardOutput.write(lines: StatusLines(status: status, address: address).lines)
        }
        if let shortfall { StandardError.note(shortfall) }
        guard status.alarms.isEmpty, shortfall == nil else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }

    private var projectName: String? {
        guard self.demand.name == nil, (try? self.project.find()) != nil else { return nil }
        return (try? SourceInput(nil, self.project))?.source.name
    }
}
