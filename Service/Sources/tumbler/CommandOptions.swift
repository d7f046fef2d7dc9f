// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PathValidation
import PinListMetadata
import PinListRepository
import PinningNIO

/// `-o FILE`: where a result goes that is a file.
struct OutputOption: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Write to this file; - is standard output.", valueName: "file"), completion: .file())
    var path: String

    /// Whether the result goes to standard output: then what would be printed beside it is a note.
    private var isStandardOutput: Bool { self.path == InputFile.standardInput }

    /// Refuses a file with a signed root or list, where what is to be written is not signed.
    ///
    /// - Throws: ``CommandError``.
    func expectUnsigned() throws(CommandError) {
        guard !self.isStandardOutput else { return }
        try CommandError.wrapping { () throws(RepositoryError) in try SignableMetadata.expectUnsigned(at: self.path) }
    }

    /// Writes the file whole; one that is there is replaced at once.
    func write(_ bytes: [UInt8]) throws(CommandError) {
        if self.isStandardOutput { return try StandardOutput.write(Data(bytes)) }
        try CommandError.wrapping { () throws(RepositoryError) in
            try WrittenFile.write(bytes, to: self.path, .published, existing: .replaced)
        }
    }
}

extension OutputOption {
    /// Prints what is to be said of the file, as lines or as JSON: beside it, or where it takes standard output as notes.
    ///
    /// - Parameters:
    ///   - value: What `--json` prints.
    ///   - lines: What people read.
    ///   - json: Whether `--json` is given.
    /// - Throws: ``CommandError`` when it cannot be written.
    func report(_ value: some Encodable, _ lines: [String], asJSON json: Bool) throws {
        guard !self.isStandardOutput else { return lines.forEach(StandardError.note) }
        if json { try JSONOutput.write(value) } else { try StandardOutput.write(lines: lines) }
    }
}

/// The source of the anchors: `--roots FILE|system`, `--cacert FILE|system`.
enum RootsOption {
    /// The word for the roots of the system.
    static let system = "system"

    /// Reads a root store.
    ///
    /// - Throws: ``CommandError`` when there is none, or it holds nothing that can be used.
    static func load(_ option: String) throws(CommandError) -> RootStore {
        if option == self.system {
            do throws(PinningSetupError) { return try TrustedRoots.system() } catch {
                throw CommandError(
                    .undecided, "this system has no bundle of roots",
                    hint: "install ca-certificates, or name a PEM file")
            }
        }
        let bytes = try InputFile.read(option)
        do throws(InputError) {
            return try RootStore(pem: bytes)
        } catch {
            throw CommandError(.undecided, "\(option): \(error)")
        }
    }
}

/// The clock that only goes forward, in nanoseconds.
func monotonicNanoseconds() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// `--root FILE`: a signed root, given as a file.
enum RootOption {
    /// Reads it; it must carry a threshold of its own keys.
    static func read(_ path: String) throws(CommandError) -> Root {
        try CommandError.wrapping { () throws(RepositoryError) in try RootFile.read(path).root }
    }
}

extension ProjectOption {
    /// The newest root of the project folder.
    ///
    /// - Throws: ``CommandError`` when there is no folder, or no root in it.
    func newestRoot() throws(CommandError) -> Root {
        let project: ProjectFolder
        do { project = try self.find() } catch {
            throw CommandError(.usage, error.message, hint: "--root FILE, or -C DIR")
        }
        let newest = try CommandError.wrapping { () throws(RepositoryError) in try project.newestRoot() }
        guard let newest else {
            throw CommandError(
                .undecided, "there is no root in the project folder", hint: "--root FILE names one elsewhere")
        }
        return newest
    }
}

/// `ROLE=VALUE` on the command line; the role is `root` or `pins`.
struct RoleOption: ExpressibleByArgument {
    /// The role.
    let kind: MetadataRole

    /// The value that follows the option.
    let value: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let kind = MetadataRole(rawValue: String(parts[0])) else { return nil }
        self.kind = kind
        self.value = String(parts[1])
    }
}

/// `--allow RULE`: findings that do not stop a command.
struct AllowOption: ParsableArguments {
    @Option(
        name: .customLong("allow"), help: "A rule of lint that may be broken. May be given several times.",
        completion: .list(LintRule.all.map(\.id)))
    var rules: [String] = []

    func validate() throws {
        for rule in self.rules where LintRule.named(rule) == nil {
            let nearest = NearestName.of(rule, among: LintRule.all.map(\.id)).map { "; there is \($0)" } ?? ""
            throw ValidationError("--allow \(rule): there is no such rule\(nearest)")
        }
    }

    /// Whether a finding is allowed.
    func allows(_ finding: LintFinding) -> Bool { self.rules.contains(finding.rule.id) }
}
