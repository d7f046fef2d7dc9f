// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The backoff of an address after failures: a random part of a window that doubles ("full jitter"), so that clients do
/// not all return at once when their collector does.
package struct ReportBackoff: Hashable, Sendable {
    /// The maximum number of failures that is counted: the window reaches its maximum long before.
    static let maximumFailures = 32

    /// Failures since the last success, from 1.
    let failures: Int

    /// The time of the newest failure. A time later than now was noted by a clock that was ahead, and the backoff
    /// counts as absent (formats.md, section 6).
    let failedAt: Timestamp

    /// The time before which nothing is sent.
    let notBefore: Timestamp

    init(failures: Int, failedAt: Timestamp, notBefore: Timestamp) {
        self.failures = failures
        self.failedAt = failedAt
        self.notBefore = notBefore
    }

    /// The state after a failure.
    ///
    /// - Parameters:
    ///   - failures: The number of failures so far.
    ///   - now: The time.
    ///   - retryAfter: The seconds of `Retry-After`; honoured up to ``ReportLimits/maximumWait``.
    ///   - random: The source of the random part of the window.
    init(failures: Int, at now: Timestamp, retryAfter: Int64?, using random: inout some RandomNumberGenerator) {
        let failures = min(max(failures, 1), Self.maximumFailures)
        let part = Int64.random(in: 0...Self.window(afterFailures: failures), using: &random)
        let asked = min(max(retryAfter ?? 0, 0), ReportLimits.maximumWait)
        self.init(failures: failures, failedAt: now, notBefore: now.after(max(part, asked)))
    }

    /// The state while an attempt lasts: as after a failure at its end.
    init(failures: Int, at now: Timestamp, lasting seconds: Int64, using random: inout some RandomNumberGenerator) {
        let failed = Self(failures: failures, at: now.after(seconds), retryAfter: nil, using: &random)
        self.init(failures: failed.failures, failedAt: now, notBefore: failed.notBefore)
    }

    /// The window of a wait after some failures in a row, which doubles with each, in seconds: of reports, and of a
    /// client's refreshes.
    package static func window(afterFailures failures: Int) -> Int64 {
        let doublings = Int64(min(max(failures, 1), Self.maximumFailures) - 1)
        return min(ReportLimits.firstWindow << doublings, ReportLimits.lastWindow)
    }

    /// The time of the next attempt, as seen now. No wait is longer than ``ReportLimits/maximumWait``.
    func earliest(_ now: Timestamp) -> Timestamp {
        let saysNothing = self.failedAt > now || self.notBefore > now.after(ReportLimits.maximumWait)
        return saysNothing ? now : max(now, self.notBefore)
    }
}

extension Timestamp {
    /// The time a number of seconds later, at most the last `Timestamp`.
    func after(_ seconds: Int64) -> Timestamp {
        let (sum, isOver) = self.secondsSince1970.addingReportingOverflow(seconds)
        return Timestamp(secondsSince1970: isOver ? .max : sum)
    }
}
