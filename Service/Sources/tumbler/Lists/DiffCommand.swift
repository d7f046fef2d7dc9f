// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListDifference
import PinListMetadata
import PinListRepository

/// `diff`: the differences between two lists.
struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print the differences between two lists.",
        discussion: """
            Both are envelopes or their payloads; signatures are not verified. A line each: + added, - removed, \
            ~ changed. Exit code 0: the same, 1: they differ.
            """
    )

    @Argument(help: "The older list.")
    var old: String

    @Argument(help: "The newer list.")
    var new: String

    @Flag(help: "Print the differences as JSON.")
    var json = false

    func run() throws {
        let lists = try [self.old, self.new].map { name in
            try KnownList(try InputFile.read(name), named: name, roots: []).list
        }
        let difference = ListDifference(old: lists[0], new: lists[1])
        if self.json {
            try JSONOutput.write(difference)
        } else {
            try StandardOutput.write(lines: difference.lines)
        }
        guard difference.isEmpty else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }
}
