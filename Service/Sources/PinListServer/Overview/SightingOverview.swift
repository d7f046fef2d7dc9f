// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateSightings

/// What monitors of Certificate Transparency found for the names of one list.
struct SightingOverview: Hashable, Sendable {
    /// The list.
    let name: String
    /// How many certificates are kept, by what they mean; those of no entry as they were counted.
    let counts: [SightingState: Int64]
    /// Certificates that apps refuse, for names that an entry enforces: those that still are valid, and of which a person
    /// has not said all. The newest first, ``most`` at most.
    let unexpected: [Unexpected]
    /// Whether there are more.
    let hasMore: Bool

    /// A certificate that apps refuse.
    struct Unexpected: Hashable, Sendable {
        /// The certificate.
        let sighting: StoredSighting
        /// From how many networks reports named its key, on the day with the most; `nil` where none did.
        let networks: Int64?

        /// Whether it was seen served: by a probe, or by as many networks as an alarm of failures needs reports.
        var isServed: Bool {
            self.sighting.servedAt != nil || self.networks.map { Double($0) >= HostRate.leastAlarming } == true
        }
    }

    /// The most unexpected certificates of a list that are looked at: each is an alarm.
    static let most = 200

    /// What there is of a list.
    static func look(_ store: StoreTransaction, _ name: String, at now: Timestamp) throws -> SightingOverview {
        let found = try store.unexpectedSightings(of: name, at: now, limit: Self.most + 1)
        return SightingOverview(
            name: name, counts: try store.sightingCounts(of: name),
            unexpected: try found.prefix(Self.most).map { sighting in
                Unexpected(sighting: sighting, networks: try store.reportingNetworks(of: sighting.key))
            }, hasMore: found.count > Self.most)
    }
}
