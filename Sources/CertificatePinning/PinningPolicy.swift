// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The rules in force: entries, deny set, revoked certificates, suspensions and the rule for unlisted hosts, indexed once.
///
/// An immutable value. Pinning only subtracts: a policy can refuse a path that was already accepted, but never accept
/// one that was not.
public struct PinningPolicy: Sendable {
    /// The list that the rules are from, or `nil` for rules made in code.
    public let list: ListIdentity?

    /// The rule for hosts that no entry covers.
    public let unlisted: UnlistedHosts

    /// The keys that are refused anywhere in a path.
    public let denied: [DeniedKey]

    /// The certificates that are refused by issuer and serial number.
    public let revoked: [RevokedCertificates]

    /// The suspensions.
    public let suspended: [Suspension]

    private let index: DomainIndex

    /// An index of ``revoked``.
    let revocations: RevocationIndex

    /// Indexes the rules. Cost is linear in their number.
    ///
    /// - Parameters:
    ///   - list: The list that the rules are from, or `nil` for rules made in code.
    ///   - domains: The entries, at most one for a domain.
    ///   - denied: The keys that are refused anywhere in a path.
    ///   - revoked: The certificates that are refused by issuer and serial number.
    ///   - suspended: The suspensions.
    ///   - unlisted: The rule for hosts that no entry covers.
    /// - Throws: ``InputError/Code/policy`` when two entries have the same domain, or an address includes subdomains.
    public init(
        list: ListIdentity? = nil,
        domains: [PinnedDomain],
        denied: [DeniedKey] = [],
        revoked: [RevokedCertificates] = [],
        suspended: [Suspension] = [],
        unlisted: UnlistedHosts = .allow
    ) throws(InputError) {
        for entry in domains where entry.domain.isAddress && entry.includeSubdomains {
            throw InputError(.policy, "\(entry.domain) is an IP address, which has no subdomains")
        }
        self.list = list
        self.unlisted = unlisted
        self.denied = denied
        self.revoked = revoked
        self.revocations = RevocationIndex(revoked)
        self.suspended = suspended
        self.index = try DomainIndex(domains)
    }

    /// A policy without entries: all hosts are unlisted.
    public init(unlisted: UnlistedHosts) {
        self.init(
            list: nil, unlisted: unlisted, denied: [], revoked: [], revocations: RevocationIndex([]), suspended: [],
            index: DomainIndex())
    }

    /// The entry that applies to a host: the exact name, else the nearest parent that includes its subdomains.
    public func entry(for host: HostName) -> PinnedDomain? { self.index.entry(for: host) }

    /// The entries, in the order in which they were given.
    package var entries: [PinnedDomain] { self.index.entries }

    /// The same rules in report-only mode: what they would have refused is allowed and reported. For a first
    /// deployment.
    public var reportingOnly: PinningPolicy {
        let revoked = self.revoked.map { entry in
            var entry = entry
            entry.isEnforced = false
            return entry
        }
        return PinningPolicy(
            list: self.list, unlisted: self.unlisted == .deny ? .report : self.unlisted,
            denied: self.denied.map { key in
                var key = key
                key.isEnforced = false
                return key
            },
            revoked: revoked, revocations: RevocationIndex(revoked),
            suspended: self.suspended,
            index: self.index.mapEntries { entry in
                if entry.mode == .enforce { entry.mode = .report }
            })
    }

    /// The same rules under another list identity. Nothing is indexed again.
    package func naming(_ list: ListIdentity?) -> PinningPolicy {
        PinningPolicy(
            list: list, unlisted: self.unlisted, denied: self.denied, revoked: self.revoked,
            revocations: self.revocations, suspended: self.suspended, index: self.index)
    }

    private init(
        list: ListIdentity?, unlisted: UnlistedHosts, denied: [DeniedKey], revoked: [RevokedCertificates],
        revocations: RevocationIndex, suspended: [Suspension], index: DomainIndex
    ) {
        self.list = list
        self.unlisted = unlisted
        self.denied = denied
        self.revoked = revoked
        self.revocations = revocations
        self.suspended = suspended
        self.index = index
    }

    /// The time when the next suspension ends: what was allowed under it may be refused from then on.
    public func nextEndOfSuspension(after time: Timestamp) -> Timestamp? {
        self.suspended.map(\.until).filter { $0 > time }.min()
    }

    /// Whether pinning is suspended for hosts with this entry at a time. The deny set and revocations are never
    /// suspended.
    func isSuspended(_ entry: PinnedDomain?, at time: Timestamp) -> Bool {
        self.suspended.contains { suspension in
            guard time < suspension.until else { return false }
            return switch suspension.scope {
            case .everything: true
            case .entry(let domain): entry?.domain == domain
            }
        }
    }
}

/// The identity of the list that a decision was made by.
public struct ListIdentity: Hashable, Sendable, Encodable {
    /// The list's name.
    public var name: String

    /// The list's version.
    public var version: Int64

    /// Whether the list had expired. It is still enforced, and the decision says so.
    public var stale: Bool

    /// Creates the identity of a list.
    public init(name: String, version: Int64, stale: Bool) {
        self.name = name
        self.version = version
        self.stale = stale
    }
}

/// An entry of the deny set: a stolen key, or a certificate, that is refused anywhere in a validated path.
public struct DeniedKey: Hashable, Sendable {
    /// The pin of the refused key or certificate.
    public var pin: Pin

    /// Whether it is refused; otherwise a path that holds it is only reported.
    public var isEnforced: Bool

    /// The publisher's note. Published, so not for secrets.
    public var note: String?

    /// Creates an entry of the deny set.
    public init(_ pin: Pin, isEnforced: Bool = true, note: String? = nil) {
        self.pin = pin
        self.isEnforced = isEnforced
        self.note = note
    }
}

/// The kill switch: pinning relaxed to the platform's default validation, for a named scope and never without an end.
/// The deny set and revocations stay in force.
public struct Suspension: Hashable, Sendable {
    /// The scope of a suspension.
    public enum Scope: Hashable, Sendable, CustomStringConvertible {
        /// Every entry, and the rule for unlisted hosts: `*`.
        case everything
        /// The entry with this noted hostname alone, not its parents, children or carve-outs.
        case entry(HostName)

        /// `*`, or the host, as lists write it (formats.md, section 3.2).
        public var description: String {
            switch self {
            case .everything: "*"
            case .entry(let host): host.description
            }
        }
    }

    /// The scope.
    public var scope: Scope

    /// The end of the suspension: it holds before this time, not at it.
    public var until: Timestamp

    /// The reason, for readers of the list.
    public var reason: String

    /// Creates a suspension.
    public init(_ scope: Scope, until: Timestamp, reason: String) {
        self.scope = scope
        self.until = until
        self.reason = reason
    }
}

/// The rule for hosts that no entry covers.
public enum UnlistedHosts: String, Hashable, Sendable, CaseIterable {
    /// The platform's default validation alone decides.
    case allow
    /// Default validation decides, and the connection is reported.
    case report
    /// The connection is blocked.
    case deny
}
