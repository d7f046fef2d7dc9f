// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The answer to a command: counts. What does not belong to a command is absent.
struct PopulationAnswer: Encodable, Hashable, Sendable {
    /// What was done.
    enum Deed: String, Encodable, Sendable {
        case refresh, fetch, reports
        /// The line was no command.
        case nothing
    }

    /// What was done.
    let did: Deed
    /// How many clients hold something new.
    var changed: Int?
    /// How many clients hold each version.
    var versions: [String: Int]?
    /// How many pages came, by the reason of the decision.
    var allowed: [String: Int]?
    /// How many pages pinning refused, by the reason.
    var refused: [String: Int]?
    /// What else went wrong, by its words.
    var failed: [String: Int]?
    /// How many reports the service accepted since the beginning.
    var accepted: Int?
    /// How many it did not.
    var turnedAway: Int?
}
