// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A role: the keys that may sign, and how many of them must.
public struct Role: Hashable, Sendable {
    /// A demand: a number of distinct signatures by some keys.
    public struct Demand: Hashable, Sendable {
        /// The ids of the keys, each once.
        public var keyIDs: [String]

        /// The threshold: the number of distinct keys that must sign, at least 1 and at most all.
        public var threshold: Int

        /// Creates a demand.
        public init(keyIDs: [String], threshold: Int) {
            self.keyIDs = keyIDs
            self.threshold = threshold
        }
    }

    /// The ids of the keys, each once.
    public var keyIDs: [String]

    /// The threshold: the number of distinct keys that must sign, at least 1 and at most all.
    public var threshold: Int

    /// A second demand, on keys of other algorithms: clients that can verify all of them demand both, the others the
    /// first alone. No key is in both.
    ///
    /// Source: formats.md, section 3.1.
    public var hybrid: Demand?

    /// Creates a role.
    public init(keyIDs: [String], threshold: Int, hybrid: Demand? = nil) {
        self.keyIDs = keyIDs
        self.threshold = threshold
        self.hybrid = hybrid
    }

    /// The first demand, which every client makes.
    public var first: Demand { Demand(keyIDs: self.keyIDs, threshold: self.threshold) }
}
