// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning

/// Leads a host to another key without locking clients out.
struct RotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Lead a host to another key, so that no client is locked out.",
        discussion: """
            A plan is a file of the project, rotations/HOST.yaml. It goes from planned to announced (the new pin is \
            in a published list), ready (the gate says that the new key may be served), switched (every \
            address serves it) and retired (the old pins are gone). status says what is missing, next \
            does the next step. Until it is retired the old key stays pinned, so that it can be put back.
            """,
        subcommands: [
            RotatePlanCommand.self, RotateStatusCommand.self, RotateNextCommand.self, RotateAbortCommand.self,
            RotateEmergencyCommand.self,
        ]
    )
}

/// `HOST`: the domain of an entry.
struct RotatedHost: ParsableArguments {
    @Argument(help: "The domain of an entry.", transform: Self.host)
    var host: HostName

    /// Reads a host.
    ///
    /// - Throws: `ValidationError`.
    static func host(_ text: String) throws -> HostName {
        try HostArgument.host(text)
    }
}
