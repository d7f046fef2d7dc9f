// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The length of the line of those who were turned away, in one number: the time at which a token will have come for
/// the last of them.
///
/// The line is imagined. No client holds a place in it, and a client that comes earlier and finds a token is served. It
/// says when to come back: with a token in a second and 1,000 clients that were turned away, the next one is told 1,001
/// seconds. So the answer grows with the overload, clients come back one after the other, and as long as no new one is
/// turned away the line gets shorter by a second in a second.
///
/// Times are nanoseconds of a clock that only goes forward, from any beginning.
struct WaitingLine: Hashable, Sendable {
    /// The maximum length of a line, in nanoseconds: three hours, to which ``RetryTime`` adds up to a third.
    static let maximum = RetryTime.maximumLine * 1_000_000_000

    /// The time at which the last one is served.
    private(set) var endsAt: Int64 = 0

    /// The time until the last one is served, in nanoseconds; 0 where there is none.
    func wait(at now: Int64) -> Int64 { max(0, self.endsAt - now) }

    /// Joins the line.
    ///
    /// - Parameters:
    ///   - tokens: The number of tokens that are needed.
    ///   - wait: In how many nanoseconds the bucket has them for who comes first.
    ///   - rate: The rate of tokens.
    ///   - now: The time.
    mutating func join(for tokens: Int64, after wait: Int64, _ rate: TokenBucket.Rate, at now: Int64) {
        let behind = self.wait(at: now) + tokens * rate.interval
        self.endsAt = now + min(self.wait(at: now) > 0 ? max(behind, wait) : wait, Self.maximum)
    }
}
