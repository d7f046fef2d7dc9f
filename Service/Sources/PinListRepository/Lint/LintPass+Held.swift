// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// What installations do that do not have the newest list yet.
extension LintPass {
    var heldFindings: [LintFinding] {
        guard let held else { return [] }
        var findings: [LintFinding] = []
        if !held.isMeasured {
            if self.propagation < ListSource.defaultPropagation {
                findings.append(LintFinding(.propagationShort, "list", SourceDuration.text(self.propagation)))
            }
            for missing in held.missing { findings.append(LintFinding(.listsMissing, "list", missing)) }
        }
        guard let served, let rules = try? HeldRules(held, at: self.time) else { return findings }
        for observation in served {
            guard let path = observation.path,
                let refusal = rules.refusal(of: observation.host, .validated(path)), !refusal.isTolerated
            else { continue }
            findings.append(
                LintFinding(
                    .heldListRefuses, "\(observation.host)", refusal.text, at: self.position(of: observation.host)))
        }
        return findings
    }
}
