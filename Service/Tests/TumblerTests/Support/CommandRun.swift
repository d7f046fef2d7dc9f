// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// One run of the built `tumbler`.
struct CommandRun: Sendable, CustomStringConvertible {
    /// The program beside the tests, in the products directory.
    static let program: URL? = {
        let here = [Bundle.main.executableURL, Bundle.main.bundleURL, URL(fileURLWithPath: "/proc/self/exe")]
        let bundles = Bundle.allBundles.map(\.bundleURL)
        for start in here.compactMap({ $0 }) + bundles {
            var folder = start.resolvingSymlinksInPath()
            while folder.path.count > 1 {
                folder.deleteLastPathComponent()
                let program = folder.appendingPathComponent("tumbler")
                var isDirectory: ObjCBool = true
                if FileManager.default.fileExists(atPath: program.path, isDirectory: &isDirectory),
                    !isDirectory.boolValue, FileManager.default.isExecutableFile(atPath: program.path)
                {
                    return program
                }
            }
        }
        return nil
    }()

    /// The exit code; the negative number of the signal that ended it.
    let exitCode: Int32
    let outputBytes: Data
    let errors: String
    let seconds: Double
    private let command: String

    private init(_ run: FinishedProcess, _ command: String) {
        self.exitCode = run.status
        self.outputBytes = run.output
        self.errors = String(decoding: run.errors, as: UTF8.self)
        self.seconds = run.seconds
        self.command = command
    }

    /// Runs `tumbler` in a folder.
    ///
    /// - Parameters:
    ///   - standardInput: A file of the folder; nothing by default.
    static func tumbler(
        _ arguments: [String], in folder: URL, standardInput: String? = nil
    ) async throws -> CommandRun {
        let program = try #require(self.program, "there is no tumbler beside the tests")
        let input = standardInput.map { folder.appendingPathComponent($0) }
        let run = try await FinishedProcess.run(program, arguments, in: folder, standardInput: input)
        return CommandRun(run, "tumbler \(arguments.joined(separator: " "))")
    }

    /// Runs a line of shell, in which `$0` is `tumbler`.
    static func shell(_ line: String, in folder: URL) async throws -> CommandRun {
        let program = try #require(self.program, "there is no tumbler beside the tests")
        let shell = URL(fileURLWithPath: "/bin/sh")
        return CommandRun(try await FinishedProcess.run(shell, ["-c", line, program.path], in: folder), line)
    }

    var output: String { String(decoding: self.outputBytes, as: UTF8.self) }

    /// The lines of standard output, each of which ends with a line break.
    var lines: [String] {
        self.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// The first word of each line: the pins that `pin` prints.
    var pins: [String] { self.lines.map { String($0.prefix { $0 != " " }) } }

    /// The lines of standard error.
    var errorLines: [String] { self.errors.split(separator: "\n").map(String.init) }

    var description: String {
        let bounded = "\(self.output.prefix(2_000))\(self.errors.prefix(2_000))"
        return "`\(self.command.prefix(500))` ended with \(self.exitCode) after \(self.seconds) s:\n\(bounded)"
    }

    /// Expects what formats.md, section 8, says of errors: one line, perhaps a hint, nothing else.
    ///
    /// - Parameters:
    ///   - hint: Whether there must be a hint, or must be none; either by default.
    func expectError(_ exitCode: Int32, hint: Bool? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        let lines = self.errorLines
        let isForm =
            lines.first?.hasPrefix("tumbler: error: ") == true && lines.count <= 2
            && lines.dropFirst().allSatisfy { $0.hasPrefix("tumbler: hint: ") } && self.errors.hasSuffix("\n")
            && lines.allSatisfy { $0.count > "tumbler: error: ".count && $0.count < 400 }
        #expect(self.exitCode == exitCode, "\(self)", sourceLocation: sourceLocation)
        #expect(self.outputBytes.isEmpty, "\(self)", sourceLocation: sourceLocation)
        #expect(isForm, "\(self)", sourceLocation: sourceLocation)
        if let hint { #expect(lines.count == (hint ? 2 : 1), "\(self)", sourceLocation: sourceLocation) }
    }

    /// Expects a result: exit code 0, and nothing said beside it.
    func expectResult(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.exitCode == 0, "\(self)", sourceLocation: sourceLocation)
        #expect(self.errors.isEmpty, "\(self)", sourceLocation: sourceLocation)
    }
}
