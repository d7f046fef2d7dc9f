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

/// The next step of a rotation.
struct RotateNextCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "next",
        abstract: "Do the next step of a rotation when its gate holds.",
        discussion: """
            planned: writes the new pin into the source and releases it. announced: asks the gate. ready: looks \
            whether every address serves the new key; when the gate is no longer safe it leads back to \
            announced. switched: when no old key was seen for 14 days and no alarm about failed pins is \
            open, takes the old pins out of the source and releases it. --force names the state that is \
            left although the gate does not hold; the reason is written into the plan. A source that \
            cannot be edited by whole lines is left as it is, and what to type is said. A step is done when \
            its list is out: on the service, or in the folder of --export.

            Exit code 0: the step was done; 1: its gate does not hold, or it led back; 2: whether the gate holds is \
            not known.
            """
    )

    @OptionGroup var rotated: RotatedHost

    @Option(
        help: ArgumentHelp("Leave this state although the gate does not hold.", valueName: "state"),
        completion: .list(RotationState.allCases.filter { $0.following != nil }.map(\.rawValue)))
    var force: String?

    @Option(help: ArgumentHelp("With --force: why.", valueName: "text"))
    var reason: String?

    @Option(help: ArgumentHelp("The chain to deploy, for the gate.", valueName: "file"), completion: .file())
    var certificate: String?

    @OptionGroup var look: RotationLookOptions
    @OptionGroup var signers: SignerOptions
    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions
    @OptionGroup var options: ReleaseOptions

    @Flag(help: "Print the plan as JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func validate() throws {
        guard (self.force == nil) == (self.reason == nil) else {
            throw ValidationError("--force and --reason go together")
        }
        if let force, RotationState(rawValue: force)?.following == nil {
            throw ValidationError("--force is one of planned, announced, ready, switched")
        }
        if let reason, !RotationPlan.isLine(reason) {
            throw ValidationError("--reason is one line of at most \(RotationPlan.maximumTextLength) bytes")
        }
    }

    func run() async throws {
        let time = self.time.time
        let host = self.rotated.host
        // The slower process reads what the other one wrote, or gets an error at once.
        let lock = try RotationLock(try self.project.find())
        let knowledge = try await RotationKnowledge(self.project, self.service, self.look, at: time)
        let entry = try RotationFolder.Entry.expected(host, in: knowledge.folder)
        let keeper = try await RotationKeeper(host, entry, knowledge.input, self.service)
        let situation = try await knowledge.situation(of: entry, certificate: self.certificate)
        let state = situation.plan.state
        guard let following = state.following else {
            throw CommandError(.doesNotHold, "the rotation of \(host) is \(state.rawValue): nothing comes next")
        }
        if let force, force != state.rawValue {
            throw CommandError(
                .doesNotHold, "the rotation of \(host) is \(state.rawValue), and not \(force)",
                hint: "tumbler rotate status \(host)")
        }
        var plan = situation.plan
        var step = RotationStep(situation.outlook.next ?? following, at: max(time, plan.since))
        if situation.outlook.gate != .holds || situation.outlook.isBack, let reason {
            step = RotationStep(following, at: step.at, forced: reason)
        } else if situation.outlook.isBack {
            step.reason = situation.outlook.missing.first.map { PrintableText.line($0, maximumLength: 120) }
        } else {
            try Self.expectOpen(situation, at: time)
        }
        for note in situation.hostNotes { StandardError.note(note) }
        let released = try await self.publish(step.state, situation, knowledge, at: time)
        if let released, let wayOut = released.wayOut {
            throw CommandError(
                .undecided,
                "version \(released.version) is released and not out yet; the plan is still \(state.rawValue)",
                hint: "\(wayOut), then tumbler rotate next \(host)")
        }
        step.version = released?.version
        try plan.enter(step)
        try await keeper.keep(plan, isReleased: released != nil)
        _ = consume lock
        if self.json {
            try PrintedRotation.write(plan.json)
        } else {
            let version = released.map { ", with version \($0.version) of the list" } ?? ""
            let why = step.reason.map { ": \($0)" } ?? step.forced.map { ", forced: \($0)" } ?? ""
            try StandardOutput.write(lines: ["\(host): \(state.rawValue), now \(plan.state.rawValue)\(version)\(why)"])
        }
        if situation.outlook.isBack, step.forced == nil {
            StandardError.warning("\(host): \(situation.alarm ?? "the gate is no longer safe"); deploy nothing")
            throw ExitCode(CommandExit.doesNotHold.rawValue)
        }
    }

    /// Refuses a step whose gate does not hold.
    private static func expectOpen(_ situation: RotationSituation, at time: Timestamp) throws(CommandError) {
        let outlook = situation.outlook
        guard outlook.gate != .holds else { return }
        let next = outlook.next?.rawValue ?? ""
        let more = outlook.missing.count > 1 ? " (and \(outlook.missing.count - 1) more)" : ""
        let earliest = outlook.earliest.flatMap { $0 > time ? "at the earliest \($0); " : nil } ?? ""
        throw CommandError(
            outlook.gate == .unknown ? .undecided : .doesNotHold,
            PrintableText.line(
                "\(situation.plan.host) is not \(next): \(outlook.missing.first ?? "its gate does not hold")\(more)",
                maximumLength: 360),
            hint: "\(earliest)tumbler rotate status \(situation.plan.host) says more")
    }

    /// Publishes what a state needs.
    ///
    /// - Returns: The released list; `nil` when nothing was needed.
    private func publish(
        _ state: RotationState, _ situation: RotationSituation, _ knowledge: RotationKnowledge, at time: Timestamp
    ) async throws -> ReleasedList? {
        let publishing = RotationPublishing(
            release: self.options.release(self.project, signedBy: self.signers, to: self.service, at: time),
            project: knowledge.input.project)
        switch state {
        case .announced where situation.plan.state == .planned:
            let changes = try publishing.edit().announcing(situation.plan)
            return changes.isEmpty && situation.facts.isNewPublished ? nil : try await publishing.publish(changes)
        case .retired:
            let changes = try publishing.edit().retiring(situation.plan)
            return changes.isEmpty && !situation.facts.isOldPublished ? nil : try await publishing.publish(changes)
        default: return nil
        }
    }
}
