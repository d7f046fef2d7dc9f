// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinFailureReports
internal import PinListMetadata

/// The schedule of refreshes: once in each `refreshAfter` with jitter, by a backoff after failures, soon after a signer
/// was replaced, and after mismatches (formats.md, sections 3.3 and 4).
///
/// A value: times and random fractions in, waits out. ``Pinning`` and the simulation of many clients use it.
@_spi(Simulation)
public struct RefreshSchedule: Hashable, Sendable {
    /// The maximum jitter of the next refresh as a share of the interval, so that installations that began together do
    /// not stay together.
    private static let jitter = 0.1

    /// The waits before a current list is asked for again after a signer was replaced, in seconds (formats.md, section
    /// 3.3).
    private static let supersededWaits: [Int64] = [1, 5, 30]

    /// The maximum sleep between two looks at the schedule, in seconds. While the device sleeps, or the app is suspended, the time
    /// of a task's sleep stands still: a refresh that became due in a night waits for the rest of it. A changed clock and an
    /// expired list are noticed as late.
    ///
    /// A look that finds nothing due compares times, without the disk and the network, and no device wakes for it. A look at
    /// each decision would cost less, and would not come while an open connection is used on.
    private static let maximumSleep: Int64 = 60

    /// The stored state, which outlives the process.
    private(set) var stored: RefreshState
    /// The jitter of the next refresh in seconds; 0 until this process has refreshed once.
    private var jitterSeconds: Int64 = 0
    /// The number of attempts to get a current list since a signer was replaced.
    private var supersededTries = 0
    private var mismatches = MismatchRefreshThrottle()
    /// The pacing after refusals that can be repeated at will. A page chooses the hosts of a web view: what is refused all
    /// the time must not hold up the refresh after a mismatch.
    private var denials = MismatchRefreshThrottle()

    /// The schedule of an installation that has never refreshed.
    public init() { self.init(stored: RefreshState()) }

    /// The schedule of a process that begins with what an earlier one stored.
    init(stored: RefreshState) { self.stored = stored }

    /// The schedule after a restart of the process: state that is not stored is reset.
    public var restarted: RefreshSchedule { RefreshSchedule(stored: self.stored) }

    /// The same schedule with the state that another process stored meanwhile.
    mutating func take(_ stored: RefreshState) { self.stored = stored }

    /// The time until the next refresh in seconds; 0 when one is due.
    ///
    /// - Parameters:
    ///   - interval: The interval of the list in force: `refreshAfter` within its limits, in seconds.
    ///   - isSuperseded: Whether a superseded list is in force: without a pause after a refresh, one is due.
    ///   - now: The time by the client's clock.
    public func wait(refreshInterval interval: Int64, isSuperseded: Bool = false, at now: Timestamp) -> Int64 {
        self.stored.wait(refreshInterval: interval + self.jitterSeconds, isSuperseded: isSuperseded, at: now)
    }

    /// The sleep until the next look at the schedule in seconds; 0 when a refresh is due.
    ///
    /// - Parameters:
    ///   - held: The list in force; `nil` for none.
    ///   - now: The time by the client's clock.
    func sleep(under held: HeldList?, at now: Timestamp) -> Int64 {
        let wait = self.wait(
            refreshInterval: held?.list.refreshInterval ?? 0, isSuperseded: held?.status == .superseded, at: now)
        return min(wait, Self.maximumSleep)
    }

    /// Records a refresh after which a current list is in force, and nothing failed or was refused.
    ///
    /// - Parameters:
    ///   - interval: The interval of the list in force, in seconds.
    ///   - fraction: From 0 up to 1, at random.
    ///   - now: The time when the refresh began.
    public mutating func noteSuccess(refreshInterval interval: Int64, fraction: Double, at now: Timestamp) {
        self.stored.lastRefresh = now
        self.stored.backoff = Backoff()
        self.stored.pause = nil
        self.jitterSeconds = Backoff.part(Self.jitter * fraction, of: interval)
    }

    /// Records a refresh that failed, that had a refusal, or after which a superseded list is in force.
    ///
    /// - Parameters:
    ///   - asked: The wait that the server asked for (`Retry-After`), in seconds; 0 for none.
    ///   - isSuperseded: Whether a superseded list is in force.
    ///   - fraction: From 0 up to 1, at random.
    ///   - now: The time when the refresh began.
    public mutating func noteFailure(
        retryAfter asked: Int64 = 0, isSuperseded: Bool = false, fraction: Double, at now: Timestamp
    ) {
        if isSuperseded, self.supersededTries < Self.supersededWaits.count {
            // Before the backoff, so it is no step of that.
            self.stored.pause = RefreshState.Pause(from: now, seconds: Self.supersededWaits[self.supersededTries])
            self.supersededTries += 1
            return
        }
        self.stored.backoff.failures += 1
        let wait = max(self.stored.backoff.wait(fraction: fraction), asked)
        self.stored.pause = RefreshState.Pause(from: now, seconds: wait)
    }

    /// Records that a newer list came into force.
    public mutating func noteNewerList() {
        self.supersededTries = 0
        self.mismatches.listCameIntoForce()
        self.denials.listCameIntoForce()
    }

    /// Asks for a refresh after a mismatch, and records it where it may begin.
    ///
    /// - Parameters:
    ///   - now: The time by the client's clock.
    ///   - fraction: From 0 up to 1, at random.
    /// - Returns: The wait before the refresh in seconds; `nil` when there is no refresh.
    public mutating func waitAfterMismatch(at now: Timestamp, fraction: Double) -> Double? {
        self.mismatches.wait(at: now, fraction: fraction)
    }

    /// Asks for a refresh after a refusal that can be repeated at will, such as of a host that no entry covers, as after a
    /// mismatch.
    mutating func waitAfterDenial(at now: Timestamp, fraction: Double) -> Double? {
        self.denials.wait(at: now, fraction: fraction)
    }
}

/// The backoff after failures, with full jitter in the same window as that of reports, so that installations do not all return at once when the server does.
struct Backoff: Hashable, Sendable {
    /// The minimum wait in seconds, so that a random zero causes no busy loop.
    static let minimum: Int64 = 1

    /// The number of failures in a row.
    var failures = 0

    /// The wait after the newest failure, in seconds.
    ///
    /// - Parameter fraction: From 0 up to 1, at random.
    func wait(fraction: Double) -> Int64 {
        max(Self.part(fraction, of: ReportBackoff.window(afterFailures: self.failures)), Self.minimum)
    }

    /// A part of some seconds, rounded down; all of them when the fraction is not within 0 ..< 1.
    static func part(_ fraction: Double, of seconds: Int64) -> Int64 {
        guard (0..<1).contains(fraction) else { return seconds }
        return Int64(exactly: (Double(seconds) * fraction).rounded(.down)) ?? seconds
    }
}
