// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// What happens to clients that have the published list.
extension LintPass {
    var publicationFindings: [LintFinding] {
        guard let published else { return [] }
        var findings: [LintFinding] = []
        // The published list itself may be looked at.
        if self.list.version <= published.version, self.list.payload != published.payload {
            findings.append(
                LintFinding(.versionNotAbove, "list", "\(self.list.version), published is \(published.version)"))
        }
        let new = Dictionary(self.list.domains.map { ($0.entry.domain, $0) }) { first, _ in first }
        for old in published.domains {
            let host = old.entry.domain
            guard let domain = new[host], old.entry.mode == .enforce, domain.entry.mode == .enforce else { continue }
            if domain.rollout < old.rollout {
                findings.append(
                    LintFinding(
                        .rolloutLowered, "\(host)", "from \(old.rollout) to \(domain.rollout)",
                        at: self.position(of: host)))
            }
            if let detail = self.succession(from: old.entry, to: domain.entry, published) {
                findings.append(LintFinding(.propagation, "\(host)", detail, at: self.position(of: host)))
            }
        }
        return findings
    }

    /// What is wrong when pins of an entry go: those that stay must have been published for as long as clients may lag
    /// behind. The one time that is known is when the published list was issued: a pin in it has been out since then at
    /// least.
    private func succession(from old: PinnedDomain, to new: PinnedDomain, _ published: PinList) -> String? {
        let before = Set(old.pins.map(\.pin))
        let after = Set(new.pins.map(\.pin))
        let gone = before.subtracting(after)
        guard !gone.isEmpty else { return nil }
        let which = gone.map(\.description).sorted().joined(separator: ", ")
        guard !before.isDisjoint(with: after) else { return "\(which) goes, and no published pin stays" }
        let propagation = self.source?.propagation ?? ListSource.defaultPropagation
        let out = self.time.secondsSince1970 - published.issuedAt.secondsSince1970
        guard out < propagation else { return nil }
        return
            "\(which) goes; what stays was published \(SourceDuration.rough(max(0, out))) ago as far as is known, and "
            + "propagation is \(SourceDuration.text(propagation))"
    }
}
