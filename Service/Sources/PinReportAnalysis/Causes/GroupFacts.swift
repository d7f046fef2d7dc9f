// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The facts about a group of reports from which its cause is named. Counted by the service, but claimed by senders.
public struct GroupFacts: Hashable, Sendable {
    /// The group.
    package let group: ReportGroup
    /// The number of reports.
    package let count: Int64
    /// The times of the first and the last of them, by the service's clock.
    package let seen: ClosedRange<Timestamp>
    /// The number of networks on the day with the most; `nil` where that was not measured.
    public var networks: BoundedCount?
    /// The number of different leaves.
    public var leaves = BoundedCount(0)
    /// The validity of the newest leaf.
    public var leafValidity: ClosedRange<Timestamp>?
    /// Whether the senders' platforms had validated the chain: then the root is one that the devices trust.
    package var isChainValidated = false
    /// Whether the issuer is a certificate authority of the public web: by the pin of its root in a store, where the
    /// caller has one; else ``SeenIssuer/isNamedAsPublic``, which goes by the name. `nil` where there is no issuer.
    public var issuerIsPublicCA: Bool?
    /// The observation of the operator's last probe of the host; `nil` where there was none.
    package var probed: ProbedKeys?
    /// The newest version of the list when the last report came.
    package var newestListVersion: Int64?
    /// Whether the newest version of the list has a pin that the reported chain satisfies.
    package var newestListAllows: Bool?
    /// The number of seconds by which the senders' clocks are ahead of the service's, the median of them; negative when
    /// behind.
    public var clockSkew: Int64?
    /// The signals that the apps noticed of their surroundings.
    public var signals: Set<String> = []
    /// Other hosts for which the same issuer was reported.
    package var otherHosts: Set<String> = []
    /// The percentage of the reports of this host and reason that come from this version of the app.
    package var appVersionPercent: Int?

    /// States what there always is.
    public init(group: ReportGroup, count: Int64, seen: ClosedRange<Timestamp>) {
        self.group = group
        self.count = count
        self.seen = seen
    }

    /// The product that the issuer's name names.
    package var interceptor: KnownInterceptor? { KnownInterceptor.named(in: self.group.issuer) }

    /// Whether a newer list is out than the one that was reported.
    var isListOld: Bool {
        guard let reported = self.group.listVersion, let newest = self.newestListVersion else { return false }
        return reported < newest
    }
}
