// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The answer to a command: counts. What does not belong to a command is absent.
package struct PopulationAnswer: Encodable, Hashable, Sendable {
    /// What was done.
    package enum Deed: String, Encodable, Sendable {
        case refresh, fetch, reports
        /// The line was no command.
        case nothing
    }

    /// What was done.
    package let did: Deed
    /// How many clients hold something new.
    package var changed: Int?
    /// How many clients hold each version.
    package var versions: [String: Int]?
    /// How many pages came, by the reason of the decision.
    package var allowed: [String: Int]?
    /// How many pages pinning refused, by the reason.
    package var refused: [String: Int]?
    /// What else went wrong, by its words.
    package var failed: [String: Int]?
    /// How many reports the service accepted since the beginning.
    package var accepted: Int?
    /// How many it did not.
    package var turnedAway: Int?

    /// An answer without counts.
    package init(did: Deed) { self.did = did }
}
