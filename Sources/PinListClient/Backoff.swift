// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How long to wait after one failure, two, three …: full jitter, so that a server that comes back is not met by
/// everybody at once.
struct Backoff: Hashable, Sendable {
    /// The longest wait after the first failure, in seconds: 2 minutes.
    static let first = 120.0
    /// The shortest wait, in seconds: chance must not make a loop of it.
    static let least = 1.0
    /// The longest wait at all, in seconds: 4 hours.
    static let most = 14_400.0
    /// The longest wait that a server may ask for with `Retry-After`, in seconds: a day.
    static let mostAsked = 86_400.0

    /// How many failures there were in a row.
    var failures = 0

    /// The wait after the newest failure.
    ///
    /// - Parameters:
    ///   - fraction: From 0 up to 1, at random.
    ///   - retryAfter: What the server asked for, in seconds.
    func wait(fraction: Double, retryAfter: Double? = nil) -> Double {
        var most = Self.first
        for _ in 1..<max(2, min(self.failures, 16)) where self.failures > 1 { most = min(most * 2, Self.most) }
        return max(most * fraction, Self.least, min(retryAfter ?? 0, Self.mostAsked))
    }
}
