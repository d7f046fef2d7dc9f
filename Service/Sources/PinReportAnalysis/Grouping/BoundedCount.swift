// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A number that stops at a bound, because what is counted is remembered: `256 or more`.
public struct BoundedCount: Hashable, Sendable, CustomStringConvertible {
    /// The number that were told apart.
    package let number: Int
    /// Whether there may be more.
    package let isMore: Bool

    /// States a number.
    public init(_ number: Int, isMore: Bool = false) {
        self.number = number
        self.isMore = isMore
    }

    /// `7`, or `256 or more`.
    public var description: String { self.isMore ? "\(self.number) or more" : "\(self.number)" }
}
