// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The number of days that something still lasts, and whether that is enough.
struct DaysLeft: Hashable, Sendable {
    /// Days, with their fraction; negative after the end.
    let days: Double
    /// The tone that fits the number.
    let tone: BarRow.Tone

    /// The days between two times.
    ///
    /// - Parameters:
    ///   - now: The one.
    ///   - end: The other.
    ///   - thresholds: From how many days on it is time to act, soon and now.
    init(from now: Timestamp, to end: Timestamp, at thresholds: (soon: Double, now: Double)) {
        let days = (Double(end.secondsSince1970) - Double(now.secondsSince1970)) / 86_400
        self.days = days
        self.tone = days <= thresholds.now ? .now : days <= thresholds.soon ? .soon : .calm
    }

    /// `in 12 days`, `ended 2 days ago`, with a sign where it is time to act.
    var words: Markup {
        let amount = TimeText.duration(
            Int64(exactly: min(self.days.magnitude * 86_400, 1e15).rounded(.down)) ?? 0)
        let sign: Markup =
            switch self.tone {
            case .calm: ""
            case .soon: "<span class=\"sign\" aria-hidden=\"true\">▲</span> "
            case .now: "<span class=\"sign\" aria-hidden=\"true\">■</span> "
            }
        let text = self.days < 0 ? "ended \(amount) ago" : "\(amount) left"
        return "<span class=\"left \(self.tone.rawValue)\">\(sign)\(text)</span>"
    }

    /// A bar to an axis of so many days.
    func bar(_ top: Double) -> Markup { BarRow(value: max(0, self.days), top: top, tone: self.tone).svg }
}
