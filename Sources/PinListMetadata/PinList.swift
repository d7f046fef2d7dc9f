// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// A list of pins, as its publisher signed it.
///
/// Source: formats.md, section 3.2.
public struct PinList: Hashable, Sendable {
    /// An entry with the members that only a client evaluates.
    public struct Domain: Hashable, Sendable {
        /// The entry as it applies to an installation within the rollout.
        public var entry: PinnedDomain

        /// The share of installations that enforce, in percent; the others only report.
        public var rollout: Int

        /// The number of pins that this version cannot use: they match nothing.
        public var unusablePins: Int

        /// The number of installations in a million that report failures of the entry; `nil` for the list's number.
        public var reportPerMillion: Int64?

        /// Whether its demand on Certificate Transparency has a mode or a policy that this version does not know:
        /// nothing is evaluated then.
        public internal(set) var hasUnknownTransparency = false

        /// Creates an entry.
        public init(
            _ entry: PinnedDomain, rollout: Int = 100, unusablePins: Int = 0, reportPerMillion: Int64? = nil
        ) {
            self.entry = entry
            self.rollout = rollout
            self.reportPerMillion = reportPerMillion
            self.unusablePins = unusablePins
        }
    }

    /// The list's name; the same as that of its root.
    public var name: String
    /// The version; a higher one is newer.
    public var version: Int64
    /// The time of issue.
    public var issuedAt: Timestamp
    /// The time when it becomes stale.
    public var expiresAt: Timestamp
    /// The interval between refreshes in seconds, as published.
    public var refreshAfter: Int64
    /// The addresses for failures that no entry covers, and for list incidents.
    public var reportTo: [String]
    /// The number of installations in a million that report failures, within ``MetadataLimits/reportPerMillion``; an
    /// entry's own number replaces it.
    public var reportPerMillion: Int64
    /// The log list that policies of Certificate Transparency are evaluated with; `nil` for none.
    public var logs: ListedLogs?
    /// The entries, each domain once.
    public var domains: [Domain]
    /// The keys that are refused anywhere in a path.
    public var denied: [DeniedKey]
    /// The certificates that are refused by issuer and serial number, no such pair twice.
    public var revoked: [RevokedCertificates]
    /// The suspensions.
    public var suspended: [Suspension]
    /// The rule for hosts that no entry covers.
    public var unlisted: UnlistedHosts
    /// Denied pins that this version cannot use: they match nothing.
    public internal(set) var unusableDenied = 0
    /// Entries of revoked certificates whose issuer's pin is of a form that this version cannot use: they match nothing.
    public internal(set) var unusableRevoked = 0
    /// Members that this version does not know, by their paths: ignored by clients, refused by tools.
    public internal(set) var unknownMembers: [String] = []

    /// The default of ``refreshAfter``: half a day.
    public static let defaultRefreshAfter: Int64 = 43_200

    /// Creates a list without checks. Reading its ``payload`` back checks it.
    public init(
        name: String, version: Int64, issuedAt: Timestamp, expiresAt: Timestamp,
        refreshAfter: Int64 = Self.defaultRefreshAfter, reportTo: [String] = [],
        reportPerMillion: Int64 = MetadataLimits.reportPerMillion.upperBound, logs: ListedLogs? = nil,
        domains: [Domain], denied: [DeniedKey] = [], revoked: [RevokedCertificates] = [], suspended: [Suspension] = [],
        unlisted: UnlistedHosts = .allow
    ) {
        self.name = name
        self.version = version
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.refreshAfter = refreshAfter
        self.reportTo = reportTo
        self.reportPerMillion = reportPerMillion
        self.logs = logs
        self.domains = domains
        self.denied = denied
        self.revoked = revoked
        self.suspended = suspended
        self.unlisted = unlisted
    }

    /// The interval between refreshes in seconds: ``refreshAfter`` within ``MetadataLimits/refreshAfter``.
    public var refreshInterval: Int64 {
        min(max(self.refreshAfter, MetadataLimits.refreshAfter.lowerBound), MetadataLimits.refreshAfter.upperBound)
    }

    /// The number of installations in a million that report failures of an entry: its own number, or the list's.
    public func reportPerMillion(of domain: Domain) -> Int64 { domain.reportPerMillion ?? self.reportPerMillion }

    /// The pins of all entries, of the deny set and of issuers of revoked certificates, that this version cannot use.
    public var unusablePinCount: Int {
        self.domains.reduce(self.unusableDenied + self.unusableRevoked) { $0 + $1.unusablePins }
    }

    /// The entries whose demand on Certificate Transparency this version does not know.
    public var unknownTransparencyCount: Int { self.domains.count { $0.hasUnknownTransparency } }

    /// Whether an entry asks for a policy of Certificate Transparency that this version knows.
    public var asksForTransparency: Bool { self.domains.contains { $0.entry.transparency != nil } }
}
