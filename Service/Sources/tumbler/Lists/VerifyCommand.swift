// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
@_spi(Tools) import PinListClient
import PinListMetadata
import PinListRepository

/// Verifies a root or a list as a client does.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a root or a list exactly as an app's client does.",
        discussion: """
            --root is the root that the app ships; further ones are those that follow it, in their order. Exit code 0: \
            a client that holds these roots and no list would take it; 1: it would not, and the code says why. Counted \
            are the signatures of the role's keys and of its hybrid demand: clients that cannot verify the hybrid one \
            need the first count alone.
            """
    )

    @Argument(help: "An envelope.")
    var file: String

    @Option(name: .customLong("root"), help: ArgumentHelp("A root. Several times, in their order.", valueName: "file"))
    var roots: [String]

    @Option(help: ArgumentHelp("The state folder of a client, which it holds beside the root.", valueName: "dir"))
    var state: String?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var time: TimeOption

    func validate() throws {
        if self.roots.isEmpty { throw ValidationError("--root is missing") }
        if self.state != nil, self.roots.count > 1 {
            throw ValidationError("with --state there is one --root: the one that the app ships")
        }
    }

    func run() async throws {
        let time = self.time.time
        var files: [[UInt8]] = []
        for path in self.roots { files.append(try Self.read(path, maximum: MetadataLimits().rootBytes)) }
        let bytes = try Self.read(self.file, maximum: MetadataLimits().listBytes)
        let state = try self.client(holding: files)
        let verification = Verification(of: bytes, by: state, at: time)
        if self.json {
            try JSONOutput.write(verification)
        } else {
            try StandardOutput.write(lines: verification.lines)
        }
        guard verification.refused == nil else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }

    /// The state of a client that ships the first root and was given the others.
    private func client(holding files: [[UInt8]]) throws(CommandError) -> TrustState {
        if let state { return try self.client(shipping: files[0], in: state) }
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
            throw CommandError(.doesNotHold, "\(self.roots[index]): \(error)")
        }
    }

    /// The state of a client that ships a root and has a state folder.
    private func client(shipping root: [UInt8], in folder: String) throws(CommandError) -> TrustState {
        do throws(MetadataError) {
            let stored = try StoredTrust.load(root: root, state: .folder(folder))
            for finding in stored.findings { StandardError.note(finding) }
            return stored.trust
        } catch {
            throw CommandError(.doesNotHold, "\(self.roots[0]): \(error)")
        }
    }

    private static func read(_ path: String, maximum: Int) throws(CommandError) -> [UInt8] {
        // More than a client reads, so that the client's own code says that it is too large.
        try CommandError.wrapping { () throws(RepositoryError) in try BoundedFile.read(path, maximum: 4 * maximum) }
    }
}
