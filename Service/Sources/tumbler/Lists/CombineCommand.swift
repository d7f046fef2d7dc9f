// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import PinListMetadata
import PinListRepository

/// Joins envelopes.
struct CombineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "combine",
        abstract: "Make one envelope of several over the same payload.",
        discussion: "Signatures are not verified: that is what tumbler verify does."
    )

    @Argument(help: "Envelopes.", completion: .file())
    var envelopes: [String]

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var output: OutputOption

    private struct Report: Encodable {
        let payloadSHA256: String
        let keyids: [String]
    }

    func run() async throws {
        let envelope = try CommandError.wrapping { () throws(RepositoryError) -> Envelope in
            var parts: [(name: String, metadata: SignableMetadata)] = []
            for path in self.envelopes {
                let bytes = try BoundedFile.read(path, maximum: MetadataLimits().listBytes)
                parts.append((path, try SignableMetadata(bytes, named: path)))
            }
            return try EnvelopeUnion.join(parts)
        }
        let file = try CommandError.wrapping { () throws(RepositoryError) in try SignableMetadata.file(of: envelope) }
        let metadata = try CommandError.wrapping { () throws(RepositoryError) in
            try SignableMetadata(file, named: self.output.path)
        }
        try self.project.expectRoom(for: metadata, at: self.output.path)
        try self.project.expectWhole(file, of: metadata.kind, at: self.output.path)
        try self.output.write(file)
        try self.project.keep(file, of: metadata.kind, at: self.output.path)
        let report = Report(
            payloadSHA256: Envelope.digest(of: envelope.payload), keyids: envelope.signatures.map(\.keyID))
        let lines = ["payload SHA-256 \(report.payloadSHA256)"] + report.keyids.map { "signature of \($0)" }
        try self.output.report(report, lines, asJSON: self.json)
    }
}
