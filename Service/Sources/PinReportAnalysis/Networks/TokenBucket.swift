// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A token bucket in one number: the time at which it will be full again (the generic cell rate algorithm).
///
/// Times are nanoseconds of a clock that only goes forward, from any beginning.
struct TokenBucket: Hashable, Sendable {
    /// The rate that is allowed.
    struct Rate: Hashable, Sendable {
        /// The maximum number of tokens: the reports that may come at once.
        let burst: Int64
        /// The time in which one token comes back, in nanoseconds.
        let interval: Int64

        /// A rate.
        ///
        /// - Parameters:
        ///   - burst: The most tokens, 1 to 1,000,000.
        ///   - perMinute: The number of tokens that come back in a minute, 1 to 60,000,000.
        init(burst: Int, perMinute: Int) {
            self.burst = Int64(min(max(burst, 1), 1_000_000))
            self.interval = 60_000_000_000 / Int64(min(max(perMinute, 1), 60_000_000))
        }
    }

    /// The time at which it is full again; full when that has passed.
    private(set) var fullAt: Int64 = 0

    /// Whether no token is missing.
    func isFull(at now: Int64) -> Bool { self.fullAt <= now }

    /// Whether more was taken than it holds.
    func isOverdrawn(_ rate: Rate, at now: Int64) -> Bool { self.wait(rate, for: 0, at: now) > 0 }

    /// The time until there are so many tokens, in nanoseconds; 0 when they are there. Where more are asked for than it
    /// holds, the time until it is full.
    func wait(_ rate: Rate, for tokens: Int64 = 1, at now: Int64) -> Int64 {
        max(0, max(self.fullAt, now) - now - (rate.burst - min(tokens, rate.burst)) * rate.interval)
    }

    /// Takes tokens. What is not there is owed: no token comes before it is paid back.
    mutating func take(_ rate: Rate, _ tokens: Int64 = 1, at now: Int64) {
        self.fullAt = max(self.fullAt, now) + tokens * rate.interval
    }
}
