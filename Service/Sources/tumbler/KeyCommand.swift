// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What operators do with keys: those that sign lists and roots, and backup keys of servers.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make keys, show them, and write certificate requests for them.",
        subcommands: [KeyNewCommand.self, KeyShowCommand.self, KeyCSRCommand.self]
    )
}
