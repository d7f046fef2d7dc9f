// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The pacing of refreshes after mismatches: after a random wait, at most once in five minutes, and by the backoff from
/// the third in a row that brought no new list (formats.md, section 4).
struct MismatchRefreshThrottle: Hashable, Sendable {
    /// The maximum random wait, in seconds (formats.md, section 4).
    static let spread = 10.0
    /// The minimum time between two refreshes for mismatches, in seconds (formats.md, section 4).
    static let interval: Int64 = 300
    /// The number of refreshes in a row without a new list after which the backoff begins.
    static let freeRefreshes = 2

    private var last: Timestamp?
    private var inRow = 0
    private var pause: RefreshState.Pause?

    /// Asks for a refresh, and records it where it may begin.
    ///
    /// - Parameter fraction: From 0 up to 1, at random.
    /// - Returns: The wait before the refresh in seconds; `nil` when there is no refresh.
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
