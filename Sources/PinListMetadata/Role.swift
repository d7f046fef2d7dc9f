// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Which keys may sign something, and how many of them must.
public struct Role: Hashable, Sendable {
    /// The ids of the keys, each once.
    public var keyIDs: [String]

    /// How many distinct keys must sign; at least 1, at most as many as there are.
    public var threshold: Int

    /// Creates a role.
    public init(keyIDs: [String], threshold: Int) {
        self.keyIDs = keyIDs
        self.threshold = threshold
    }
}
