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
            that is compared with, and when the service refuses, pins.json stays what it was. Without a token nothing \
            is released, unless --no-publish says that it is meant so. What goes out is kept in lists/.
            """
    )

    @OptionGroup var allow: AllowOption
    @OptionGroup var live: LiveOption
    @OptionGroup var signers: SignerOptions
    @OptionGroup var service: ServiceOptions

    @Flag(name: .customLong("no-publish"), help: "Do not publish on the service: it is done elsewhere, or later.")
    var noPublish = false

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
        let service = self.noPublish ? nil : try await ReleaseService(self.service, input)
        try self.expectPublishing(input, service)
        let newestHere = try input.project.publishedList()
        // What clients have is what the service serves; the next version comes after every list that counts.
        let published = service?.current ?? newestHere
        let newest = [newestHere, published].compactMap { $0 }.max { $0.version < $1.version }
        let list = try PinList(building: input.source, after: newest, at: time)
        try ListHistory.expectRoom(for: list, in: input.project)
        let held = try await self.lint(list, input, published, at: time)

        let metadata = try SignableMetadata(list.payload, named: ProjectFolder.sourceName)
        let summary =
            (service?.differences(from: newestHere) ?? []) + SigningSummary.lines(of: metadata, published: published)
            + (held.lists.isEmpty ? [] : [held.line])
        if !self.yes {
            try SigningConsent.expectSomebody()
            for line in summary { StandardError.note(line) }
            guard SigningConsent.ask("Release this?") else {
                throw CommandFailure(.doesNotHold, "not released, nothing was written")
            }
        }
        let envelope = try await self.sign(metadata)
        try ClientCheck.verify(envelope, in: input.project, at: time)
        let older = [try input.project.newestList(), service?.servedEnvelope].compactMap { $0 }
        let changes = try await service?.publish(envelope)
        if service == nil { try ProjectFolder.write(envelope, to: input.project.list) }
        if let export {
            try ListTree(roots: try input.project.roots(), list: envelope)
                .write(to: URL(fileURLWithPath: export, relativeTo: ProjectOption.working))
        }
        self.keep(older, in: input.project)
        try ListHistory.keep(envelope, in: input.project, publishedAt: self.isOut(input) ? time : nil)
        // For the log of whoever did not want to be asked; after a failure there is nothing but its line.
        if self.yes { for line in summary { StandardError.note(line) } }
        let released = ReleasedList(
            name: list.name, version: list.version, expiresAt: list.expiresAt.description,
            sha256: metadata.payloadDigest, published: changes)
        if self.noPublish, let server = input.source.server?.value {
            StandardError.note("not published on \(server): tumbler publish --token-file FILE does it")
        }
        if self.json { return try JSONOutput.write(released) }
        var lines = ["released \(list.name) version \(list.version), which expires \(list.expiresAt)"]
        if let changes { lines.append("published \(changes.joined(separator: ", "))") }
        try StandardOutput.write(lines: lines)
    }

    /// Refuses to stop half way: who has a service wants the list to be there.
    private func expectPublishing(_ input: SourceInput, _ service: ReleaseService?) throws(CommandFailure) {
        guard service == nil, !self.noPublish, let address = try self.service.address(or: input.source) else { return }
        throw CommandFailure(
            .doesNotHold, "nothing was published, and nothing was written: there is no token for \(address)",
            hint: "--token-file FILE; or --no-publish, where another machine publishes")
    }

    /// Whether the list goes out with this command: `pins.json` of a project without a service is what clients get.
    private func isOut(_ input: SourceInput) -> Bool {
        !self.noPublish || self.export != nil || (input.source.server == nil && self.service.server == nil)
    }

    /// Keeps the lists before this one where nobody kept them: that of `pins.json`, and the one that was served.
    private func keep(_ older: [[UInt8]], in project: ProjectFolder) {
        for envelope in older {
            do throws(RepositoryError) {
                try ListHistory.keep(envelope, in: project, publishedAt: nil)
            } catch {
                StandardError.note(error.reason)
            }
        }
    }

    private func lint(
        _ list: PinList, _ input: SourceInput, _ published: PinList?, at time: Timestamp
    ) async throws -> HeldLists {
        let held = try await HeldLists.known(
            in: input.project, name: list.name, source: input.source, published: published, service: self.service,
            at: time)
        var linter = Linter(list, at: time)
        linter.source = input.source
        linter.published = published
        linter.root = try input.project.newestRoot()
        linter.held = held
        if self.signers.keys.isEmpty {
            linter.signers = LintSigner.signers(of: input.source, in: input.project.folder)
        }
        linter.served = try await self.live.observe(linter.hostsToObserve, at: time)
        let findings = linter.findings.filter { !self.allow.allows($0) }
        for finding in findings where finding.rule.severity == .warning { StandardError.note(finding.line) }
        let errors = findings.filter { $0.rule.severity == .error }
        guard let first = errors.first else { return held }
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
