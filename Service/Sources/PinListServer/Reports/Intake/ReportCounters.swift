// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PinReportAnalysis

/// The counters of this instance for reports, for `/metrics`. Labels are bounded: they are never what a sender chose.
final class ReportCounters: Sendable {
    /// The numbers since the start.
    struct Numbers: Sendable {
        /// Accepted, by kind.
        var accepted: [String: Int64] = [:]
        /// Accepted, by their state of attestation.
        var states: [AttestationState: Int64] = [:]
        /// Kept as samples of what was over a limit.
        var samples: Int64 = 0
        /// Refused, by the code of the problem.
        var refused: [String: Int64] = [:]
        /// Entries of the Reporting API about something else.
        var ignored: Int64 = 0
        /// Incidents whose envelope could not be looked at: turned away, or kept without it where that lasts.
        var unexamined: Int64 = 0
    }

    private let numbers = NIOLockedValueBox(Numbers())

    /// The numbers since the start.
    var current: Numbers { self.numbers.withLockedValue { $0 } }

    func accepted(_ report: AcceptedReport) {
        self.numbers.withLockedValue { numbers in
            numbers.accepted[report.report.kind.rawValue, default: 0] += 1
            numbers.states[report.attestation.state, default: 0] += 1
            if report.isSample { numbers.samples += 1 }
        }
    }

    func refused(_ code: String) { self.numbers.withLockedValue { $0.refused[code, default: 0] += 1 } }

    func unexamined() { self.numbers.withLockedValue { $0.unexamined += 1 } }

    func ignored(_ count: Int) { self.numbers.withLockedValue { $0.ignored += Int64(count) } }
}
