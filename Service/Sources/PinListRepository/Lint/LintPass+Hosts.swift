// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// Findings about what is covered, and where reports go.
extension LintPass {
    var hostFindings: [LintFinding] {
        var findings: [LintFinding] = []
        for domain in self.list.domains {
            let host = domain.entry.domain
            guard domain.entry.mode != .off,
                PublicSuffixes.contains(host, orUnknownTopLevel: domain.entry.includeSubdomains)
            else { continue }
            findings.append(LintFinding(.publicSuffix, "\(host)", at: self.position(of: host)))
        }
        for host in self.serviceHosts {
            guard let entry = self.entries?.entry(for: host), entry.mode == .enforce else { continue }
            let position = self.position(of: entry.domain)
            findings.append(LintFinding(.listHostPinned, "\(host)", "by the entry \(entry.domain)", at: position))
        }
        if self.list.unlisted == .deny, self.list.reportTo.isEmpty {
            findings.append(LintFinding(.denyWithoutReport, "list"))
        }
        findings += self.shareFindings
        for path in self.list.unknownMembers { findings.append(LintFinding(.unknownMember, path)) }
        return findings
    }

    /// The findings for entries by which fewer than all installations report, and there is nothing to report to.
    private var shareFindings: [LintFinding] {
        let all = MetadataLimits.reportPerMillion.upperBound
        var findings: [LintFinding] = []
        if self.list.reportPerMillion < all, self.list.reportTo.isEmpty,
            self.list.domains.allSatisfy({ $0.entry.reportTo.isEmpty || $0.reportPerMillion != nil })
        {
            findings.append(LintFinding(.shareWithoutReport, "list", "\(self.list.reportPerMillion)"))
        }
        for domain in self.list.domains where domain.entry.reportTo.isEmpty && self.list.reportTo.isEmpty {
            guard let share = domain.reportPerMillion, share < all else { continue }
            let host = domain.entry.domain
            findings.append(LintFinding(.shareWithoutReport, "\(host)", "\(share)", at: self.position(of: host)))
        }
        return findings
    }
}
