// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListDifference
internal import PinListMetadata

/// How long things hold: the list, the root, entries and suspensions.
extension LintPass {
    /// The longest that a list should hold, in seconds: 90 days.
    private static let longestValidity: Int64 = 90 * 86_400

    /// How long before its end a root should be replaced, in seconds: 180 days, since apps must ship the next one.
    private static let rootNotice: Int64 = 180 * 86_400

    /// The longest that a suspension should hold, in seconds: a day.
    private static let longestSuspension: Int64 = 86_400

    var timeFindings: [LintFinding] {
        var findings: [LintFinding] = []
        let validity = self.list.expiresAt.secondsSince1970 - self.list.issuedAt.secondsSince1970
        if validity > Self.longestValidity {
            findings.append(LintFinding(.validTooLong, "list", SourceDuration.rough(validity)))
        }
        if validity < self.list.refreshInterval {
            findings.append(LintFinding(.validShorterThanRefresh, "list", SourceDuration.text(validity)))
        }
        if self.list.refreshAfter != self.list.refreshInterval {
            findings.append(LintFinding(.refreshClamped, "list", SourceDuration.text(self.list.refreshAfter)))
        }
        if let root {
            let left = root.expiresAt.secondsSince1970 - self.time.secondsSince1970
            if left <= 0 {
                findings.append(LintFinding(.rootExpired, "root \(root.version)", "at \(root.expiresAt)"))
            } else if left < Self.rootNotice {
                findings.append(LintFinding(.rootExpiresSoon, "root \(root.version)", "at \(root.expiresAt)"))
            }
        }
        for domain in self.list.domains {
            guard let expiresAt = domain.entry.expiresAt else { continue }
            let host = domain.entry.domain
            findings.append(LintFinding(.domainExpiry, "\(host)", "at \(expiresAt)", at: self.position(of: host)))
        }
        return findings + self.suspensionFindings
    }

    private var suspensionFindings: [LintFinding] {
        // Those of the source with their places, the ended ones among them; else those of the list.
        let suspensions: [(Suspension, SourcePosition?)] =
            self.source.map { $0.suspended.map { ($0.value, $0.position) } } ?? self.list.suspended.map { ($0, nil) }
        let hosts = Set(self.list.domains.map(\.entry.domain))
        var findings: [LintFinding] = []
        for (suspension, position) in suspensions {
            let seconds = suspension.until.secondsSince1970 - self.time.secondsSince1970
            let name = suspension.scope.text
            if seconds > Self.longestSuspension {
                findings.append(LintFinding(.suspensionOverADay, name, "until \(suspension.until)", at: position))
            }
            if seconds <= 0 {
                findings.append(LintFinding(.suspensionEnded, name, "at \(suspension.until)", at: position))
            } else if case .entry(let host) = suspension.scope, !hosts.contains(host) {
                findings.append(LintFinding(.suspensionOfNothing, name, at: position))
            }
        }
        return findings
    }
}
