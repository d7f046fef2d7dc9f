// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// Findings from what hosts serve.
extension LintPass {
    var liveFindings: [LintFinding] {
        guard let served else { return [] }
        var findings: [LintFinding] = []
        let denied = Set(self.list.denied.filter(\.isEnforced).map(\.pin))
        // Only what revokes decides: no entry, and every host is allowed.
        let revoking = try? PinningPolicy(domains: [], revoked: self.list.revoked.filter(\.isEnforced))
        for observation in served {
            let host = observation.host
            guard let path = observation.path else {
                findings.append(
                    LintFinding(.notObserved, "\(host)", observation.failure, at: self.position(of: host)))
                continue
            }
            if let key = path.publicKeyPins.compactMap({ $0 }).first(where: { denied.contains($0) }) {
                findings.append(LintFinding(.deniedKeyServed, "\(host)", "\(key)", at: self.position(of: host)))
            }
            if let decision = revoking?.validate(path, for: host.description, at: self.time), decision.verdict == .block
            {
                let what = decision.revoked.map { "serial number \($0.serial)" } ?? "a certificate cannot be read"
                findings.append(LintFinding(.revokedServed, "\(host)", what, at: self.position(of: host)))
            }
            guard let entry = self.entries?.entry(for: host), entry.domain == host else {
                findings += self.findings(withoutOwnEntry: host, path)
                continue
            }
            findings += self.findings(for: entry, path)
            findings += self.otherEntries(observation, entry)
        }
        return findings + self.sharedFates(served)
    }

    /// Hosts of lists that serve the key of a pinned host, and so its certificate or one that goes with it.
    private func sharedFates(_ served: [ServedPath]) -> [LintFinding] {
        func key(_ path: ServedPath) -> Pin? { path.path?.publicKeyPins.first ?? nil }
        let pinned = served.filter { path in
            self.entries?.entry(for: path.host).map { $0.domain == path.host && $0.mode != .off } ?? false
        }
        return served.filter { self.listHosts.contains($0.host) }.flatMap { list in
            pinned.filter { $0.host != list.host && key($0) != nil && key($0) == key(list) }.map { other in
                LintFinding(
                    .listHostSharesFate, "\(list.host)", "its key is that of \(other.host)",
                    at: self.position(of: other.host))
            }
        }
    }

    private func findings(for entry: PinnedDomain, _ path: ValidatedPath) -> [LintFinding] {
        let host = entry.domain
        let position = self.position(of: host)
        guard entry.mode != .off else { return [] }
        guard Self.matches(entry, path) else {
            return entry.mode == .enforce
                ? [LintFinding(.wouldCutOff, "\(host)", "serves \(Self.leaf(path))", at: position)] : []
        }
        var findings: [LintFinding] = []
        for (index, known) in entry.pins.enumerated() where path.indices(matching: known).contains(path.anchorIndex) {
            // A certificate file has said it already.
            let source = self.sourceDomains[host]?.pins
            if let source, source.indices.contains(index), source[index].isAnchor { continue }
            findings.append(
                LintFinding(.rootCAPinned, "\(host)", "\(known.pin)", at: self.position(of: host, pin: index)))
        }
        if entry.mode == .enforce, Set(entry.pins.map(\.pin)).count > 1,
            entry.pins.allSatisfy({ !path.indices(matching: $0).isEmpty })
        {
            findings.append(LintFinding(.pinsInOneChain, "\(host)", at: position))
        }
        return findings
    }

    /// Findings about a host whose own entry is gone: the entry that applies to it now, or the rule for unlisted hosts,
    /// may refuse what it serves. Suspensions are left out: they end.
    private func findings(withoutOwnEntry host: HostName, _ path: ValidatedPath) -> [LintFinding] {
        // No pin ever applies to a host that only lists come from or reports go to.
        guard self.hostsWithoutOwnEntry.contains(host), let entries = self.entries else { return [] }
        let serves = "serves \(Self.leaf(path))"
        guard let entry = entries.entry(for: host) else {
            let detail = "\(serves), and no entry covers it: unlisted is deny"
            return entries.unlisted == .deny ? [LintFinding(.wouldCutOff, "\(host)", detail)] : []
        }
        guard entry.isEnforced, !Self.matches(entry, path) else { return [] }
        let detail = "\(serves), and the entry \(entry.domain) applies to it"
        return [LintFinding(.wouldCutOff, "\(host)", detail, at: self.position(of: entry.domain))]
    }

    /// Entries whose hosts the certificate is for as well, and whose pins the path does not satisfy.
    private func otherEntries(_ observation: ServedPath, _ entry: PinnedDomain) -> [LintFinding] {
        guard let path = observation.path else { return [] }
        var seen: Set<HostName> = [entry.domain]
        var findings: [LintFinding] = []
        for name in observation.names {
            for host in self.hosts(of: name) {
                guard let other = self.entries?.entry(for: host), other.mode == .enforce,
                    seen.insert(other.domain).inserted, !Self.matches(other, path)
                else { continue }
                findings.append(
                    LintFinding(
                        .certificateNamesOtherEntry, "\(observation.host)",
                        "it names \(name), for the entry \(other.domain)", at: self.position(of: entry.domain)))
            }
        }
        return findings
    }

    /// The hosts that a name of a certificate may stand for. Of those that a wildcard covers: the entries' own, and one
    /// that stands for all others.
    private func hosts(of name: String) -> [HostName] {
        guard name.hasPrefix("*.") else { return (try? HostName(name)).map { [$0] } ?? [] }
        let others = (try? HostName("_\(name.dropFirst(1))")).map { [$0] } ?? []
        return (self.hostsBelow[name.dropFirst(2)] ?? []) + others
    }

    /// Whether a path satisfies an entry, decided by what decides in clients. An entry's own expiry does not matter.
    static func matches(_ entry: PinnedDomain, _ path: ValidatedPath) -> Bool {
        var entry = entry
        entry.expiresAt = nil
        entry.isInRollout = true
        entry.mode = .enforce
        guard let policy = try? PinningPolicy(domains: [entry]) else { return false }
        let decision = policy.validate(
            path, for: entry.domain.description, at: Timestamp(secondsSince1970: 0))
        return decision.verdict == .allow
    }

    private static func leaf(_ path: ValidatedPath) -> String {
        path.publicKeyPins.first.flatMap { $0 }.map(\.description) ?? "a certificate that cannot be read"
    }
}

extension ValidatedPath {
    /// The index of the anchor; that of a leaf that is its own anchor is none.
    fileprivate var anchorIndex: Int { self.certificates.count > 1 ? self.certificates.count - 1 : -1 }
}
