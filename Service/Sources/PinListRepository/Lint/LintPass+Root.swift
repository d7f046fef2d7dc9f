// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// Who signs, and who can verify it.
extension LintPass {
    var rootFindings: [LintFinding] {
        guard let root else { return [] }
        let subject = "root \(root.version)"
        var findings: [LintFinding] = []
        for keyID in root.pins.allKeyIDs where root.root.allKeyIDs.contains(keyID) {
            findings.append(LintFinding(.sharedKey, subject, "key \(keyID.prefix(16))…"))
        }
        for threshold in root.unreachableThresholds(verifying: self.verifiable) {
            findings.append(LintFinding(.unverifiableThreshold, subject, "\(threshold)"))
        }
        for (name, role) in [("root", root.root), ("pins", root.pins)] {
            guard let hybrid = role.hybrid else { continue }
            let unknown = root.keys(of: hybrid).filter { !MetadataKey.Algorithm.allCases.contains($0.algorithm) }
            guard let key = unknown.first else { continue }
            findings.append(
                LintFinding(.hybridNotDemanded, subject, "the role \(name), key \(key.keyID.prefix(16))…"))
        }
        for path in root.unknownMembers { findings.append(LintFinding(.unknownMember, "root: \(path)")) }
        return findings
    }
}
