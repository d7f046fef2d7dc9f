// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// When a client refreshes next: once in each `refreshAfter` with jitter, by a backoff after failures, soon after a signer
/// was replaced, and after mismatches (formats.md, sections 3.3 and 4).
///
/// A value: times and random fractions in, waits out. ``Pinning`` goes by it, and so does the simulation of many clients.
@_spi(Simulation)
public struct RefreshSchedule: Hashable, Sendable {
    /// How much later than published the next refresh is, at most, as a share of the interval: installations that began
    /// together do not go on asking together.
    private static let jitter = 0.1

    /// The waits before a current list is asked for again after a signer was replaced, in seconds.
    private static let supersededWaits: [Int64] = [1, 5, 30]

    /// The longest sleep until the schedule is looked at again, in seconds: a clock that is set is noticed, and so is a
    /// list that expires.
    private static let maximumSleep: Int64 = 3_600

    /// What outlives the process.
    private(set) var stored: RefreshState
    /// How much later than published the next refresh is, in seconds; 0 until this process has refreshed once.
    private var jitterSeconds: Int64 = 0
    /// How often a current list was asked for since a signer was replaced.
    private var supersededTries = 0
    private var mismatches = MismatchRefreshThrottle()

    /// The schedule of an installation that has never refreshed.
    public init() { self.init(stored: RefreshState()) }

    /// The schedule of a process that begins with what an earlier one stored.
    init(stored: RefreshState) { self.stored = stored }

    /// The schedule after a restart of the process: what is not stored begins anew.
    public var restarted: RefreshSchedule { RefreshSchedule(stored: self.stored) }

    /// The same schedule, with what another process stored meanwhile.
    mutating func take(_ stored: RefreshState) { self.stored = stored }

    /// How long until the next refresh, in seconds; 0 when one is due.
    ///
    /// - Parameters:
    ///   - interval: What the list in force asks for: `refreshAfter` within its limits, in seconds.
    ///   - now: The time by the client's clock.
    public func wait(refreshInterval interval: Int64, at now: Timestamp) -> Int64 {
        self.stored.wait(refreshInterval: interval + self.jitterSeconds, at: now)
    }

    /// How long to sleep until the schedule is looked at again, in seconds; 0 when a refresh is due.
    ///
    /// - Parameters:
    ///   - interval: What the list in force asks for, in seconds.
    ///   - now: The time by the client's clock.
    public func sleep(refreshInterval interval: Int64, at now: Timestamp) -> Int64 {
        min(self.wait(refreshInterval: interval, at: now), Self.maximumSleep)
    }

    /// Notes a refresh after which a current list is in force, and nothing failed or was refused.
    ///
    /// - Parameters:
    ///   - interval: What the list in force asks for, in seconds.
    ///   - fraction: From 0 up to 1, at random.
    ///   - now: When the refresh began.
    public mutating func noteSuccess(refreshInterval interval: Int64, fraction: Double, at now: Timestamp) {
        self.stored.lastRefresh = now
        self.stored.backoff = Backoff()
        self.stored.pause = nil
        self.jitterSeconds = Backoff.part(Self.jitter * fraction, of: interval)
    }

    /// Notes a refresh that failed, of which something was refused, or after which a superseded list is in force.
    ///
    /// - Parameters:
    ///   - asked: How long the server asked to wait (`Retry-After`), in seconds; 0 when it did not.
    ///   - isSuperseded: Whether a superseded list is in force.
    ///   - fraction: From 0 up to 1, at random.
    ///   - now: When the refresh began.
    public mutating func noteFailure(
        retryAfter asked: Int64 = 0, isSuperseded: Bool = false, fraction: Double, at now: Timestamp
    ) {
        self.stored.backoff.failures += 1
        var wait = max(self.stored.backoff.wait(fraction: fraction), asked)
        if isSuperseded, self.supersededTries < Self.supersededWaits.count {
            wait = Self.supersededWaits[self.supersededTries]
            self.supersededTries += 1
        }
        self.stored.pause = RefreshState.Pause(from: now, seconds: wait)
    }

    /// Notes that a newer list came into force.
    public mutating func noteNewerList() {
        self.supersededTries = 0
        self.mismatches.listCameIntoForce()
    }

    /// Asks whether a mismatch may begin a refresh, and notes that it does.
    ///
    /// - Parameters:
    ///   - now: The time by the client's clock.
    ///   - fraction: From 0 up to 1, at random.
    /// - Returns: How long to wait before it, in seconds; `nil` when there is to be none.
    public mutating func waitAfterMismatch(at now: Timestamp, fraction: Double) -> Double? {
        self.mismatches.wait(at: now, fraction: fraction)
    }
}

/// How long to wait after one failure, two, three …: full jitter, so that a server that comes back is not met by
/// everybody at once.
struct Backoff: Hashable, Sendable {
    /// The longest wait after the first failure, in seconds: 2 minutes.
    static let first: Int64 = 120
    /// The shortest wait, in seconds: chance must not make a loop of it.
    static let minimum: Int64 = 1
    /// The longest wait at all, in seconds: 4 hours.
    static let maximum: Int64 = 14_400

    /// How many failures there were in a row.
    var failures = 0

    /// The wait after the newest failure, in seconds.
    ///
    /// - Parameter fraction: From 0 up to 1, at random.
    func wait(fraction: Double) -> Int64 {
        var maximum = Self.first
        for _ in 1..<max(2, min(self.failures, 16)) where self.failures > 1 { maximum = min(maximum * 2, Self.maximum) }
        return max(Self.part(fraction, of: maximum), Self.minimum)
    }

    /// A part of some seconds, rounded down; all of them when the fraction is no number from 0 up to 1.
    static func part(_ fraction: Double, of seconds: Int64) -> Int64 {
        guard (0..<1).contains(fraction) else { return seconds }
        return Int64(exactly: (Double(seconds) * fraction).rounded(.down)) ?? seconds
    }
}
