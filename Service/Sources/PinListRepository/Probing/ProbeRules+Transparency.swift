// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateTransparency

/// Which policies of Certificate Transparency the certificates that are served satisfy by their embedded timestamps.
extension ProbeRules {
    /// What a policy makes of what is served at an address; `nil` without logs, and without a validated path.
    func evaluation(
        under policy: TransparencyRule.Policy, at host: HostName, _ observation: ProbeObservation
    ) -> TransparencyEvaluation? {
        guard let logs, case .validated(let path) = observation else { return nil }
        return TransparencyEvidence(of: path, logs: logs).evaluation(
            under: TransparencyPolicy(policy), at: self.reference)
    }

    /// What each policy makes of a host: as its worst address. Empty without logs, and where an address that was asked
    /// presents nothing that validates.
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

    /// What a person should know of it, a line for each policy that the entry asks for; for all where it asks for none.
    static func notes(on evaluations: [TransparencyEvaluation], for entry: PinnedDomain?) -> [String] {
        let asked = entry?.transparency?.policy.rawValue
        return evaluations.filter { asked == nil || $0.policy == asked }.map { evaluation in
            let words = evaluation.isSatisfied ? "satisfied" : "not satisfied"
            return "Certificate Transparency: \(evaluation.policy) \(words): \(evaluation.detail)"
        }
    }
}
