// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata
public import PinRotation

/// The hosts of rotations: those of a plan's entries, and those below them that are known.
///
/// An entry that includes its subdomains pins hosts that no list names. A forgotten one of them may serve the old key
/// when the entry's own host no longer does. Without the old pin its users would be locked out.
public struct RotationHosts: Sendable {
    private let published: PinningPolicy?
    private let source: PinningPolicy?

    /// Indexes the entries. Those that no policy can be made of apply to no host.
    ///
    /// - Parameters:
    ///   - published: The list that clients get; `nil` where there is none.
    ///   - source: The source; `nil` where it cannot be read.
    public init(published: PinList?, source: ListSource?) {
        self.published = published.flatMap { try? PinningPolicy(domains: $0.domains.map(\.entry)) }
        self.source = source.flatMap { try? PinningPolicy(domains: $0.domains.map(\.domain.entry)) }
    }

    /// The entry that applies to a host: that of the published list, else that of the source.
    public func entry(for host: HostName) -> PinnedDomain? {
        self.published?.entry(for: host) ?? self.source?.entry(for: host)
    }

    /// Whether a host is that of an entry of a plan, or such an entry applies to it.
    public func belongs(_ host: HostName, to plan: RotationPlan) -> Bool {
        self.isOf(Set(plan.entries), host)
    }

    private func isOf(_ entries: Set<HostName>, _ host: HostName) -> Bool {
        entries.contains(host) || self.entry(for: host).map { entries.contains($0.domain) } ?? false
    }

    /// The hosts of a plan that are known, each once: those of its entries first, then those below them.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - memory: The hosts that were seen so far.
    ///   - named: Further hosts. Those that are not of the plan are left out.
    public func known(of plan: RotationPlan, in memory: ProbeMemory, and named: [HostName] = []) -> [HostName] {
        let entries = Set(plan.entries)
        var found: Set<HostName> = []
        let below = memory.hosts(where: { self.isOf(entries, $0) }) + named.filter { self.isOf(entries, $0) }
        return (plan.entries + below).filter { found.insert($0).inserted }
    }

    /// The entries of a plan that include their subdomains, and below which no host is known.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - known: The hosts of the plan that are known.
    public func entriesWithUnknownHosts(of plan: RotationPlan, known: [HostName]) -> [HostName] {
        var covered: Set<HostName> = []
        for host in known {
            guard let domain = self.entry(for: host)?.domain, domain != host else { continue }
            covered.insert(domain)
        }
        return plan.entries.filter { !covered.contains($0) && self.includesSubdomains($0) }
    }

    /// Whether the entry of a host includes its subdomains, now or in the next list.
    private func includesSubdomains(_ host: HostName) -> Bool {
        [self.published, self.source].contains { policy in
            policy?.entry(for: host).map { $0.domain == host && $0.includeSubdomains } ?? false
        }
    }
}
