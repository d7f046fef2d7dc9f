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

            --nginx and --caddy print what the web server is to be told: types, cache fields, 404, and 304 by the SHA-256 \
            that clients send. For that the list is in the tree under its digest as well, with a symbolic link; later \
            exports and releases into DIR keep it so. The snippet stays as it is.
            """
    )

    @Argument(help: "The folder that the static host serves.", completion: .directory)
    var directory: String

    @Flag(help: "Print the snippet for server { } of nginx, and not the paths.")
    var nginx = false

    @Flag(help: "Print the snippet for a site of Caddy, and not the paths.")
    var caddy = false

    @Flag(help: "Print the paths as JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func validate() throws {
        if [self.nginx, self.caddy, self.json].count(where: { $0 }) > 1 {
            throw ValidationError("--nginx, --caddy and --json exclude each other")
        }
    }

    func run() throws {
        let time = self.time.time
        let project = try self.project.find()
        guard let list = try project.newestList() else {
            throw CommandError(
                .undecided, "there is no \(ProjectFolder.listName) in the project folder",
                hint: "build and sign a list first")
        }
        // It says how a list that does not verify is put right. What could not be written down afterwards does not go out.
        if let newest = try project.publishedList() { try ListHistory.expectRoom(for: newest, in: project) }
        let tree = try project.tree(of: list)
        try ListHistory(of: project).expectTurn(of: list, at: time)
        let folder = URL(fileURLWithPath: self.directory, relativeTo: ProjectOption.working)
        let name = try project.name() ?? ""
        let snippet = self.nginx || self.caddy ? try ServerSnippet(folder, name: name) : nil
        try tree.write(to: folder, byDigest: snippet != nil)
        try ListHistory.keep(list, in: project, publishedAt: time)
        try ListHistory.noteExport(in: project)
        if let snippet { return try StandardOutput.write(lines: self.nginx ? snippet.nginx : snippet.caddy) }
        let paths = tree.files.map(\.path)
        if self.json { return try JSONOutput.write(paths) }
        try StandardOutput.write(lines: paths)
    }
}
