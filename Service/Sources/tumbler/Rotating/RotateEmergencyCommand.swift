// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository
import PinRotation

/// Another key at once: the old one is lost, or stolen.
struct RotateEmergencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emergency",
        abstract: "Lead a host to another key at once, and say whom that locks out for how long.",
        discussion: """
            Says what share of the requests would be refused now, and what share of the installations will not have \
                        the new list after a while. Then, each step only when it is wanted: a plan; the new pin, \
            with a suspension of the host's entry, in a list that is released; and the look whether \
            every address serves the new key. The order counts: first the list, then the server. A \
            suspension lets installations connect that have the new list; those that never see it stay \
            locked out until they do.
            """
    )

    @OptionGroup var rotated: RotatedHost
    @OptionGroup var newKey: NewKeyOptions

    @Option(
        name: .customLong("suspend-for"),
        help: ArgumentHelp(
            "How long the entry is suspended; else as long as most need, at most 7d.", valueName: "duration"))
    var suspendFor: String?

    @Flag(name: .customLong("no-suspension"), help: "Suspend nothing.")
    var noSuspension = false

    @OptionGroup var look: RotationLookOptions
    @OptionGroup var allow: AllowOption
    @OptionGroup var passphrases: PassphraseOptions
    @OptionGroup var service: ServiceOptions

    @Flag(help: "Do not ask: every step is wanted.")
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
            throw CommandFailure(
                .doesNotHold, "\(RotationFolder.path(of: host)) is a plan that is \(existing.plan.state.rawValue)",
                hint:
                    "tumbler rotate next \(host) --force \(existing.plan.state.rawValue) --reason TEXT goes on with it")
        }
        if !self.yes { try SigningConsent.expectSomebody() }
        var plan = try await RotationDraft(knowledge: knowledge, host: host).plan(
            try self.newKey.newPin(), self.newKey.old, isShared: false, limit: .standard,
            timeline: RotationTimeline(from: time, switchAt: time), at: time)
        let toll = EmergencyToll(plan, knowledge, at: time)
        for line in toll.lines { StandardError.note(line) }
        let seconds = self.noSuspension ? nil : self.suspendFor.flatMap(SourceDuration.seconds) ?? toll.suspension
        let suspending = seconds.map { ", suspend \(host) for \(SourceDuration.text($0))" } ?? ""
        try self.expectConsent("Plan this, put the new pin into the source\(suspending), and release it?")

        let keeper = try await RotationKeeper(host, existing, knowledge.input, self.service)
        let publishing = RotationPublishing(release: try self.release(at: time), project: knowledge.input.project)
        let released = try await publishing.publish(try self.changes(plan, seconds, knowledge, at: time))
        let reason = "emergency: the key has to be replaced at once"
        try plan.enter(RotationStep(.announced, at: time, version: released.version))
        try plan.enter(RotationStep(.ready, at: time, forced: reason))
        try await keeper.keep(plan, isReleased: true)
        _ = consume lock
        var lines = ["\(host): ready, with version \(released.version) of the list"] + toll.order
        if !released.isOut { lines.insert("version \(released.version) is not published yet: tumbler publish", at: 1) }
        try StandardOutput.write(lines: lines)
    }

    private func expectConsent(_ question: String) throws(CommandFailure) {
        guard !self.yes else { return }
        guard SigningConsent.ask(question) else {
            throw CommandFailure(.doesNotHold, "not done, nothing was written")
        }
    }

    /// The edits: the new pin, and the suspension, both in one list.
    private func changes(
        _ plan: RotationPlan, _ seconds: Int64?, _ knowledge: RotationKnowledge, at time: Timestamp
    ) throws -> [PinEdit.Change] {
        let files = DiskFiles(in: knowledge.input.project.folder)
        let name = ProjectFolder.sourceName
        var changes = try PinEdit(name, files: files).announcing(plan)
        guard let seconds else { return changes }
        let before = try files.bytes(of: name, limit: ListSource.maximumLength)
        let own = changes.firstIndex { $0.path == name }
        let edited = own.map { changes[$0].after } ?? before
        let until = time.secondsSince1970.addingReportingOverflow(seconds).partialValue
        var bytes = edited
        for host in plan.entries {
            let edit = try SuspensionEdit(bytes, file: name, files: files)
            bytes = try edit.suspending(
                Suspension(
                    .entry(host), until: Timestamp(secondsSince1970: until),
                    reason: "emergency rotation of \(plan.host)"),
                at: time)
        }
        let change = PinEdit.Change(path: name, before: before, after: bytes)
        if let own { changes[own] = change } else { changes.append(change) }
        return changes
    }

    private func release(at time: Timestamp) throws -> Release {
        var signers = try SignerOptions.parse([])
        signers.passphrases = self.passphrases
        return Release(
            allow: self.allow, live: nil, signers: signers, service: self.service, noPublish: false, export: nil,
            yes: self.yes, project: self.project, time: time)
    }
}
