// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PinListRepository
import PinRotation

/// A step of an emergency rotation.
enum EmergencyStep: Int, CaseIterable {
    case plan = 1
    case edit
    case release
    case deploy

    /// `step 2 of 4`.
    var name: String { "step \(self.rawValue) of \(Self.allCases.count)" }
}

/// The texts and questions before each step of an emergency rotation.
struct EmergencySteps {
    /// The plan.
    let plan: RotationPlan

    /// The suspension; `nil` where nothing is suspended.
    let suspension: EmergencySuspension?

    /// The files that are edited; none where the source says everything already.
    let files: [String]

    /// What puts the list out after its release; `nil` when it goes out with that.
    let wayOut: String?

    /// What puts the list out once more, where it is not known whether it is out.
    let repetition: String

    /// Whether a person is asked; else every step is wanted.
    let isAsking: Bool

    private var host: HostName { self.plan.host }
    private var edited: String { self.files.isEmpty ? "tumbler.yaml" : self.files.joined(separator: " and ") }

    /// Says what a step does and how to go back, and asks.
    ///
    /// - Throws: ``CommandError`` when it is not wanted.
    func expect(_ step: EmergencyStep, _ question: String) throws(CommandError) {
        self.tell(step)
        guard self.isAsking else { return }
        guard SigningConsent.ask(question) else { throw self.stopped(before: step) }
    }

    /// Says what a step does and how to go back.
    func tell(_ step: EmergencyStep) {
        for line in self.lines(of: step) { StandardError.note(line) }
    }

    /// The text on what a step does, and how to go back.
    func lines(of step: EmergencyStep) -> [String] {
        let path = RotationFolder.path(of: self.host)
        switch step {
        case .plan:
            return [
                "\(step.name): the plan is written, \(path); no list and no server changes",
                "the way back: tumbler rotate abort \(self.host)",
            ]
        case .edit:
            guard !self.files.isEmpty else { return ["\(step.name): nothing is to be edited, the source has it all"] }
            let suspended = (self.suspension?.hosts ?? []).map { host in
                "\(host) is suspended until \(self.suspension?.until.description ?? "")"
            }
            let changes = ["the new pin is \(self.plan.new.pin)"] + suspended
            return [
                "\(step.name): \(self.edited) is edited: \(changes.joined(separator: ", "))",
                "clients do not see it yet; the way back: \(self.wayBackOfEdit)",
            ]
        case .release:
            let hosts = self.plan.entries.map { "\($0)" }.joined(separator: ", ")
            let suspended = self.suspension.map { ", and refuse nothing at \(hosts) until \($0.until)" } ?? ""
            let after = self.wayOut.map { "; nothing is out before you do this: \($0)" } ?? ""
            return [
                "\(step.name): the list is released: installations that fetch it accept the old key and the new "
                    + "one\(suspended)\(after)",
                "the way back: \(self.goingBack)",
            ]
        case .deploy:
            let before = self.wayOut.map { ", but before that: \($0)" } ?? ""
            return [
                "\(step.name): the plan becomes ready though the gate does not hold; then you deploy the new key at "
                    + "every address of \(self.host)\(before)",
                "when: at once where the old key is lost or stolen; else when tumbler gate \(self.host) says safe",
                "the way back: put the old key back on the servers, then \(self.goingBack)",
            ]
        }
    }

    /// The commands that take the released list back: every suspension of this rotation ends, and the new pin goes unless it was
    /// there before. Then the abort releases nothing, and the end of a suspension is released before it.
    private var goingBack: String {
        let hosts = self.suspension?.hosts ?? []
        let resuming = hosts.map { "tumbler resume \($0), then " }.joined()
        guard self.plan.isPinnedBefore else {
            return "\(resuming)tumbler rotate abort \(self.host): another list goes out, without the new pin"
        }
        let releasing = hosts.isEmpty ? "" : "tumbler release, then "
        return "\(resuming)\(releasing)tumbler rotate abort \(self.host): the pin stays, as before this rotation"
    }

    private var wayBackOfEdit: String {
        self.files.isEmpty
            ? "tumbler rotate abort \(self.host)"
            : "take the new lines out of \(self.edited), then tumbler rotate abort \(self.host)"
    }

    /// The steps that were taken before one, as a failure of the command: the step was not wanted.
    func stopped(before step: EmergencyStep) -> CommandError {
        CommandError(
            .doesNotHold, "stopped before \(step.name): \(self.done(before: step))", hint: self.goingOn(before: step))
    }

    /// The steps that were taken before one, in words.
    func done(before step: EmergencyStep) -> String {
        let path = RotationFolder.path(of: self.host)
        switch step {
        case .plan: return "nothing was written"
        case .edit: return "\(path) is written, and nothing else"
        case .release:
            return self.files.isEmpty
                ? "\(path) is written, and nothing was released"
                : "\(path) is written and \(self.edited) is edited, and nothing was released"
        case .deploy:
            let notYet = self.wayOut.map { ", not out yet (\($0))" } ?? ""
            return "the list is released\(notYet), and the plan is announced"
        }
    }

    /// The steps that were taken where the answer to the release is missing or unclear, and how to go on.
    var mayBeReleased: String {
        let written = "\(RotationFolder.path(of: self.host)) is written, and the list may be released"
        return "\(written): \(self.repetition) until it succeeds, then tumbler rotate next \(self.host)"
    }

    /// The text on how to go on, and how to go back.
    func goingOn(before step: EmergencyStep) -> String? {
        let next = "tumbler rotate next \(self.host)"
        switch step {
        case .plan: return nil
        case .edit:
            let without = self.suspension?.hosts.isEmpty == false ? " without a suspension" : ""
            return "\(next) goes on\(without); tumbler rotate abort \(self.host) ends it"
        case .release: return "\(next) releases it; the way back: \(self.wayBackOfEdit)"
        case .deploy:
            return "\(next) goes on when the gate says safe; at once with --force announced --reason TEXT"
        }
    }
}
