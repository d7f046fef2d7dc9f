// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// Looks for dangerous content in a list, before it is signed.
///
/// It is a value made of all that is known; rules that need what is missing find nothing.
public struct Linter: Sendable {
    /// The list.
    public var list: PinList

    /// The time of the check.
    public var time: Timestamp

    /// The source of the list: it gives the positions, and what a list does not say.
    public var source: ListSource?

    /// The list that clients have now.
    public var published: PinList?

    /// The list that clients have now, where the project has not got it: another checkout released it.
    var unseen: PinList?

    /// The lists that installations may still hold; without them the published list alone is looked at.
    public var held: HeldLists?

    /// The signers by the source, as far as their public keys are at hand.
    public var signers: [LintSigner] = []

    /// The newest root.
    public var root: Root?

    /// The algorithms that all clients can verify, where there is no ``source`` to say it.
    public var verifiable = ListSource.defaultVerifiable

    /// The host that lists come from, where that is known otherwise than by the source's `server`.
    public var listHost: HostName?

    /// The observations of the last probe on Certificate Transparency; `nil` when there was none.
    public var probed: ProbeMemory?

    /// The paths that hosts serve now; `nil` when they were not probed.
    public var served: [ServedPath]?

    /// Begins with a list and a time.
    public init(_ list: PinList, at time: Timestamp) {
        self.list = list
        self.time = time
    }

    /// All findings: by rule, and for each in the order of the list.
    public var findings: [LintFinding] {
        let pass = LintPass(self)
        var findings = pass.pinFindings + pass.timeFindings + pass.hostFindings + pass.rootFindings
        findings += pass.transparencyFindings
        findings += pass.publicationFindings + pass.heldFindings + pass.signerFindings + pass.liveFindings
        let order = Dictionary(zip(LintRule.all, LintRule.all.indices)) { first, _ in first }
        // Sorting is stable here: the index decides between findings of one rule.
        return findings.enumerated().sorted {
            (order[$0.element.rule] ?? 0, $0.offset) < (order[$1.element.rule] ?? 0, $1.offset)
        }.map(\.element)
    }

    /// The hosts whose served chains the rules ask for: those of the entries, of the lists and of the reports, those
    /// that only older lists enforce, and those whose own entry is gone where what applies to them now may refuse.
    public var hostsToObserve: [HostName] {
        var seen = Set<HostName>()
        var hosts = self.list.domains.filter { $0.entry.mode != .off }.map(\.entry.domain) + self.serviceHosts
        let rules = self.rules
        hosts += self.olderDomains.filter { domain in
            domain.entry.mode == .enforce || rules?.mayRefuse(withoutOwnEntry: domain.entry.domain) ?? false
        }.map(\.entry.domain)
        return hosts.filter { seen.insert($0).inserted }
    }

    /// The entries of older lists: of those that installations may still hold, and of the one that clients have now.
    var olderDomains: [PinList.Domain] {
        ((self.held?.lists ?? []).map(\.list) + [self.published].compactMap { $0 }).flatMap(\.domains)
    }

    /// The entries of the list and its rule for other hosts, without suspensions and denied keys. An entry is in the
    /// rollout when any installation enforces it. `nil` for a list that no payload could hold.
    var rules: PinningPolicy? {
        let entries = self.list.domains.map { domain in
            var entry = domain.entry
            entry.isInRollout = domain.rollout > 0
            return entry
        }
        return try? PinningPolicy(domains: entries, unlisted: self.list.unlisted)
    }

    /// The hosts that lists come from.
    var listHosts: [HostName] {
        [self.listHost, self.source?.server.flatMap { WebAddress.host(of: $0.value) }].compactMap { $0 }
    }

    /// The hosts that lists come from and reports go to.
    var serviceHosts: [HostName] {
        let addresses = self.list.reportTo + self.list.domains.flatMap(\.entry.reportTo)
        var hosts = self.listHosts
        hosts += addresses.compactMap { WebAddress.host(of: $0) }
        var seen = Set<HostName>()
        return hosts.filter { seen.insert($0).inserted }
    }
}

extension PinningPolicy {
    /// Whether a host is without an entry of its own, and what applies to it may refuse: the entry of a parent, or the
    /// rule for unlisted hosts.
    fileprivate func mayRefuse(withoutOwnEntry host: HostName) -> Bool {
        guard let entry = self.entry(for: host) else { return self.unlisted == .deny }
        return entry.domain != host && entry.isEnforced
    }
}
