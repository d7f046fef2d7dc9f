// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// How long an address is left alone after failures: a random part of a window that doubles ("full jitter"), so that
/// clients whose collector came back do not all come back with it.
public struct ReportBackoff: Hashable, Sendable {
    /// The most failures that are counted: the window is at its longest long before.
    static let maximumFailures = 32

    /// Failures since the last success, from 1.
    public let failures: Int

    /// When the newest one was. Later than now, it was noted by a clock that was ahead, and the backoff counts as absent
    /// (formats.md, section 6).
    public let failedAt: Timestamp

    /// Nothing is sent before.
    public let notBefore: Timestamp

    init(failures: Int, failedAt: Timestamp, notBefore: Timestamp) {
        self.failures = failures
        self.failedAt = failedAt
        self.notBefore = notBefore
    }

    /// The state after a failure.
    ///
    /// - Parameters:
    ///   - failures: How many there are now.
    ///   - now: The time.
    ///   - retryAfter: What the server asked for, in seconds; honoured up to ``ReportLimits/maximumWait``.
    ///   - random: Decides on the part of the window.
    init(failures: Int, at now: Timestamp, retryAfter: Int64?, using random: inout some RandomNumberGenerator) {
        let failures = min(max(failures, 1), Self.maximumFailures)
        let window = min(ReportLimits.firstWindow << Int64(failures - 1), ReportLimits.lastWindow)
        let part = Int64.random(in: 0...window, using: &random)
        let asked = min(max(retryAfter ?? 0, 0), ReportLimits.maximumWait)
        self.init(failures: failures, failedAt: now, notBefore: now.after(max(part, asked)))
    }

    /// When it may be tried again, as seen now. Nobody waits for longer than ``ReportLimits/maximumWait``.
    func earliest(_ now: Timestamp) -> Timestamp {
        let saysNothing = self.failedAt > now || self.notBefore > now.after(ReportLimits.maximumWait)
        return saysNothing ? now : max(now, self.notBefore)
    }
}

extension Timestamp {
    /// The time so many seconds later, or the last there is.
    func after(_ seconds: Int64) -> Timestamp {
        let (sum, isOver) = self.secondsSince1970.addingReportingOverflow(seconds)
        return Timestamp(secondsSince1970: isOver ? .max : sum)
    }
}
