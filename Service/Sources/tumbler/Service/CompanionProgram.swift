// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation

/// A program that takes over a command of this one: in this program's folder, else on the `PATH`.
struct CompanionProgram: Sendable {
    /// The service's: another program, so that this one, which signs lists, links no web framework and no database.
    static let service = CompanionProgram(
        name: "tumbler-service", hint: "make install, in a checkout of Tumbler, installs it beside tumbler")
    /// The audit's, which parses Swift: swift-syntax is heavy.
    static let audit = CompanionProgram(
        name: "tumbler-audit",
        hint: "make install, in a checkout of Tumbler, installs it beside tumbler; Debian: the package tumbler-audit"
    )

    /// The name of its file.
    let name: String
    /// The instruction for installing it.
    let hint: String

    /// Finds its file.
    ///
    /// - Parameters:
    ///   - own: This program's file. Symbolic links are followed.
    ///   - path: Folders, as `PATH` has them. One that is relative names another folder wherever one types, and is passed
    ///     over.
    /// - Returns: Its path.
    /// - Throws: ``CommandError`` with what is missing and how to get it.
    func file(beside own: URL?, orOn path: String) throws(CommandError) -> String {
        let own = own?.resolvingSymlinksInPath()
        let beside = own?.deletingLastPathComponent().path
        let folders = path.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        let found = ([beside].compactMap { $0 } + folders).lazy
            .map { URL(fileURLWithPath: $0, isDirectory: true).appendingPathComponent(self.name) }
            .first { Self.isProgram($0, otherThan: own) }
        guard let found else {
            throw CommandError(
                .undecided,
                "\(self.name) is not installed: it is neither beside tumbler\(beside.map { ", in \($0)," } ?? "") nor on the PATH",
                hint: self.hint)
        }
        return found.path
    }

    /// Finds its file for this process.
    ///
    /// - Throws: ``CommandError`` with what is missing and how to get it.
    func installed() throws(CommandError) -> String {
        try self.file(beside: Bundle.main.executableURL, orOn: ProcessInfo.processInfo.environment["PATH"] ?? "")
    }

    /// A file that can be run. A link that leads back to this program would be found again and again.
    private static func isProgram(_ file: URL, otherThan own: URL?) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: file.path) && file.resolvingSymlinksInPath() != own
    }

    /// Replaces this process by it (execve(2)): with the arguments, the environment, the standard streams, the process
    /// id, and so the exit code and every signal. Does not return.
    ///
    /// - Parameter first: The index of the argument that is its own name: 0, or that of the command for a program that has
    ///   it alone.
    func takesOver(from first: Int = 0) -> Never {
        do throws(CommandError) {
            let program = try self.installed()
            execv(program, CommandLine.unsafeArgv + min(first, Int(CommandLine.argc)))
            throw CommandError(
                .undecided, "\(program) cannot be started: \(String(cString: strerror(errno)))", hint: self.hint)
        } catch {
            CommandLineProgram.end(with: error)
        }
    }
}
