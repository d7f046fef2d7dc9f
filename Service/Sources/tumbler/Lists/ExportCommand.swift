// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListRepository

/// The signed list and its roots as files for a static host.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write roots and list as the tree of a static host.",
        discussion: """
            Below DIR: v1/lists/NAME/pins.json and v1/lists/NAME/root/1.json and so on, the list before the roots. \
            Clients are given the address of v1/lists/NAME.
            """
    )

    @Argument(help: "The folder that the static host serves.")
    var directory: String

    @Flag(help: "Print the paths as JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func run() throws {
        let time = self.time.time
        let project = try self.project.find()
        guard let list = try project.newestList() else {
            throw CommandError(
                .undecided, "there is no \(ProjectFolder.listName) in the project folder",
                hint: "build and sign a list first")
        }
        let tree = try project.tree(of: list)
        try tree.write(to: URL(fileURLWithPath: self.directory, relativeTo: ProjectOption.working))
        try ListHistory.keep(list, in: project, publishedAt: time)
        let paths = tree.files.map(\.path)
        if self.json { return try JSONOutput.write(paths) }
        try StandardOutput.write(lines: paths)
    }
}
