// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListDifference
import PinListMetadata
import PinListRepository

/// The way from what people wrote to what clients get: what `release` does, and each step of a rotation that publishes.
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
        let release = try ListRelease(input.source, in: input.project, to: service, at: time)
        let held = try await self.lint(release, input, served: service?.current)

        let summary =
            (service?.differences(from: release.listOfProject) ?? [])
            + SigningSummary.lines(of: release.metadata, published: release.published)
            + (held.lists.isEmpty ? [] : [held.line])
        if !self.yes {
            try SigningConsent.expectTerminal()
            for line in summary { StandardError.note(line) }
            guard SigningConsent.ask("Release this?") else { throw declined }
        }
        let envelope = try await release.signed(by: try self.signers.signers(for: .pins, self.project))
        let outcome: ListRelease.Outcome
        do {
            outcome = try await release.publish(
                envelope, isOut: try self.wayOut(of: input) == nil,
                exportTo: self.export.map { URL(fileURLWithPath: $0, relativeTo: ProjectOption.working) })
        } catch let error as ReleaseError { throw CommandError(error) }
        for note in outcome.notes { StandardError.note(note) }
        // For the log of a release that did not ask; after a failure there is nothing but its line.
        if self.yes { for line in summary { StandardError.note(line) } }
        let released = ReleasedList(
            name: release.list.name, version: release.list.version, expiresAt: release.list.expiresAt.description,
            sha256: release.metadata.payloadDigest, published: outcome.changes, wayOut: try self.wayOut(of: input))
        if self.noPublish, let server = input.source.server?.value {
            StandardError.note("not published on \(server): tumbler publish --token-file FILE does it")
        } else if let wayOut = released.wayOut {
            StandardError.note("nothing is out yet: \(wayOut)")
        }
        return released
    }

    /// Refuses to stop half way: a project with a service wants the list to be there.
    ///
    /// - Throws: ``CommandError`` when there is a service to publish on, and no token.
    func expectToken(_ input: SourceInput) throws(CommandError) {
        guard !self.noPublish, let address = try self.service.address(or: input.source),
            try self.service.token(for: address) == nil
        else { return }
        throw CommandError(
            .doesNotHold, "nothing was published or written: there is no token for \(address)",
            hint: "--token-file FILE; or --no-publish, where another machine publishes")
    }

    /// Refuses to begin what this checkout could not release: another one released the list that is served. A service that
    /// cannot be asked now is asked again by the release.
    ///
    /// - Throws: ``CommandError`` when it is behind, and ``RepositoryError`` when no list can be built.
    func expectUpToDate(_ input: SourceInput) async throws {
        guard !self.noPublish, let service = try? await ReleaseService(self.service, input) else { return }
        let linter = try ListRelease(input.source, in: input.project, to: service, at: self.time).linter()
        try self.expectNone(of: linter.findings.filter { $0.rule == .checkoutBehind && !self.allow.allows($0) })
    }

    /// What puts the list out after this command; `nil` where clients get it with it: the service has it, or the folder of a static
    /// host. A project that has neither, and was never exported, is one whose `pins.json` its people upload themselves.
    func wayOut(of input: SourceInput) throws(CommandError) -> String? {
        guard self.export == nil else { return nil }
        guard try self.service.address(or: input.source) == nil else { return self.noPublish ? "tumbler publish" : nil }
        return self.noPublish || ListHistory.isExported(input.project) ? "tumbler export DIR, and upload it" : nil
    }

    /// The command that puts the list out once more, where it is not known whether it is out.
    func repetition(of input: SourceInput) throws(CommandError) -> String {
        try self.service.address(or: input.source) == nil ? "tumbler export \(self.export ?? "DIR")" : "tumbler publish"
    }

    /// Says that no host was asked, where clients may refuse what they accepted before.
    private func recommendLooking(_ release: ListRelease) {
        guard let before = release.published,
            ListDifference(old: before, new: release.list).changes.contains(where: \.mayRefuse)
        else { return }
        StandardError.note(
            "this list may refuse what the one before accepts, and no host was asked: with --live, the release stops "
                + "when a host serves what this list refuses")
    }

    private func lint(
        _ release: ListRelease, _ input: SourceInput, served: PinList?
    ) async throws -> HeldLists {
        let held = try await HeldLists.known(
            in: input.project, name: release.list.name, source: input.source, published: served,
            service: self.service, at: self.time)
        var linter = try release.linter()
        linter.probed = ProbeMemoryFile.memory(of: input.project)
        linter.held = held
        if self.signers.keys.isEmpty {
            linter.signers = LintSigner.signers(of: input.source, in: input.project.folder)
        }
        linter.served = try await self.live?.observe(
            linter.hostsToObserve, by: self.service.connection.connections, at: self.time)
        let findings = linter.findings.filter { !self.allow.allows($0) }
        for finding in findings where finding.rule.severity == .warning { StandardError.note(finding.line) }
        try self.expectNone(of: findings.filter { $0.rule.severity == .error })
        if let live, !live.live { self.recommendLooking(release) }
        return held
    }

    /// Refuses what lint calls an error.
    private func expectNone(of errors: [LintFinding]) throws(CommandError) {
        guard let first = errors.first else { return }
        let more = errors.count == 1 ? "" : " (and \(errors.count - 1) more: see tumbler lint)"
        throw CommandError(
            .doesNotHold, "\(first.line)\(more)", hint: "\(first.rule.fix); or --allow \(first.rule.id)")
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
    /// What puts it out; `nil` when clients get it from now on, as far as this command knows.
    let wayOut: String?

    private enum CodingKeys: CodingKey { case name, version, expiresAt, sha256, published }

    /// For people.
    var lines: [String] {
        var lines = ["released \(self.name) version \(self.version), which expires \(self.expiresAt)"]
        if let published { lines.append("published \(published.joined(separator: ", "))") }
        return lines
    }
}
