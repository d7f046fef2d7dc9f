// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateTransparency
internal import PinListMetadata

/// Findings about a list's demands on Certificate Transparency.
extension LintPass {
    var transparencyFindings: [LintFinding] {
        var findings: [LintFinding] = []
        let logs = self.source?.logs
        for trap in logs?.logs.traps ?? [] {
            findings.append(LintFinding(.trapLog, "logs", "\(trap)", at: logs?.position))
        }
        if let logs, logs.logs.isStale(at: self.time) {
            let made = logs.logs.timestamp.map { "of \($0)" } ?? "without log_list_timestamp"
            findings.append(LintFinding(.logsStale, "logs", made, at: logs.position))
        }
        let observed = self.observedWithoutOwnEntry
        for domain in self.list.domains {
            let host = domain.entry.domain
            if domain.hasUnknownTransparency {
                findings.append(LintFinding(.unknownTransparency, "\(host)", at: self.position(of: host)))
            }
            guard let rule = domain.entry.transparency else { continue }
            if self.list.logs == nil {
                findings.append(LintFinding(.transparencyWithoutLogs, "\(host)", at: self.position(of: host)))
            }
            guard rule.mode == .enforce, domain.entry.mode == .enforce,
                let detail = self.unseen(rule.policy, host, and: observed[host] ?? [])
            else { continue }
            findings.append(LintFinding(.unseenTransparency, "\(host)", detail, at: self.position(of: host)))
        }
        return findings
    }

    /// The hosts whose own entry is gone and that were probed now, by the domain of the entry that applies to them.
    private var observedWithoutOwnEntry: [HostName: [HostName]] {
        var hosts: [HostName: [HostName]] = [:]
        for host in self.hostsWithoutOwnEntry.sorted(by: { $0.description < $1.description })
        where self.paths[host] != nil {
            guard let entry = self.entries?.entry(for: host) else { continue }
            hosts[entry.domain, default: []].append(host)
        }
        return hosts
    }

    /// Returns why it is not known that the policy is satisfied at every host of an entry that was probed; `nil` where
    /// it is. A probe of now outweighs an earlier one, and an earlier one counts for the log list that it looked with.
    ///
    /// - Parameters:
    ///   - policy: The policy.
    ///   - domain: The domain of the entry.
    ///   - observed: Hosts below it that were probed now, whose own entry is gone.
    private func unseen(_ policy: TransparencyRule.Policy, _ domain: HostName, and observed: [HostName]) -> String? {
        var hosts = self.probed?.hosts(below: domain) { host in self.entries?.entry(for: host)?.domain == domain } ?? []
        hosts.removeAll { $0 == domain }
        for host in [domain] + hosts + observed {
            if let path = self.paths[host], let logs = self.source?.logs?.logs {
                let evaluation = TransparencyEvidence(of: path, logs: logs)
                    .evaluation(under: TransparencyPolicy(policy), at: self.time)
                guard evaluation.isSatisfied else { return "\(host), \(policy.rawValue): \(evaluation.detail)" }
                continue
            }
            guard let satisfied = self.probed?.satisfiedPolicies(at: host, with: self.list.logs) else {
                let isKnown = self.probed?.hosts[host.description] != nil
                return "\(host), \(policy.rawValue): no probe looked\(isKnown ? " with this log list" : "")"
            }
            guard satisfied.contains(policy) else {
                return "\(host), \(policy.rawValue): not satisfied when it was last probed"
            }
        }
        return nil
    }
}
