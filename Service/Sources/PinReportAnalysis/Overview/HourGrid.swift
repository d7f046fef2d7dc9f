// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The windows that reports are drawn in: hours, or days where there would be more hours than a plot has room for.
package struct HourGrid: Hashable, Sendable {
    /// The number of days that are drawn of everything that is kept.
    static let maximumDays: Int64 = 90

    /// The first hour of the first window, since 1970.
    package let start: Int64
    /// The hours of a window.
    package let step: Int64
    /// The number of windows.
    package let count: Int64

    /// The windows of a span.
    ///
    /// - Parameter hour: The last hour of the last window; of a window of days it is today's, which is not over.
    package init(_ span: FailureFilter.Span, until hour: Int64) {
        if let seconds = span.seconds {
            (self.step, self.count) = (1, max(1, seconds / 3_600))
            self.start = hour - self.count + 1
        } else {
            (self.step, self.count) = (24, Self.maximumDays)
            self.start = (hour / 24 - Self.maximumDays + 1) * 24
        }
    }
}
