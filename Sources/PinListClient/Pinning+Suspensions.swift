// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

extension Pinning {
    /// The maximum sleep until a suspension ends, in seconds, so that a clock that was set is noticed, and the end of a
    /// sleep of the device, in which no task sleeps on.
    private static let maximumSleep: Int64 = 60

    /// The suspensions that hold now. A connection that one of them let through has to be evaluated again when it is over.
    @_spi(Adapters)
    public nonisolated var suspensions: [Suspension] {
        let (inForce, now) = (self.policyInForce, self.now)
        let time = inForce.referenceTime(now)
        return inForce.policy(at: now).suspended.filter { time < $0.until }
    }

    /// The time when the next suspension ends; `nil` where none holds.
    @_spi(Adapters)
    public nonisolated var nextEndOfSuspension: Timestamp? {
        let (inForce, now) = (self.policyInForce, self.now)
        return inForce.policy(at: now).nextEndOfSuspension(after: inForce.referenceTime(now))
    }

    /// Waits for the end of a suspension, by the client's clock.
    ///
    /// - Returns: Whether it has come; `false` when the task was cancelled.
    @_spi(Adapters)
    public nonisolated func hasCome(_ end: Timestamp) async -> Bool {
        while !Task.isCancelled {
            let seconds = self.wait(for: end)
            guard seconds > 0 else { return true }
            guard (try? await self.sleep(seconds: seconds)) != nil else { return false }
        }
        return false
    }

    /// Waits for a moment at which the clock may have decided anew on open connections: the end of a suspension, or after a
    /// minute.
    ///
    /// - Parameter end: The next end of a suspension, as it was before the connections were evaluated; `nil` for none.
    /// - Returns: Whether it has come; `false` when the task was cancelled.
    @_spi(Adapters)
    public nonisolated func hasComeToLookAgain(at end: Timestamp?) async -> Bool {
        (try? await self.sleep(seconds: end.map { self.wait(for: $0) } ?? Double(Self.maximumSleep))) != nil
    }

    /// The seconds until a time, a minute at most; 0 where it has come.
    private nonisolated func wait(for end: Timestamp) -> Double {
        let time = self.policyInForce.referenceTime(self.now)
        let (wait, isOver) = end.secondsSince1970.subtractingReportingOverflow(time.secondsSince1970)
        return Double(isOver ? Self.maximumSleep : max(0, min(wait, Self.maximumSleep)))
    }
}

extension PinningDecision {
    /// Whether the clock has a part in an allowed connection, so that another time may bring a refusal under the same rules: a
    /// suspension and an entry end, and a log list gets too old. See also ``PolicyInForce/changesWhenStale``.
    @_spi(Adapters) public var dependsOnClock: Bool {
        self.reason == .suspended || self.reason == .domainExpired || self.entry?.transparency != nil
    }
}
