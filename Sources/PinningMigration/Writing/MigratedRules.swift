// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Tools) public import CertificatePinning

/// All that a list says, for writing it in another tool's form.
@_spi(Tools) public struct MigratedRules: Hashable, Sendable {
    /// The entries. One whose rollout is below 100 has ``/CertificatePinning/PinnedDomain/isInRollout`` false.
    public var domains: [PinnedDomain]
    /// The keys that are refused anywhere in a path.
    public var denied: [DeniedKey]
    /// What is suspended.
    public var suspended: [Suspension]
    /// What happens to hosts that no entry covers.
    public var unlisted: UnlistedHosts
    /// Where failures that no entry covers are reported to.
    public var reportTo: [String]
    /// Pins that were there and that this version cannot use.
    public var unusablePins = 0

    /// States rules.
    public init(
        domains: [PinnedDomain], denied: [DeniedKey] = [], suspended: [Suspension] = [],
        unlisted: UnlistedHosts = .allow, reportTo: [String] = []
    ) {
        self.domains = domains
        self.denied = denied
        self.suspended = suspended
        self.unlisted = unlisted
        self.reportTo = reportTo
    }
}
