// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What operators do with roots: who may sign.
struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "root",
        abstract: "Say who may sign: make the first root, the next one, or show one.",
        subcommands: [RootNewCommand.self, RootRotateCommand.self, RootShowCommand.self]
    )
}
