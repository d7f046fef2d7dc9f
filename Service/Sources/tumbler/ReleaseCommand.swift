// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository

/// The everyday command: from what people wrote to what clients get.
struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Lint, build, show the difference, sign, verify and publish the project's list.",
        discussion: """
            Stops before the first thing that fails, with nothing written. The keys are those of signers: in \
            tumbler.yaml unless --key names others; when they do not make the threshold, use build, sign and combine. \
            The list becomes pins.json of the project folder; --export writes the tree of a static host as well. With \
            server: in tumbler.yaml and a token, it is published there: the list that the service serves is the one \
            that is compared with, and when the service refuses, pins.json stays what it was.
            """
    )

    @OptionGroup var allow: AllowOption
    @OptionGroup var live: LiveOption
    @OptionGroup var signers: SignerOptions
    @OptionGroup var service: ServiceOptions

    @Option(help: ArgumentHelp("Publish to this folder, too: v1/lists/NAME below it.", valueName: "dir"))
    var export: String?

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print what was released as JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func run() async throws {
        let time = self.time.time
        let input = try SourceInput(nil, self.project)
        let service = try await ReleaseService(self.service, input)
        let held = try input.project.publishedList()
        // What clients have is what the service serves; the next version comes after every list that counts.
        let published = service?.current ?? held
        let newest = [held, published].compactMap { $0 }.max { $0.version < $1.version }
        let list = try PinList(building: input.source, after: newest, at: time)
        try await self.lint(list, input, published, at: time)

        let metadata = try SignableMetadata(list.payload, named: ProjectFolder.sourceName)
        let summary =
            (service?.differences(from: held) ?? []) + SigningSummary.lines(of: metadata, published: published)
        if !self.yes {
            try SigningConsent.expectSomebody()
            for line in summary { StandardError.note(line) }
            guard SigningConsent.ask("Release this?") else {
                throw CommandFailure(.doesNotHold, "not released, nothing was written")
            }
        }
        let envelope = try await self.sign(metadata)
        try ClientCheck.verify(envelope, in: input.project, at: time)
        let changes = try await service?.publish(envelope)
        if service == nil { try ProjectFolder.write(envelope, to: input.project.list) }
        if let export {
            try ListTree(roots: try input.project.roots(), list: envelope)
                .write(to: URL(fileURLWithPath: export, relativeTo: ProjectOption.working))
        }
        // For the log of whoever did not want to be asked; after a failure there is nothing but its line.
        if self.yes { for line in summary { StandardError.note(line) } }
        let released = ReleasedList(
            name: list.name, version: list.version, expiresAt: list.expiresAt.description,
            sha256: metadata.payloadDigest, published: changes)
        if service == nil, let server = input.source.server?.value {
            StandardError.note(
                "not published on \(server): there is no token; tumbler publish --token-file FILE does it")
        }
        if self.json { return try JSONOutput.write(released) }
        var lines = ["released \(list.name) version \(list.version), which expires \(list.expiresAt)"]
        if let changes { lines.append("published \(changes.joined(separator: ", "))") }
        try StandardOutput.write(lines: lines)
    }

    private func lint(
        _ list: PinList, _ input: SourceInput, _ published: PinList?, at time: Timestamp
    ) async throws {
        var linter = Linter(list, at: time)
        linter.source = input.source
        linter.published = published
        linter.root = try input.project.newestRoot()
        linter.served = try await self.live.observe(linter.hostsToObserve, at: time)
        let findings = linter.findings.filter { !self.allow.allows($0) }
        for finding in findings where finding.rule.severity == .warning { StandardError.note(finding.line) }
        let errors = findings.filter { $0.rule.severity == .error }
        guard let first = errors.first else { return }
        let more = errors.count == 1 ? "" : " (and \(errors.count - 1) more: see tumbler lint)"
        throw CommandFailure(
            .doesNotHold, "\(first.line)\(more)", hint: "\(first.rule.fix); or --allow \(first.rule.id)")
    }

    /// Has everybody sign who is named.
    private func sign(_ metadata: SignableMetadata) async throws -> [UInt8] {
        let signers = try self.signers.signers(for: .pins, self.project)
        var ceremony = try SigningCeremony(metadata, under: [try self.project.newestRoot()])
        for signer in signers { try await ceremony.add(signer) }
        guard ceremony.isComplete else {
            throw CommandFailure(
                .doesNotHold, "signatures are missing: \(ceremony.missing); nothing was written",
                hint: "tumbler build, then sign by each of the others, then combine")
        }
        return try SignableMetadata.file(of: ceremony.envelope)
    }
}

private struct ReleasedList: Encodable {
    let name: String
    let version: Int64
    let expiresAt: String
    let sha256: String
    /// What is new on the service; absent when it was not published there.
    let published: [String]?
}
