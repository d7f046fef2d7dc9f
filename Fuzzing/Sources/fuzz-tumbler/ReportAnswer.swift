// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListClient

/// The answer of a server to a report, as far as a client looks at it: the time that it asks for, under any clock.
///
/// The first eight bytes are the clock, the rest is the value of `Retry-After`.
enum ReportAnswer: FuzzTarget {
    static let name = "report-answer"

    static let seeds: [[UInt8]] = [
        "17", "nan", "-1e300", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994", "Fri, 31 Dec 9999 23:59:60 GMT",
    ].map { [UInt8](repeating: 0, count: 8) + Array($0.utf8) }

    static func check(_ bytes: [UInt8]) {
        let clock = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let now = Timestamp(secondsSince1970: Int64(bitPattern: clock))
        let field = String(decoding: bytes.dropFirst(8), as: UTF8.self)
        guard let asked = RetryAfter(field) else { return }
        let seconds = asked.seconds(at: now)
        precondition((0...RetryAfter.maximum).contains(seconds), "a server asks for over a day")
        guard seconds > 0 else { return }
        // Later it is never longer: what it asks for is a time, or the same number of seconds.
        let later = Timestamp(secondsSince1970: now.secondsSince1970.addingReportingOverflow(1).partialValue)
        if later > now { precondition(asked.seconds(at: later) <= seconds, "the wait grows while it lasts") }
    }
}
