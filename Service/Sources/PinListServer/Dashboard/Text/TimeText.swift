// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Times as the dashboard writes them: UTC, with words for how far away they are.
struct TimeText: Sendable {
    /// The time at which the page's figures were taken.
    let now: Timestamp

    /// `2026-11-21 18:42`, and `3 minutes ago` beside it.
    func full(_ time: Timestamp) -> Markup {
        "<span class=\"when\">\(self.date(time)) \(self.relative(time))</span>"
    }

    /// `2026-11-21 18:42` in a `time` element.
    func date(_ time: Timestamp) -> Markup {
        "<time datetime=\"\(time.description)\">\(Self.minute(time))</time>"
    }

    /// `3 minutes ago` in an element that the page's script keeps up to date.
    func relative(_ time: Timestamp) -> Markup {
        """
        <span class="rel" data-relative="\(time.secondsSince1970)">\(Self.words(from: self.now, to: time))</span>
        """
    }

    /// `2026-11-21 18:42`.
    static func minute(_ time: Timestamp) -> String {
        let text = time.description
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }

    /// `21 Nov`.
    static func day(_ time: Timestamp) -> String {
        let text = time.description
        let month = Int(text.dropFirst(5).prefix(2)) ?? 1
        let day = Int(text.dropFirst(8).prefix(2)) ?? 1
        return "\(day) \(Self.month(month))"
    }

    /// `Nov`, for 11.
    static func month(_ number: Int) -> String {
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return names[min(max(number, 1), 12) - 1]
    }

    /// `3 minutes ago`, `in 12 days`: whole units, rounded down, from two on days.
    static func words(from now: Timestamp, to time: Timestamp) -> String {
        let (difference, overflow) = time.secondsSince1970.subtractingReportingOverflow(now.secondsSince1970)
        guard !overflow else { return "far away" }
        if difference.magnitude < 10 { return "now" }
        let amount = self.duration(Int64(clamping: difference.magnitude))
        return difference > 0 ? "in \(amount)" : "\(amount) ago"
    }

    /// `hour`, `6 hours`: what stands after "each".
    static func each(_ seconds: Int) -> String {
        switch seconds {
        case 60: "minute"
        case 3_600: "hour"
        case 86_400: "day"
        default: self.duration(Int64(seconds))
        }
    }

    /// `an hour`, `a day`, `6 hours`: how long something is.
    static func length(_ seconds: Int64) -> String {
        switch seconds {
        case 60: "a minute"
        case 3_600: "an hour"
        case 86_400: "a day"
        default: self.duration(seconds)
        }
    }

    /// `45 seconds`, `3 hours`, `2 days`.
    static func duration(_ seconds: Int64) -> String {
        // Forged and broken times may be anywhere.
        guard seconds < 36_525 * 86_400 else { return "over 100 years" }
        let units: [(Int64, String)] = [(86_400, "day"), (3_600, "hour"), (60, "minute")]
        // From two of a unit on: 36 hours say more than one day.
        for (length, name) in units where seconds >= (name == "minute" ? length : 2 * length) {
            let count = seconds / length
            return "\(NumberText.count(Int(clamping: count))) \(name)\(count == 1 ? "" : "s")"
        }
        return seconds == 1 ? "1 second" : "\(seconds) seconds"
    }
}
