// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateTransparency

/// The policies of Certificate Transparency that the served certificates satisfy by their embedded timestamps.
extension ProbeRules {
    /// The evaluation of what is served at an address under a policy; `nil` without logs, and without a validated path.
    func evaluation(
        under policy: TransparencyRule.Policy, at host: HostName, _ observation: ProbeObservation
    ) -> TransparencyEvaluation? {
        guard let logs, case .validated(let path) = observation else { return nil }
        return TransparencyEvidence(of: path, logs: logs).evaluation(
            under: TransparencyPolicy(policy), at: self.reference)
    }

    /// The evaluation of a host under each policy: that of its worst address. Empty without logs, and where an address
    /// that was asked presents nothing that validates.
    func evaluations(of host: HostName, _ asked: [ProbeObservation]) -> [TransparencyEvaluation] {
        guard self.logs != nil, !asked.isEmpty else { return [] }
        var worst: [TransparencyEvaluation] = []
        for policy in TransparencyRule.Policy.allCases {
            let evaluated = asked.map { self.evaluation(under: policy, at: host, $0) }
            guard !evaluated.contains(nil) else { return [] }
            let all = evaluated.compactMap { $0 }
            if let one = all.first(where: { !$0.isSatisfied }) ?? all.first { worst.append(one) }
        }
        return worst
    }

    /// Notes on the evaluations, a line for each policy that the entry asks for; for all where it asks for none.
    static func notes(on evaluations: [TransparencyEvaluation], for entry: PinnedDomain?) -> [String] {
        let asked = entry?.transparency?.policy.rawValue
        return evaluations.filter { asked == nil || $0.policy == asked }.map { evaluation in
            let words = evaluation.isSatisfied ? "satisfied" : "not satisfied"
            return "Certificate Transparency: \(evaluation.policy) \(words): \(evaluation.detail)"
        }
    }
}
