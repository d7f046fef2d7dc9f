// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation

/// Opens a link in the browser of who typed the command.
struct BrowserOpening: Sendable {
    /// The programs that do it: of Linux desktops, and of macOS.
    static let programs = ["xdg-open", "open"]

    /// The folders that programs are looked for in, as `PATH` has them.
    let path: String
    /// The folder of the page that leads to the link. ``clear()`` removes it.
    let folder: URL

    /// Has a browser open a link. The link is no argument of a program, because every user of the machine sees these: a
    /// page in a folder that only this user reads leads to it.
    ///
    /// - Parameter link: The link, of which every character may stand in HTML.
    /// - Throws: ``CommandError`` when no program opens it.
    func open(_ link: String) throws(CommandError) {
        let folders = self.path.split(separator: ":").map { URL(fileURLWithPath: String($0), isDirectory: true) }
        let candidates = Self.programs.flatMap { program in folders.map { $0.appendingPathComponent(program) } }
        guard let program = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw CommandError(.undecided, "there is no \(Self.programs.joined(separator: " and no ")) on PATH")
        }
        do {
            try FileManager.default.createDirectory(
                at: self.folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let page = self.folder.appendingPathComponent("open.html")
            try Data("<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0; url=\(link)\">\n".utf8).write(to: page)
            let process = Process()
            process.executableURL = program
            process.arguments = [page.path]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
        } catch {
            throw CommandError(.undecided, "\(program.path) could not be started")
        }
    }

    /// Removes the page, where there is one.
    func clear() { try? FileManager.default.removeItem(at: self.folder) }
}
