// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository
import PinListSimulation
import PinRotation

/// The installations that a key locks out when it is served at once, and for how long: simulated with the lists that
/// installations hold, and with how often they are opened, by measured adoption, `opened:` of the source, or the usual
/// installation base.
struct EmergencyToll {
    private let plan: RotationPlan
    private let held: [PinList]
    private let refreshAfter: Int64
    private let time: Timestamp
    private let refusing: GateAnswer?
    private let needsChain: Bool
    private let curve: AdoptionForecast
    private let basis: String

    /// The moments at which the rest is told, in seconds.
    private static let moments: [Int64] = [3_600, 86_400, 7 * 86_400, 14 * 86_400, 30 * 86_400]

    init(_ plan: RotationPlan, _ knowledge: RotationKnowledge, at time: Timestamp) {
        self.plan = plan
        self.time = time
        self.refreshAfter = knowledge.input.source.refreshAfter
        let counted = knowledge.lists?.holders.count?.lists.map(\.list) ?? []
        let rules = try? knowledge.lists?.rules(maxRefusing: plan.maxRefusing.percent, at: time)
        // Of rules that cannot be had it is not known that the key alone is enough.
        self.needsChain = rules?.needsChain(of: plan.new.pin, for: plan.host) ?? true
        self.held = (knowledge.lists?.newest ?? []) + (knowledge.lists?.holders.recent ?? []) + counted
        self.refusing = knowledge.lists.flatMap { lists in
            let rules = try? lists.rules(
                maxRefusing: plan.maxRefusing.percent, at: time, comparingPinsAlone: true)
            return rules?.answer(for: plan.host, .key(plan.new.pin), lifetimes: [])
        }
        let forecast = knowledge.forecast(limit: plan.maxRefusing)
        if let curve = forecast.curve {
            (self.curve, self.basis) = (curve, forecast.basis)
        } else {
            self.curve = .usual
            self.basis = "an app that is opened every fourth day on average: write opened: into tumbler.yaml"
        }
    }

    /// The installations that it locks out, in lines.
    ///
    /// - Parameter seconds: The length of the suspension; `nil` for not at all.
    func lines(suspendedFor seconds: Int64?) -> [String] {
        var lines: [String] = []
        if let refusing, refusing.verdict == .safe {
            lines.append(
                "\(self.plan.host): the gate says safe: the key may be served without an emergency"
                    + (self.needsChain ? ", once tumbler gate says so of its chain, too" : ""))
        } else if let share = refusing?.refusing.share {
            lines.append(
                "if the key is served now, the installations behind \(Share.percent(share)) of the requests refuse it")
        } else {
            lines.append(
                "if the key is served now, every installation without the new pin refuses it; "
                    + "how many these are is not measured")
        }
        let accepting = self.held.filter { EmergencySimulation.accepts($0, self.plan) }
        guard self.held.isEmpty || accepting.count < self.held.count else {
            return lines + ["every list that is known here has the new pin, so nothing was simulated"]
        }
        do throws(SimulationError) {
            return lines
                + self.lines(
                    try EmergencySimulation(
                        self.plan, held: self.held, refreshAfter: self.refreshAfter, self.curve, suspendedFor: seconds,
                        at: self.time))
        } catch {
            let rest = Self.text { self.curve.notReached(after: $0) }
            return lines + [
                "not simulated (\(error.reason)); calculated from \(self.basis): installations without the new list: "
                    + rest.map { "\($0.share) after \($0.time)" }.joined(separator: ", ")
            ]
        }
    }

    private func lines(_ simulation: EmergencySimulation) -> [String] {
        let lists = simulation.lists == 1 ? "1 list" : "\(simulation.lists) lists"
        return [
            "simulated with \(EmergencySimulation.clients) installations that hold \(lists), refreshAfter "
                + "\(SourceDuration.text(self.refreshAfter)), opened as by \(self.basis)",
            "if list and key go out now, installations whose list refuses the key: "
                + Self.text { simulation.refusing(after: $0) }.map { "\($0.share) after \($0.time)" }
                .joined(separator: ", "),
            "of the apps that are opened, refused: "
                + Self.text { simulation.refused(within: $0) }.map { "\($0.share) within \($0.time)" }
                .joined(separator: ", "),
        ]
    }

    private static func text(_ share: (Int64) -> Double) -> [(share: String, time: String)] {
        Self.moments.map { (Share.percent(share($0)), SourceDuration.text($0)) }
    }

    /// The length of the suspension that is proposed, in seconds: until half of the installations came, from 12 hours
    /// to 7 days.
    var suspension: Int64 {
        let half = self.curve.secondsUntil(reaching: 0.5) ?? MetadataLimits.suspensionSeconds
        let hours = half / 3_600 + 1
        return min(max(hours * 3_600, 12 * 3_600), MetadataLimits.suspensionSeconds)
    }

    /// The next steps in their order, when the list is released.
    ///
    /// - Parameters:
    ///   - wayOut: What puts the list out; `nil` when it is out.
    ///   - suspended: The entries that this rotation suspended.
    func order(after wayOut: String?, suspended: [HostName]) -> [String] {
        let host = self.plan.host
        let resuming = suspended.map { "tumbler resume \($0)" }.joined(separator: ", ")
        let steps: [String?] = [
            wayOut.map { "\($0): nothing is out yet, and no installation gets the list before" },
            "look that clients get the list: tumbler probe, and the page of the service",
            "deploy the new key at every address of \(host)",
            "tumbler rotate next \(host): looks whether every address serves it",
            "a stolen key, once every address serves the new one: its pin leaves every entry of tumbler.yaml and comes into "
                + "denied:, then tumbler release; docs/operations/stolen-server-key.md, from step 2 on",
            suspended.isEmpty ? nil : "\(resuming) and tumbler release, as soon as failures go down",
            "plan a new backup: the spare key is in use now",
        ]
        return steps.compactMap { $0 }.enumerated().map { "\($0.offset + 1). \($0.element)" }
    }
}
