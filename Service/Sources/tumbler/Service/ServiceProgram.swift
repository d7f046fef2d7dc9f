// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation

/// `tumbler-service`, the program of the service. It is another program, so that this one, which signs lists, links no web
/// framework and no database.
struct ServiceProgram: Sendable {
    /// The name of its file.
    static let name = "tumbler-service"

    /// Its file.
    let path: String

    /// Finds it: in this program's folder, else on the `PATH`.
    ///
    /// - Parameters:
    ///   - own: This program's file. Symbolic links are followed.
    ///   - path: Folders, as `PATH` has them. One that is relative names another folder wherever one types, and is passed
    ///     over.
    /// - Throws: ``CommandFailure`` with what is missing and how to get it.
    init(beside own: URL?, orOn path: String) throws(CommandFailure) {
        let own = own?.resolvingSymlinksInPath()
        let beside = own?.deletingLastPathComponent().path
        let folders = path.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        let found = ([beside].compactMap { $0 } + folders).lazy
            .map { URL(fileURLWithPath: $0, isDirectory: true).appendingPathComponent(Self.name) }
            .first { Self.isProgram($0, otherThan: own) }
        guard let found else {
            throw CommandFailure(
                .undecided,
                "\(Self.name) is not installed: it is neither beside tumbler\(beside.map { ", in \($0)," } ?? "") nor on the PATH",
                hint: "make install, in a checkout of Tumbler, installs it beside tumbler")
        }
        self.path = found.path
    }

    /// Finds it for this process.
    ///
    /// - Throws: ``CommandFailure`` with what is missing and how to get it.
    static func installed() throws(CommandFailure) -> ServiceProgram {
        try ServiceProgram(
            beside: Bundle.main.executableURL, orOn: ProcessInfo.processInfo.environment["PATH"] ?? "")
    }

    /// A file that can be run. A link that leads back to this program would be found again and again.
    private static func isProgram(_ file: URL, otherThan own: URL?) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: file.path) && file.resolvingSymlinksInPath() != own
    }

    /// Lets it take over this process (execve(2)): with all arguments, this program's name among them, the environment,
    /// the standard streams, the process id, and so the exit code and every signal. Does not return.
    static func takesOver() -> Never {
        do throws(CommandFailure) {
            let program = try self.installed()
            execv(program.path, CommandLine.unsafeArgv)
            throw CommandFailure(
                .undecided, "\(program.path) cannot be started: \(String(cString: strerror(errno)))",
                hint: "make install, in a checkout of Tumbler, installs it again")
        } catch {
            CommandLineProgram.end(with: error)
        }
    }
}
