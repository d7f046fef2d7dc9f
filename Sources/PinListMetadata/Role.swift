// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Which keys may sign something, and how many of them must.
public struct Role: Hashable, Sendable {
    /// So many of some keys.
    public struct Demand: Hashable, Sendable {
        /// The ids of the keys, each once.
        public var keyIDs: [String]

        /// How many distinct keys must sign; at least 1, at most as many as there are.
        public var threshold: Int

        /// Creates a demand.
        public init(keyIDs: [String], threshold: Int) {
            self.keyIDs = keyIDs
            self.threshold = threshold
        }
    }

    /// The ids of the keys, each once.
    public var keyIDs: [String]

    /// How many distinct keys must sign; at least 1, at most as many as there are.
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

    /// The first demand, which is everybody's.
    public var first: Demand { Demand(keyIDs: self.keyIDs, threshold: self.threshold) }
}
