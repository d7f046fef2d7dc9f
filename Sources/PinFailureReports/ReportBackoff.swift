// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// How long an address is left alone after failures: a random part of a window that doubles ("full jitter"), so that
/// clients whose collector came back do not all come back with it.
public struct ReportBackoff: Hashable, Sendable {
    /// Failures since the last success.
    public private(set) var failures: Int

    /// Nothing is sent before.
    public private(set) var notBefore: Timestamp

    init(failures: Int, notBefore: Timestamp) {
        self.failures = failures
        self.notBefore = notBefore
    }

    /// The state after one more failure.
    ///
    /// - Parameters:
    ///   - earlier: The state before, if there was a failure before.
    ///   - now: The time.
    ///   - retryAfter: What the server asked for, in seconds; honoured up to ``ReportLimits/longestWait``.
    ///   - random: Decides on the part of the window.
    init(
        after earlier: ReportBackoff?, at now: Timestamp, retryAfter: Int64?,
        using random: inout some RandomNumberGenerator
    ) {
        let failures = min((earlier?.failures ?? 0) + 1, 32)
        let window = min(ReportLimits.firstWindow << Int64(failures - 1), ReportLimits.lastWindow)
        let part = Int64.random(in: 0...window, using: &random)
        let asked = min(max(retryAfter ?? 0, 0), ReportLimits.longestWait)
        self.init(failures: failures, notBefore: now.after(max(part, asked)))
    }

    /// When it may be tried again, as seen now. Nobody waits for longer than ``ReportLimits/longestWait``: a time beyond
    /// that was set by a clock that was ahead, and it says nothing.
    func earliest(_ now: Timestamp) -> Timestamp {
        self.notBefore > now.after(ReportLimits.longestWait) ? now : max(now, self.notBefore)
    }
}

extension Timestamp {
    /// The time so many seconds later, or the last there is.
    func after(_ seconds: Int64) -> Timestamp {
        let (sum, isOver) = self.secondsSince1970.addingReportingOverflow(seconds)
        return Timestamp(secondsSince1970: isOver ? .max : sum)
    }
}
