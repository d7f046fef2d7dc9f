// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// The different leaves that were seen in one group, up to a number that tells one from many.
package struct DistinctLeaves: Hashable, Sendable {
    /// The maximum number that is kept: one is a rotation, two or three are a fleet, what is over makes its own for
    /// each connection.
    package static let maximum = 16

    /// The pins of their keys, in the order in which they were first seen.
    package private(set) var pins: [Pin] = []
    /// Whether there are more than those that are kept.
    package private(set) var hasMore = false

    /// None yet.
    package init() {}

    /// The number of leaves.
    package var count: BoundedCount { BoundedCount(self.pins.count, isMore: self.hasMore) }

    /// Counts a leaf.
    ///
    /// - Returns: Whether it is new, and kept.
    package mutating func insert(_ pin: Pin) -> Bool {
        guard !self.pins.contains(pin) else { return false }
        guard self.pins.count < Self.maximum else {
            self.hasMore = true
            return false
        }
        self.pins.append(pin)
        return true
    }
}
