// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
package import CertificateSightings

/// The sightings of monitors of Certificate Transparency for the names of one list.
package struct SightingOverview: Hashable, Sendable {
    /// The list.
    package let name: String
    /// The numbers of kept certificates, by state; those of no entry as they were counted.
    package let counts: [SightingState: Int64]
    /// The certificates that apps refuse, for names that an entry enforces: those that still are valid, and of which
    /// not all are acknowledged, ``maximum`` at most: those that a probe saw served, then those that no person has seen, of each
    /// the newest first, or, where they are too many, the newest of each token.
    package let unexpected: [Unexpected]
    /// Whether there are more.
    package let hasMore: Bool

    /// A certificate that apps refuse.
    package struct Unexpected: Hashable, Sendable {
        /// The certificate.
        package let sighting: StoredSighting
        /// The number of networks from which reports named its key, on the day with the most; `nil` where none did.
        package let networks: Int64?
        /// Whether an attested report named its key: an unmodified copy of the app saw it served.
        package let isAttested: Bool

        /// States what was found.
        package init(sighting: StoredSighting, networks: Int64?, isAttested: Bool = false) {
            self.sighting = sighting
            self.networks = networks
            self.isAttested = isAttested
        }

        /// Whether it was seen served: by a probe, by an attested installation, or by as many networks as an alarm of
        /// failures needs reports.
        var isServed: Bool {
            self.sighting.servedAt != nil || self.isAttested
                || self.networks.map { Double($0) >= HostRate.minimumAlarming } == true
        }
    }

    /// The maximum number of unexpected certificates of a list that are looked at: each is an alarm.
    package static let maximum = 200

    /// States what was found.
    package init(name: String, counts: [SightingState: Int64], unexpected: [Unexpected], hasMore: Bool) {
        self.name = name
        self.counts = counts
        self.unexpected = unexpected
        self.hasMore = hasMore
    }
}
