// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
@_spi(Tools) import PinListClient
import PinListMetadata
import PinListRepository

/// Verifies a root or a list as a client does.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a root or a list exactly as an app's client does.",
        discussion: """
            --root is the root that the app ships; further ones are those that follow it, in their order. In a project \
            folder FILE is pins.json unless given, and the roots are those of the project. Exit code 0: \
            a client that holds these roots and no list would take it; 1: it would not, and the code says why. The \
            signatures of the role's keys and those of its hybrid demand are counted apart: clients that cannot verify \
            the hybrid ones need the first count alone.
            """
    )

    @Argument(help: "An envelope; in a project pins.json unless given.", completion: .file())
    var file: String?

    @Option(
        name: .customLong("root"), help: ArgumentHelp("A root. Several times, in their order.", valueName: "file"),
        completion: .file())
    var roots: [String] = []

    @Option(
        help: ArgumentHelp("The state folder of a client, which it holds beside the root.", valueName: "dir"),
        completion: .directory)
    var state: String?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func validate() throws {
        if self.state != nil, self.roots.count > 1 {
            throw ValidationError("with --state there is one --root: the one that the app ships")
        }
    }

    func run() async throws {
        let time = self.time.time
        var files: [[UInt8]] = []
        let paths = try self.rootPaths()
        for path in paths { files.append(try Self.read(path, maximum: MetadataLimits().rootBytes)) }
        let bytes = try Self.read(try self.filePath(), maximum: MetadataLimits().listBytes)
        let state = try self.client(holding: files, named: paths)
        let verification = Verification(of: bytes, by: state, at: time)
        if self.json {
            try JSONOutput.write(verification)
        } else {
            try StandardOutput.write(lines: verification.lines)
        }
        guard verification.refused == nil else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }

    /// The roots that are named, else those of the project folder in their order; with `--state` the first, which the app
    /// ships.
    private func rootPaths() throws(CommandError) -> [String] {
        guard self.roots.isEmpty else { return self.roots }
        let project: ProjectFolder
        do throws(CommandError) { project = try self.project.find() } catch {
            guard self.project.directory == nil else { throw error }
            throw CommandError(
                .usage, "--root is missing, and there is no project folder here", hint: "--root FILE, or -C DIR")
        }
        let count = try CommandError.wrapping { () throws(RepositoryError) in try project.roots() }.count
        guard count > 0 else {
            throw CommandError(.undecided, "there is no root in the project folder", hint: "--root FILE names one")
        }
        return (1...(self.state == nil ? count : 1)).map { project.root($0).path }
    }

    private func filePath() throws(CommandError) -> String {
        if let file { return file }
        do throws(CommandError) { return try self.project.find().list.path } catch {
            guard self.project.directory == nil else { throw error }
            throw CommandError(
                .usage, "no file is named, and there is no project folder here", hint: "tumbler verify FILE --root FILE"
            )
        }
    }

    /// The state of a client that ships the first root and was given the others.
    private func client(
        holding files: [[UInt8]], named paths: [String]
    ) throws(CommandError) -> TrustState {
        if let state { return try self.client(shipping: files[0], named: paths[0], in: state) }
        var index = 0
        do throws(MetadataError) {
            var state = try TrustState(bundledRoot: files[0], bundledList: nil)
            for file in files.dropFirst() {
                index += 1
                // A client has accepted the files that it holds already, at a time that is unknown here.
                try state.load(root: file)
            }
            return state
        } catch {
            throw CommandError(.doesNotHold, "\(paths[index]): \(error)")
        }
    }

    /// The state of a client that ships a root and has a state folder.
    private func client(
        shipping root: [UInt8], named path: String, in folder: String
    ) throws(CommandError) -> TrustState {
        do throws(MetadataError) {
            let stored = try StoredTrust.load(root: root, state: .folder(folder))
            for finding in stored.findings { StandardError.note(finding) }
            return stored.trust
        } catch {
            throw CommandError(.doesNotHold, "\(path): \(error)")
        }
    }

    private static func read(_ path: String, maximum: Int) throws(CommandError) -> [UInt8] {
        // More than a client reads, so that the client's own code says that it is too large.
        try CommandError.wrapping { () throws(RepositoryError) in try BoundedFile.read(path, maximum: 4 * maximum) }
    }
}
