// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// `tumbler audit`: hands over to `tumbler-audit`, a package of its own, because swift-syntax is heavy.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "What in this app talks past its pins?",
        discussion: "Runs tumbler-audit, beside this program or on the PATH, with these arguments.",
        // Its own --help says more.
        helpNames: []
    )

    @Argument(parsing: .captureForPassthrough, help: "What tumbler-audit takes.")
    var arguments: [String] = []

    /// The name of the program.
    static let program = "tumbler-audit"

    func run() throws {
        let beside = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        guard let program = Self.find(beside: beside, path: path, isProgram: Self.isProgram) else {
            throw CommandFailure(
                .undecided, "\(Self.program) is not installed: it is neither beside tumbler nor on the PATH",
                hint:
                    "build it in a checkout of Tumbler (swift build -c release --package-path Audit) and copy it beside tumbler"
            )
        }
        // It takes over this process: its exit code and its signals are those of this command.
        var values: [UnsafeMutablePointer<CChar>?] = ([program] + self.arguments).map { strdup($0) }
        values.append(nil)
        execv(program, values)
        throw CommandFailure(.undecided, "\(program) cannot be started: \(String(cString: strerror(errno)))")
    }

    /// Where the program is: beside this one, else in the first folder of the PATH. Relative folders name another one
    /// wherever one types, and are passed over.
    static func find(beside: String?, path: String, isProgram: (String) -> Bool) -> String? {
        let folders = path.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        return ([beside].compactMap { $0 } + folders).map { "\($0)/\(Self.program)" }.first(where: isProgram)
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }
}
