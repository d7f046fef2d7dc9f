// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How rarely a signal is seen in a process that nobody touches.
public struct Confidence: Hashable, Sendable, Comparable, CustomStringConvertible {
    private let rank: Int

    /// `low`, `medium` or `high`.
    public let description: String

    private init(_ rank: Int, _ description: String) {
        self.rank = rank
        self.description = description
    }

    /// Common in honest processes, too: worth a line in a report, no more.
    public static let low = Self(1, "low")
    /// Seldom in honest processes; there are known exceptions.
    public static let medium = Self(2, "medium")
    /// No honest process is known to show it, unless its operator did it himself.
    public static let high = Self(3, "high")

    /// By rank.
    public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
}
