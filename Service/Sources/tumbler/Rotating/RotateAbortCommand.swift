// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListRepository
import PinRotation

/// The end of a rotation before time.
struct RotateAbortCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "abort",
        abstract: "Abort a rotation: the new pin goes, unless it is served.",
        discussion: """
            Each address of the host, and of the hosts below it that are known, is asked before: where one serves the \
            new key, or it is not known what one serves, nothing is changed. A pin that was a backup before the \
            rotation stays.

            Exit code 0: it is aborted; 1: an address serves the new key; 2: one may serve it, or the list could not \
            be published.
            """
    )

    @OptionGroup var rotated: RotatedHost

    @Option(help: ArgumentHelp("The reason; it is written into the plan.", valueName: "text"))
    var reason: String?

    @OptionGroup var look: RotationLookOptions
    @OptionGroup var signers: SignerOptions
    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions
    @OptionGroup var options: ReleaseOptions
    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func validate() throws {
        if let reason, !RotationPlan.isLine(reason) {
            throw ValidationError("--reason is one line of at most \(RotationPlan.maximumTextLength) bytes")
        }
    }

    func run() async throws {
        let time = self.time.time
        let host = self.rotated.host
        let lock = try RotationLock(try self.project.find())
        let knowledge = try await RotationKnowledge(self.project, self.service, self.look, at: time)
        let entry = try RotationFolder.Entry.expected(host, in: knowledge.folder)
        var plan = entry.plan
        guard !plan.state.isFinal else {
            throw CommandError(.doesNotHold, "the rotation of \(host) is \(plan.state.rawValue) already")
        }
        let hosts = try knowledge.hosts(of: plan)
        let keeper = try await RotationKeeper(host, entry, knowledge.input, self.service)
        let publishing = RotationPublishing(
            release: self.options.release(self.project, signedBy: self.signers, to: self.service, at: time),
            project: knowledge.input.project)
        let changes = plan.isPinnedBefore ? [] : try publishing.edit().aborting(plan)
        var released: ReleasedList?
        // An abort that was interrupted left the source without the pin, and clients with it.
        let isStillOut = !plan.isPinnedBefore && knowledge.mayBePublished([plan.new.pin], by: plan)
        if !changes.isEmpty || isStillOut {
            try Self.expectKey(plan)
            try Self.expectUnserved(plan, try await knowledge.addresses(of: hosts))
            released = try await publishing.publish(changes)
            if let released, let wayOut = released.wayOut {
                StandardError.warning("version \(released.version) without the new pin is not out yet: \(wayOut)")
            }
        }
        try plan.enter(
            RotationStep(.aborted, at: max(time, plan.since), version: released?.version, reason: self.reason))
        try await keeper.keep(plan, isReleased: released != nil)
        _ = consume lock
        let version = released.map { "; version \($0.version) of the list is without the new pin" } ?? ""
        try StandardOutput.write(lines: ["\(host): aborted\(version)"])
    }

    /// Refuses to take out the pin of a certificate: looks compare keys, and do not see whether it is served.
    private static func expectKey(_ plan: RotationPlan) throws(CommandError) {
        guard plan.new.pin.kind == .certificate else { return }
        throw CommandError(
            .undecided, "whether \(plan.new.pin) is served is not known: it is the pin of a certificate",
            hint: "where no server has it, take it out of tumbler.yaml, tumbler release --live, then abort again")
    }

    /// Refuses to take out a pin that is served, or may be.
    private static func expectUnserved(
        _ plan: RotationPlan, _ addresses: [KeySightings.Address]?
    ) throws(CommandError) {
        guard let addresses, !addresses.isEmpty else {
            throw CommandError(
                .undecided, "whether \(plan.host) serves the new key is not known: no address was asked",
                hint: "run this where the host can be reached, without --no-look")
        }
        if let address = addresses.first(where: { $0.pins.map(plan.new.isIn) ?? false }) {
            throw CommandError(
                .doesNotHold, "\(address.address) serves the new key: without its pin it would be refused",
                hint: "put the old key back there first")
        }
        if let gap = addresses.lazy.compactMap(\.gap).first {
            throw CommandError(
                .undecided, "whether the new key is served is not known: \(gap)",
                hint: "try again when every address answers; or name each with --connect-to")
        }
    }
}
