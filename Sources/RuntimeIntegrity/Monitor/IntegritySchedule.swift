// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How long the monitor waits between two looks at everything.
///
/// A random time: who knows when the next look is can be gone by then.
public struct IntegritySchedule: Hashable, Sendable {
    /// The shortest wait, in nanoseconds.
    public let shortest: UInt64

    /// The longest wait, in nanoseconds.
    public let longest: UInt64

    /// From 20 seconds to 3 minutes: a whole look takes milliseconds, so that it costs less than a thousandth.
    public static let standard = Self(shortestSeconds: 20, longestSeconds: 180)

    /// Creates a schedule.
    ///
    /// - Parameters:
    ///   - shortest: Seconds; at least one.
    ///   - longest: Seconds; no less than `shortest`, and at most a day.
    public init(shortestSeconds shortest: UInt32, longestSeconds longest: UInt32) {
        let shortest = min(max(1, UInt64(shortest)), 86_400)
        self.shortest = shortest * 1_000_000_000
        self.longest = min(max(shortest, UInt64(longest)), 86_400) * 1_000_000_000
    }

    /// The next wait.
    func next(_ randomness: inout some RandomNumberGenerator) -> UInt64 {
        UInt64.random(in: self.shortest...self.longest, using: &randomness)
    }
}
