// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// The unsigned list that a source says.
struct BuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "build",
        abstract: "Make the unsigned list of a source.",
        discussion: """
            The version is that of the newest known list (pins.json of the project, or --published) plus one. What \
            lint calls an error is refused unless it is allowed by name. Prints the version and the SHA-256 of the \
            payload; with -o - the payload itself.
            """
    )

    @Argument(help: "A tumbler.yaml; by default that of the project folder.", completion: .file())
    var source: String?

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file for the payload; - is standard output.", valueName: "payload"), completion: .file()
    )
    var output: String

    @OptionGroup var published: PublishedOption
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var allow: AllowOption

    @Flag(help: "Print the version and the digest as JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func run() async throws {
        let time = self.time.time
        if self.output != InputFile.standardInput {
            try CommandError.wrapping { () throws(RepositoryError) in
                try SignableMetadata.expectUnsigned(at: self.output)
            }
        }
        let input = try SourceInput(self.source, self.project)
        let roots = try input.project.roots()
        let published = try await self.published.load(roots: roots, by: self.connection.connections)
        let newest = try input.newest(published)
        let list = try PinList(building: input.source, after: newest, at: time)
        try self.refuse(list, input, published?.list ?? newest, try KnownList.chain(roots)?.chain.newest, time)

        let payload = list.payload
        if self.output == InputFile.standardInput { return try StandardOutput.write(Data(payload)) }
        try ProjectFolder.write(payload, to: URL(fileURLWithPath: self.output, relativeTo: ProjectOption.working))
        let built = BuiltList(
            name: list.name, version: list.version, expiresAt: list.expiresAt.description,
            sha256: Envelope.digest(of: payload))
        if self.json { return try JSONOutput.write(built) }
        try StandardOutput.write(lines: ["\(built.name) version \(built.version) sha256 \(built.sha256)"])
    }

    /// Refuses what lint calls an error.
    private func refuse(
        _ list: PinList, _ input: SourceInput, _ published: PinList?, _ root: Root?, _ time: Timestamp
    ) throws(CommandError) {
        var linter = Linter(list, at: time)
        linter.source = input.source
        linter.published = published
        linter.probed = ProbeMemoryFile.memory(of: input.project)
        linter.root = root
        linter.listHost = self.published.host
        linter.held = try CommandError.wrapping { () throws(RepositoryError) in
            try HeldLists(
                of: input.project, and: published, propagation: input.source.propagation, at: time,
                notMeasured: "build asks no service")
        }
        let errors = linter.findings.filter { $0.rule.severity == .error && !self.allow.allows($0) }
        guard let first = errors.first else { return }
        let more = errors.count == 1 ? "" : " (and \(errors.count - 1) more: see tumbler lint)"
        throw CommandError(
            .doesNotHold, "\(first.line)\(more)", hint: "\(first.rule.fix); or --allow \(first.rule.id)")
    }
}

/// The result that `build --json` prints.
private struct BuiltList: Encodable {
    let name: String
    let version: Int64
    let expiresAt: String
    let sha256: String
}
