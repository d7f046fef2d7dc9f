// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListRepository
import PinRotation

/// The plan of a rotation.
struct RotatePlanCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Plan the rotation of a host's key: rotations/HOST.yaml.",
        discussion: """
            The new key must not be denied, nor by accident that of another entry, and a backup must remain when \
            the old pins are gone. 60 days by default: the new pin is announced at once, the key is \
            switched from day 30, and the old pins go from day 60. Where the gate is expected to open \
            later, the switch is planned for then. Nothing is published: tumbler rotate next does that.
            """
    )

    @OptionGroup var rotated: RotatedHost
    @OptionGroup var newKey: NewKeyOptions

    @Option(
        name: .customLong("switch-at"),
        help: ArgumentHelp(
            "The time from which the new key is to be served: 2026-12-24 or 2026-12-24T08:00:00Z.", valueName: "date"),
        transform: Self.date)
    var switchAt: Timestamp?

    @Option(
        name: .customLong("max-refusing"),
        help: ArgumentHelp("The share of the requests that may refuse the new key.", valueName: "percent"),
        transform: Self.limit)
    var maxRefusing: RefusingLimit = .standard

    @Option(help: ArgumentHelp("The place of the new private key.", valueName: "text"))
    var kept: String?

    @Option(
        name: .customLong("held-by"),
        help: ArgumentHelp("The holder of the new key; may be given several times.", valueName: "text"))
    var heldBy: [String] = []

    @Option(name: .customLong("old-kept"), help: ArgumentHelp("The place of the old private key.", valueName: "text"))
    var oldKept: String?

    @Option(
        name: .customLong("old-held-by"),
        help: ArgumentHelp("The holder of the old key; may be given several times.", valueName: "text"))
    var oldHeldBy: [String] = []

    @Flag(help: "Allow other entries to have this key as well.")
    var shared = false

    @OptionGroup var look: RotationLookOptions
    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions

    @Flag(help: "Print the plan as rotate status --json does.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func validate() throws {
        let texts = [self.kept, self.oldKept].compactMap { $0 } + self.heldBy + self.oldHeldBy
        guard texts.allSatisfy(RotationPlan.isLine) else {
            throw ValidationError(
                "--kept and --held-by are one line of at most \(RotationPlan.maximumTextLength) bytes")
        }
        guard max(self.heldBy.count, self.oldHeldBy.count) <= RotationPlan.maximumKeys else {
            throw ValidationError("--held-by: at most \(RotationPlan.maximumKeys)")
        }
    }

    func run() async throws {
        let time = self.time.time
        let knowledge = try await RotationKnowledge(self.project, self.service, self.look, at: time)
        let lock = try RotationLock(knowledge.input.project)
        let host = self.rotated.host
        let existing = try knowledge.folder.plan(of: host)
        if let existing, !existing.plan.state.isFinal {
            throw CommandError(
                .doesNotHold, "\(RotationFolder.path(of: host)) is a plan that is \(existing.plan.state.rawValue)",
                hint: "tumbler rotate status \(host); tumbler rotate abort \(host) ends it")
        }
        let forecast = knowledge.forecast(limit: self.maxRefusing)
        if let switchAt, switchAt < time {
            throw CommandError(.usage, "--switch-at \(switchAt) is over", hint: "name a time to come")
        }
        var plan = try await RotationDraft(knowledge: knowledge, host: host).plan(
            try self.newKey.newPin(), self.newKey.old, isShared: self.shared, limit: self.maxRefusing,
            timeline: RotationTimeline(from: time, switchAt: self.switchAt, opening: forecast.opening), at: time)
        plan.new.kept = self.kept
        plan.new.heldBy = self.heldBy
        for index in plan.old.indices {
            plan.old[index].kept = self.oldKept
            plan.old[index].heldBy = self.oldHeldBy
        }
        if let switchAt, let opening = forecast.opening, switchAt < opening {
            StandardError.warning("the gate is expected to open at \(opening) (\(forecast.basis)), after --switch-at")
        }
        try await RotationKeeper(host, existing, knowledge.input, self.service).keep(plan)
        let entry = try RotationFolder.Entry.expected(host, in: knowledge.folder)
        let situation = try await knowledge.situation(of: entry)
        if self.json { return try PrintedRotation.write(PrintedRotation(situation: situation).json) }
        try StandardOutput.write(
            lines: ["planned: \(RotationFolder.path(of: host))"] + RotationLines(situation: situation).lines)
        _ = consume lock
    }

    private static func date(_ text: String) throws -> Timestamp {
        do throws(InputError) {
            return try Timestamp(text.utf8.count == 10 ? "\(text)T00:00:00Z" : text)
        } catch { throw ValidationError("\(error)") }
    }

    private static func limit(_ text: String) throws -> RefusingLimit {
        guard let limit = RefusingLimit(text) else {
            throw ValidationError("--max-refusing is a number from 0 to 100 with at most three decimals")
        }
        return limit
    }
}
