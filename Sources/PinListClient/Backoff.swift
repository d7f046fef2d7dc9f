// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How long to wait after one failure, two, three …: full jitter, so that a server that comes back is not met by
/// everybody at once.
struct Backoff: Hashable, Sendable {
    /// The longest wait after the first failure, in seconds: 2 minutes.
    static let first: Int64 = 120
    /// The shortest wait, in seconds: chance must not make a loop of it.
    static let least: Int64 = 1
    /// The longest wait at all, in seconds: 4 hours.
    static let most: Int64 = 14_400

    /// How many failures there were in a row.
    var failures = 0

    /// The wait after the newest failure, in seconds.
    ///
    /// - Parameter fraction: From 0 up to 1, at random.
    func wait(fraction: Double) -> Int64 {
        var most = Self.first
        for _ in 1..<max(2, min(self.failures, 16)) where self.failures > 1 { most = min(most * 2, Self.most) }
        return max(Self.part(fraction, of: most), Self.least)
    }

    /// A part of some seconds, rounded down; all of them when the fraction is no number from 0 up to 1.
    static func part(_ fraction: Double, of seconds: Int64) -> Int64 {
        guard (0..<1).contains(fraction) else { return seconds }
        return Int64(exactly: (Double(seconds) * fraction).rounded(.down)) ?? seconds
    }
}
