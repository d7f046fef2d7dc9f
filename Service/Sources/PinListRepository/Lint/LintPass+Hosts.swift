// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// What is covered, and where reports go.
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
        for path in self.list.unknownMembers { findings.append(LintFinding(.unknownMember, path)) }
        return findings
    }
}
