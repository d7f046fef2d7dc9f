// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Times as they stand in fields of HTTP (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sat, 21 Nov 2026 00:00:00 GMT`.
    static func text(of time: Timestamp) -> String {
        // 2026-11-21T00:00:00Z
        let parts = time.description.split { "-T:Z".contains($0) }
        let seconds = time.secondsSince1970
        let day = (seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400
        let weekday = Self.weekdays[Int((day % 7 + 7) % 7)]
        let month = Self.months[(Int(parts[1]) ?? 1) - 1]
        return "\(weekday), \(parts[2]) \(month) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }
}
