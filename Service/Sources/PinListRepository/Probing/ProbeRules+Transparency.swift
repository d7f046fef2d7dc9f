// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateTransparency

/// The policies of Certificate Transparency that the served certificates satisfy by their embedded timestamps.
extension ProbeRules {
    /// The evaluation of what is served at an address under a policy, with the log list of the list; `nil` without one,
    /// and without a validated path.
    func evaluation(under policy: TransparencyRule.Policy, _ observation: ProbeObservation) -> TransparencyEvaluation? {
        self.logs.flatMap { self.evaluation(under: policy, observation, with: $0.current) }
    }

    /// Evaluates what the addresses of a host present under each policy, says it, and keeps which are satisfied.
    ///
    /// - Parameters:
    ///   - host: The host, as it was found otherwise.
    ///   - asked: The observations of the addresses that were asked.
    ///   - isComplete: Whether these are all addresses: one that was not reached may present another certificate.
    ///   - memory: The observations of probes, this one among them.
    func addTransparency(
        to host: inout ProbedHost, _ asked: [ProbeObservation], isComplete: Bool, _ memory: inout ProbeMemory
    ) {
        guard let logs else { return }
        let evaluations = self.evaluations(of: asked, with: logs.current)
        host.transparency = evaluations
        host.notes += Self.notes(on: evaluations, for: host.entry)
        guard !evaluations.isEmpty else { return }
        var satisfied = [logs.current.digest: Self.satisfied(in: evaluations)]
        if let next = logs.next {
            let evaluations = self.evaluations(of: asked, with: next)
            host.notes += Self.notes(onNext: evaluations, for: host.entry)
            satisfied[next.digest] = Self.satisfied(in: evaluations)
        }
        memory.keep(satisfied: isComplete ? satisfied : nil, at: host.host)
    }

    private func evaluation(
        under policy: TransparencyRule.Policy, _ observation: ProbeObservation, with logs: IdentifiedLogs
    ) -> TransparencyEvaluation? {
        guard case .validated(let path) = observation else { return nil }
        return TransparencyEvidence(of: path, logs: logs.logs).evaluation(
            under: TransparencyPolicy(policy), at: self.reference)
    }

    /// The evaluation of a host under each policy: that of its worst address. Empty where an address that was asked
    /// presents nothing that validates.
    private func evaluations(of asked: [ProbeObservation], with logs: IdentifiedLogs) -> [TransparencyEvaluation] {
        guard !asked.isEmpty else { return [] }
        var worst: [TransparencyEvaluation] = []
        for policy in TransparencyRule.Policy.allCases {
            let evaluated = asked.map { self.evaluation(under: policy, $0, with: logs) }
            guard !evaluated.contains(nil) else { return [] }
            let all = evaluated.compactMap { $0 }
            if let one = all.first(where: { !$0.isSatisfied }) ?? all.first { worst.append(one) }
        }
        return worst
    }

    private static func satisfied(in evaluations: [TransparencyEvaluation]) -> Set<TransparencyRule.Policy> {
        Set(evaluations.filter(\.isSatisfied).compactMap { TransparencyRule.Policy(rawValue: $0.policy) })
    }

    /// Notes on evaluations, a line for each policy that the entry asks for; for all where it asks for none.
    private static func notes(on evaluations: [TransparencyEvaluation], for entry: PinnedDomain?) -> [String] {
        let asked = entry?.transparency?.policy.rawValue
        return evaluations.filter { asked == nil || $0.policy == asked }.map { evaluation in
            let words = evaluation.isSatisfied ? "satisfied" : "not satisfied"
            return "Certificate Transparency: \(evaluation.policy) \(words): \(evaluation.detail)"
        }
    }

    /// A note on evaluations with the log list of the next list, where the policy that the entry asks for is not
    /// satisfied.
    private static func notes(onNext evaluations: [TransparencyEvaluation], for entry: PinnedDomain?) -> [String] {
        guard let asked = entry?.transparency?.policy.rawValue else { return [] }
        return evaluations.filter { $0.policy == asked && !$0.isSatisfied }.map { evaluation in
            "Certificate Transparency: with the log list that \(ProjectFolder.sourceName) names, \(asked) would not be "
                + "satisfied: \(evaluation.detail)"
        }
    }
}
