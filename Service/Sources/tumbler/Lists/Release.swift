// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// From what people wrote to what clients get: what `release` does, and each step of a rotation that publishes.
struct Release {
    /// The findings that stop nothing.
    var allow: AllowOption
    /// The way in which hosts are probed; `nil` for not at all.
    var live: LiveOption?
    /// The signers.
    var signers: SignerOptions
    /// The address of the service, and the token.
    var service: ServiceOptions
    /// Whether publishing is done elsewhere.
    var noPublish: Bool
    /// A folder for a static host.
    var export: String?
    /// Whether it runs without a question.
    var yes: Bool
    /// The project.
    var project: ProjectOption
    /// Now.
    var time: Timestamp

    /// Does it.
    ///
    /// - Parameter declined: The failure when the person who is asked does not want it.
    /// - Returns: The released list.
    /// - Throws: ``CommandError`` or ``RepositoryError``; then nothing was written, unless the failure says so.
    func run(
        declined: CommandError = CommandError(.doesNotHold, "not released, nothing was written")
    ) async throws -> ReleasedList {
        let time = self.time
        let input = try SourceInput(nil, self.project)
        let service = self.noPublish ? nil : try await ReleaseService(self.service, input)
        if service == nil { try self.expectToken(input) }
        let newestHere = try input.project.publishedList()
        // Clients have the list that the service serves; the next version comes after every list that counts.
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
            guard SigningConsent.ask("Release this?") else { throw declined }
        }
        let envelope = try await self.sign(metadata)
        try ClientCheck.verify(envelope, in: input.project, at: time)
        let older = [try input.project.newestList(), service?.servedEnvelope].compactMap { $0 }
        let changes = try await service?.publish(envelope)
        if service == nil { try ProjectFolder.write(envelope, to: input.project.list) }
        if let export {
            try input.project.tree(of: envelope)
                .write(to: URL(fileURLWithPath: export, relativeTo: ProjectOption.working))
        }
        self.keep(older, in: input.project)
        try ListHistory.keep(envelope, in: input.project, publishedAt: self.isOut(input) ? time : nil)
        // For the log of a run without questions; after a failure there is only its line.
        if self.yes { for line in summary { StandardError.note(line) } }
        let released = ReleasedList(
            name: list.name, version: list.version, expiresAt: list.expiresAt.description,
            sha256: metadata.payloadDigest, published: changes, isOut: self.isOut(input))
        if self.noPublish, let server = input.source.server?.value {
            StandardError.note("not published on \(server): tumbler publish --token-file FILE does it")
        }
        return released
    }

    /// Refuses to stop half way: a project with a service wants the list to be there.
    ///
    /// - Throws: ``CommandError`` when there is a service to publish on, and no token.
    func expectToken(_ input: SourceInput) throws(CommandError) {
        guard !self.noPublish, let address = try self.service.address(or: input.source),
            try self.service.token() == nil
        else { return }
        throw CommandError(
            .doesNotHold, "nothing was published or written: there is no token for \(address)",
            hint: "--token-file FILE; or --no-publish, where another machine publishes")
    }

    /// Whether the list goes out with this command: `pins.json` of a project without a service is what clients get.
    private func isOut(_ input: SourceInput) -> Bool {
        !self.noPublish || self.export != nil || (input.source.server == nil && self.service.server == nil)
    }

    /// Keeps the previous lists where they are not kept yet: that of `pins.json`, and the one that was served.
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
        linter.probed = ProbeMemoryFile.memory(of: input.project)
        linter.root = try input.project.newestRoot()
        linter.held = held
        if self.signers.keys.isEmpty {
            linter.signers = LintSigner.signers(of: input.source, in: input.project.folder)
        }
        linter.served = try await self.live?.observe(linter.hostsToObserve, at: time)
        let findings = linter.findings.filter { !self.allow.allows($0) }
        for finding in findings where finding.rule.severity == .warning { StandardError.note(finding.line) }
        let errors = findings.filter { $0.rule.severity == .error }
        guard let first = errors.first else { return held }
        let more = errors.count == 1 ? "" : " (and \(errors.count - 1) more: see tumbler lint)"
        throw CommandError(
            .doesNotHold, "\(first.line)\(more)", hint: "\(first.rule.fix); or --allow \(first.rule.id)")
    }

    /// Signs with all signers that are named.
    private func sign(_ metadata: SignableMetadata) async throws -> [UInt8] {
        let signers = try self.signers.signers(for: .pins, self.project)
        var ceremony = try SigningCeremony(metadata, under: [try self.project.newestRoot()])
        for signer in signers { try await ceremony.add(signer) }
        guard ceremony.isComplete else {
            throw CommandError(
                .doesNotHold, "signatures are missing: \(ceremony.missing); nothing was written",
                hint: "tumbler build, then sign by each of the others, then combine")
        }
        return try SignableMetadata.file(of: ceremony.envelope)
    }
}

/// The list that was released: `release --json` prints it.
struct ReleasedList: Encodable {
    let name: String
    let version: Int64
    let expiresAt: String
    let sha256: String
    /// The new publications on the service; absent when it was not published there.
    let published: [String]?
    /// Whether clients get it from now on, as far as this command knows.
    let isOut: Bool

    private enum CodingKeys: CodingKey { case name, version, expiresAt, sha256, published }

    /// For people.
    var lines: [String] {
        var lines = ["released \(self.name) version \(self.version), which expires \(self.expiresAt)"]
        if let published { lines.append("published \(published.joined(separator: ", "))") }
        return lines
    }
}
