// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// When a mismatch may ask for a refresh: after a random wait, at most once in five minutes, and from the third in a
/// row that brought no new list, by the backoff (formats.md, section 4).
struct MismatchRefreshThrottle: Hashable, Sendable {
    /// The longest random wait, in seconds.
    static let spread = 10.0
    /// The shortest time between two refreshes for a mismatch, in seconds.
    static let interval: Int64 = 300
    /// How many refreshes in a row may bring no new list before the backoff begins.
    static let freeRefreshes = 2

    private var last: Timestamp?
    private var inRow = 0
    private var pause: RefreshState.Pause?

    /// Says whether a refresh may begin, and notes that it does.
    ///
    /// - Parameter fraction: From 0 up to 1, at random.
    /// - Returns: How long to wait before it, in seconds; `nil` when there is to be none.
    mutating func wait(at now: Timestamp, fraction: Double) -> Double? {
        if let last = self.last, last <= now, now.secondsSince1970 - last.secondsSince1970 < Self.interval {
            return nil
        }
        if let pause = self.pause, pause.secondsLeft(at: now) > 0 { return nil }
        self.last = now
        self.inRow += 1
        if self.inRow >= Self.freeRefreshes {
            let wait = Backoff(failures: self.inRow - Self.freeRefreshes + 1).wait(fraction: fraction)
            self.pause = RefreshState.Pause(from: now, seconds: wait)
        }
        return Self.spread * fraction
    }

    /// A newer list ends the row.
    mutating func listCameIntoForce() {
        self.inRow = 0
        self.pause = nil
    }
}
