// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateSightings
internal import PinListMetadata
internal import PinListStore

/// Evaluates the certificates that were found in logs anew, when another list is served or an entry of it has ended.
extension ServiceParts {
    /// The maximum number of sightings that are evaluated in one transaction, so that other writers wait only briefly.
    private static let maximumEvaluated = 500
    /// The maximum number of transactions for a name; the next look, of the alarms, goes on.
    private static let maximumRounds = 40

    /// Evaluates those that were evaluated by another edition of the list.
    ///
    /// - Parameter begin: The closure that is called before each call of the store.
    func evaluateSightings(_ begin: () -> Void = {}) async throws {
        let now = self.clock.now
        for (name, served) in self.lists.names {
            guard let held = served.published.list else { continue }
            let edition = SightingRules.edition(of: held.list, held.digest, at: now)
            begin()
            guard try await self.store.read({ try $0.hasSightingsToEvaluate(of: name, by: edition) }) else { continue }
            let rules = SightingRules(held.list)
            for _ in 0..<Self.maximumRounds {
                begin()
                let count = try await self.store.write { store in
                    try store.evaluateSightings(of: name, by: rules, of: edition, at: now, limit: Self.maximumEvaluated)
                }
                guard count > 0 else { break }
            }
        }
    }
}
