// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A function whose first bytes are looked at.
public struct WatchedFunction: Hashable, Sendable {
    /// What it is called in evidence: a word that helps nobody to find it.
    public let name: String

    /// Where it begins.
    public let address: UInt64

    /// Creates a value.
    public init(name: String, address: UInt64) {
        self.name = name
        self.address = address
    }
}
