// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinReportAnalysis

/// A calendar month in UTC: what the audit log is sealed by.
package struct AuditPeriod: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The month in its written form: `2026-11`.
    package let description: String

    /// The month that a time lies in.
    package init(_ time: Timestamp) { self.description = String(time.description.prefix(7)) }

    /// A month as the store has it.
    ///
    /// - Throws: ``StoreError`` of code `damaged` for a text that is no month.
    package init(stored text: String) throws {
        guard let time = try? Timestamp("\(text)-01T00:00:00Z") else {
            throw StoreError(.damaged, "\(text) is not a month")
        }
        self.init(time)
    }

    /// The time at which it begins.
    private var start: Timestamp {
        (try? Timestamp("\(self.description)-01T00:00:00Z")) ?? Timestamp(secondsSince1970: .min)
    }

    /// The month after it. After that of the year 9999 no time can be written, and it is that month again.
    package var next: AuditPeriod {
        // No month has more than 31 days, and none fewer than 28.
        AuditPeriod(self.start.before(-31 * 86_400))
    }

    /// The time at which it is over: the first second of the next month.
    package var end: Timestamp { self.next.start }

    /// The earlier month comes first.
    package static func < (left: AuditPeriod, right: AuditPeriod) -> Bool { left.description < right.description }
}
