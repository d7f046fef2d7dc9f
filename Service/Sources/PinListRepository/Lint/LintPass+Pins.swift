// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// Findings about the pins of an entry that need no connection.
extension LintPass {
    var pinFindings: [LintFinding] {
        var findings: [LintFinding] = []
        let denied = Set(self.list.denied.filter(\.isEnforced).map(\.pin))
        for domain in self.list.domains where domain.entry.mode != .off {
            let entry = domain.entry
            let source = self.sourceDomains[entry.domain]
            let host = "\(entry.domain)"
            func place(_ index: Int) -> SourcePosition? { self.position(of: entry.domain, pin: index) }

            if entry.mode == .enforce, Self.hasNoBackup(entry) {
                findings.append(LintFinding(.noBackupPin, host, at: source?.position))
            }
            var seen = Set<Pin>()
            for (index, known) in entry.pins.enumerated() {
                if !seen.insert(known.pin).inserted {
                    findings.append(LintFinding(.backupEqualsPrimary, host, "\(known.pin)", at: place(index)))
                }
                if known.pin.kind == .certificate {
                    findings.append(LintFinding(.certificatePin, host, "\(known.pin)", at: place(index)))
                }
                if denied.contains(known.pin) {
                    findings.append(LintFinding(.deniedKeyPinned, host, "\(known.pin)", at: place(index)))
                }
                if let source, source.pins.indices.contains(index), source.pins[index].isAnchor {
                    findings.append(LintFinding(.rootCAPinned, host, "\(known.pin)", at: place(index)))
                }
            }
            if domain.unusablePins > 0 {
                findings.append(
                    LintFinding(.unusablePin, host, "\(domain.unusablePins)", at: source?.position))
            }
            if !entry.pins.isEmpty, entry.pins.indices.allSatisfy({ self.isIssuerPin(entry, $0, source) }) {
                findings.append(LintFinding(.onlyIssuerPins, host, at: source?.position))
            }
        }
        for key in self.list.denied where key.pin.kind == .certificate {
            findings.append(LintFinding(.deniedCertificate, "denied", "\(key.pin)"))
        }
        for set in self.source?.unusedPinSets ?? [] {
            findings.append(LintFinding(.unusedPinSet, "pinSets", set.value, at: set.position))
        }
        if self.list.unusablePinCount > self.list.domains.reduce(0, { $0 + $1.unusablePins }) {
            findings.append(LintFinding(.unusablePin, "denied"))
        }
        return findings
    }

    /// Whether the loss of one key locks all clients out. A duplicate pin has a rule of its own.
    private static func hasNoBackup(_ entry: PinnedDomain) -> Bool {
        let distinct = Set(entry.pins.map(\.pin))
        guard entry.pins.count == distinct.count else { return false }
        // Both positions must match there, so each needs its own way out.
        guard entry.requireIssuer else { return distinct.count < 2 }
        let leaves = entry.pins.count { $0.position == .leaf }
        return leaves < 2 || entry.pins.count - leaves < 2
    }

    /// Whether a pin can only match above the leaf: by its position, by the certificate that it was made from, or by
    /// what the host serves.
    private func isIssuerPin(_ entry: PinnedDomain, _ index: Int, _ source: SourceDomain?) -> Bool {
        let known = entry.pins[index]
        if known.position == .issuer { return true }
        guard known.position == .any else { return false }
        if let source, source.pins.indices.contains(index), source.pins[index].isAuthority { return true }
        return self.paths[entry.domain]?.indices(matching: known).contains { $0 > 0 } == true
    }
}

extension ValidatedPath {
    /// The indices of the path at which a pin matches, lowest first.
    func indices(matching known: KnownPin) -> [Int] {
        self.publicKeyPins.indices.filter { index in
            guard known.position.covers(index: index), let publicKey = self.publicKeyPins[index] else { return false }
            return switch known.pin.kind {
            case .publicKey: publicKey == known.pin
            case .certificate: Pin(kind: .certificate, hashing: self.certificates[index]) == known.pin
            }
        }
    }
}
