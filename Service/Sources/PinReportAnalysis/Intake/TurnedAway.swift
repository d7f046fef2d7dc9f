// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The number that was turned away since there was room for all: what `Retry-After` of 503 grows with.
///
/// Everything that is full (the queue of reports, the memory for bodies) is told as a minute; what was turned away since
/// then comes back and is added, and what was taken since then is subtracted. No clock is needed: what is slow takes
/// less, and the answer grows.
package struct TurnedAway: Hashable, Sendable {
    /// The length of line that a full queue counts as, in seconds.
    static let secondsOfQueue = 60
    /// The maximum count: far more than makes the longest answer.
    private static let maximum = 1_000_000_000_000

    /// The capacity: reports, or bytes.
    let capacity: Int
    private var amount = 0

    /// Makes a line without any turned away.
    package init(of capacity: Int) { self.capacity = max(capacity, 1) }

    /// Turns something away.
    ///
    /// - Parameters:
    ///   - count: The number turned away.
    ///   - waiting: The number that waits, or is held.
    ///   - minimum: The shortest answer, in seconds.
    /// - Returns: The length of the line, in seconds: `Retry-After` before chance is added (``RetryTime``).
    package mutating func add(_ count: Int, behind waiting: Int, minimum: Int64 = 60) -> Int64 {
        self.amount = min(self.amount + max(count, 0), Self.maximum)
        let line = Int64((waiting + self.amount) * Self.secondsOfQueue / self.capacity)
        return min(max(line, minimum), RetryTime.maximumLine)
    }

    /// Subtracts what was taken.
    ///
    /// - Parameters:
    ///   - count: The number that was taken.
    ///   - waiting: The number that still waits: where nothing does, all that came back has been taken.
    package mutating func took(_ count: Int, leaving waiting: Int) {
        self.amount = waiting == 0 ? 0 : max(0, self.amount - max(count, 0))
    }
}
