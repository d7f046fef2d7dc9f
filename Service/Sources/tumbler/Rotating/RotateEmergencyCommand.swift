// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository
import PinRotation

/// Another key at once: the old one is lost, or stolen.
struct RotateEmergencyCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "emergency",
        abstract: "Lead a host to another key at once, and say how many clients that locks out for how long.",
        discussion: """
            Says what share of the requests would be refused now, and simulates how many installations refuse the new \
            key after a while. Then come four steps, each only when it is wanted: the plan is written; the new pin, \
            and a suspension of the host's entry, are put into the source; the list is released; the plan becomes \
            ready, and the new key is to be deployed. A no stops there, and what was done stays. First the list, \
            then the server: a suspension lets installations connect that have the new list. Those that never see \
            it stay locked out. Without a service, --export writes the list for the static host; without that, tumbler \
            export comes first of what is left to do.

            Exit code 0: every step was done; 1: one was not wanted, or something speaks against it; 2: it is not \
            known which key goes, or a server did not answer.
            """
    )

    @OptionGroup var rotated: RotatedHost
    @OptionGroup var newKey: NewKeyOptions

    @Option(
        name: .customLong("suspend-for"),
        help: ArgumentHelp(
            "The length of the suspension; by default until half of the installations came, 12h to 7d.",
            valueName: "duration"))
    var suspendFor: String?

    @Flag(name: .customLong("no-suspension"), help: "Suspend nothing.")
    var noSuspension = false

    @OptionGroup var look: RotationLookOptions
    @OptionGroup var allow: AllowOption
    @OptionGroup var passphrases: PassphraseOptions
    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions

    @Option(
        help: ArgumentHelp("Publish to this folder, too: v1/lists/NAME below it.", valueName: "dir"),
        completion: .directory)
    var export: String?

    @Flag(help: "Do not ask: take every step.")
    var yes = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func validate() throws {
        if let suspendFor, SourceDuration.seconds(of: suspendFor) == nil {
            throw ValidationError("--suspend-for \(suspendFor): write \(SourceDuration.form)")
        }
        if self.suspendFor != nil, self.noSuspension {
            throw ValidationError("--suspend-for and --no-suspension exclude each other")
        }
    }

    func run() async throws {
        let time = self.time.time
        let host = self.rotated.host
        let lock = try RotationLock(try self.project.find())
        let knowledge = try await RotationKnowledge(self.project, self.service, self.look, at: time)
        let existing = try knowledge.folder.plan(of: host)
        if let existing, !existing.plan.state.isFinal {
            throw CommandError(
                .doesNotHold, "\(RotationFolder.path(of: host)) is a plan that is \(existing.plan.state.rawValue)",
                hint:
                    "tumbler rotate next \(host) --force \(existing.plan.state.rawValue) --reason TEXT goes on with it")
        }
        if !self.yes { try SigningConsent.expectTerminal() }
        var plan = try await RotationDraft(knowledge: knowledge, host: host).plan(
            try self.newKey.newPin(), self.newKey.old, isShared: false, limit: .standard,
            timeline: RotationTimeline(from: time, switchAt: time), at: time)
        let release = try self.release(at: time)
        try release.expectToken(knowledge.input)
        try await release.expectUpToDate(knowledge.input)
        let toll = EmergencyToll(plan, knowledge, at: time)
        let suspension = self.suspension(of: plan, toll, knowledge.input.source, at: time)
        let changes = try self.changes(plan, suspension, knowledge, at: time)
        let steps = EmergencySteps(
            plan: plan, suspension: suspension, files: changes.map(\.path),
            wayOut: try release.wayOut(of: knowledge.input), repetition: try release.repetition(of: knowledge.input),
            isAsking: !self.yes)
        for line in toll.lines(suspendedFor: suspension?.seconds) { StandardError.note(line) }
        for line in suspension?.notes ?? [] { StandardError.note(line) }

        try steps.expect(.plan, "Write the plan?")
        try await self.keep(plan, knowledge)

        if changes.isEmpty { steps.tell(.edit) } else { try steps.expect(.edit, "Edit the source?") }
        _ = try SourceChange(changes, in: knowledge.input.project)

        // It asks behind the summary of what is signed.
        steps.tell(.release)
        let released = try await self.released(release, steps)
        try plan.enter(RotationStep(.announced, at: time, version: released.version))
        try await self.keep(plan, knowledge, isReleased: true)

        try steps.expect(.deploy, "Is the new key to be deployed now?")
        try plan.enter(RotationStep(.ready, at: time, forced: "emergency: the key has to be replaced at once"))
        try await self.keep(plan, knowledge, isReleased: true)
        _ = consume lock
        try StandardOutput.write(
            lines: ["\(host): ready, with version \(released.version) of the list"]
                + toll.order(after: released.wayOut, suspended: suspension?.hosts ?? []))
    }

    /// Releases; says what was done before where that fails.
    private func released(_ release: Release, _ steps: EmergencySteps) async throws -> ReleasedList {
        let refusal = steps.stopped(before: .release)
        let project = try self.project.find()
        let before = try project.newestList()
        do { return try await release.run(declined: refusal) } catch {
            if (try? project.newestList()) != before {
                StandardError.note(steps.mayBeReleased)
            } else if (error as? CommandError)?.message != refusal.message {
                StandardError.note(steps.done(before: .release))
                if let next = steps.goingOn(before: .release) { StandardError.note(next) }
            }
            throw error
        }
    }

    /// Keeps a plan in place of the one that is there.
    private func keep(
        _ plan: RotationPlan, _ knowledge: RotationKnowledge, isReleased: Bool = false
    ) async throws {
        let entry = try knowledge.folder.plan(of: plan.host)
        try await RotationKeeper(plan.host, entry, knowledge.input, self.service).keep(plan, isReleased: isReleased)
    }

    private func suspension(
        of plan: RotationPlan, _ toll: EmergencyToll, _ source: ListSource, at time: Timestamp
    ) -> EmergencySuspension? {
        guard !self.noSuspension else { return nil }
        let demanded = self.suspendFor.flatMap(SourceDuration.seconds)
        return EmergencySuspension(
            of: plan, for: demanded ?? toll.suspension, isDemanded: demanded != nil, source, at: time)
    }

    /// The edits: the new pin, and the suspension, both in one list.
    ///
    /// - Throws: ``RepositoryError`` where they cannot be made; nothing is written yet.
    private func changes(
        _ plan: RotationPlan, _ suspension: EmergencySuspension?, _ knowledge: RotationKnowledge, at time: Timestamp
    ) throws -> [PinEdit.Change] {
        let files = DiskFiles(in: knowledge.input.project.folder)
        let name = ProjectFolder.sourceName
        var changes = try PinEdit(name, files: files).announcing(plan)
        guard let suspension, !suspension.hosts.isEmpty else { return changes }
        let before = try files.bytes(of: name, limit: ListSource.maximumLength)
        let own = changes.firstIndex { $0.path == name }
        let after = try suspension.added(to: own.map { changes[$0].after } ?? before, files, plan, at: time)
        let change = PinEdit.Change(path: name, before: before, after: after)
        if let own { changes[own] = change } else { changes.append(change) }
        return changes
    }

    private func release(at time: Timestamp) throws -> Release {
        var signers = try SignerOptions.parse([])
        signers.passphrases = self.passphrases
        return Release(
            allow: self.allow, live: nil, signers: signers, service: self.service, noPublish: false,
            export: self.export,
            yes: self.yes, project: self.project, time: time)
    }
}
