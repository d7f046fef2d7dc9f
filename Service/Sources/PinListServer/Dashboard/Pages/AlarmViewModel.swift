// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListStore

/// An alarm as pages show it, firing or over.
struct AlarmViewModel: Hashable, Sendable {
    /// The urgency of an alarm.
    enum Severity: Hashable, Sendable, Comparable {
        /// Within days.
        case soon
        /// Now.
        case now
    }

    /// The key of the alarm.
    var id: String
    /// The urgency of an alarm.
    var severity: Severity
    /// The problem, as a short sentence without a full stop: `Pin failures of api.example.com are above usual`.
    var title: String
    /// The figures behind it, in a sentence or two.
    var evidence: String
    /// The advice, in a sentence or two.
    var advice: String
    /// A path of the dashboard that shows more: `/failures/…`.
    var path: String?
    /// The time since which it fires.
    var since: Timestamp
    /// The time at which it ended; `nil` while it is firing.
    var until: Timestamp?
    /// The acknowledgement, by whom and when; `nil` while it is not acknowledged.
    var acknowledged: StoredAlarm.Acknowledgement?
    /// The silence that keeps it from sending notifications; `nil` when there is none.
    var silenced: StoredSilence?

    /// The view of the alarm for templates.
    ///
    /// - Parameter token: The token against forgery of its forms; `nil` for a page or a person without them.
    func view(in frame: PageFrame, token: String? = nil) -> View {
        View([
            "title": .markup(VisibleText.line(self.title, limit: 200)),
            "evidence": .markup(VisibleText.line(self.evidence, limit: 600)),
            "advice": .markup(VisibleText.line(self.advice, limit: 600)),
            "kind": self.until == nil ? (self.severity == .now ? "now" : "soon") : "over",
            "word": self.until == nil ? (self.severity == .now ? "Act now" : "Act soon") : "Ended",
            "since": .markup(frame.times.full(self.since)),
            "until": .markup(self.until.map { frame.times.full($0) } ?? ""),
            "lasted": self.until.map {
                "\(TimeText.duration(max(0, $0.secondsSince1970.subtractingReportingOverflow(self.since.secondsSince1970).0)))"
            } ?? "",
            "href": .markup(self.path.map { "\(frame.link($0))" } ?? ""),
            "acknowledged": .markup(self.acknowledgedText(in: frame)),
            "silenced": .markup(self.silencedText(in: frame)),
            "forms": .view(token.map { self.forms($0) }),
        ])
    }

    private func acknowledgedText(in frame: PageFrame) -> Markup {
        guard let seen = self.acknowledged else { return "" }
        return "by \(VisibleText.line(seen.by, limit: 64)), \(frame.times.full(seen.at))"
    }

    private func silencedText(in frame: PageFrame) -> Markup {
        guard let silence = self.silenced else { return "" }
        return """
            until \(frame.times.full(silence.endsAt)), by \(VisibleText.line(silence.madeBy, limit: 64)): \
            \(VisibleText.line(silence.reason, limit: 300))
            """
    }

    private func forms(_ token: String) -> View {
        View([
            "acknowledge": "\(AlarmsPage.acknowledgePath)", "silence": "\(AlarmsPage.silencePath)",
            "keyField": "\(AlarmsPage.keyField)", "key": "\(self.id)", "hoursField": "\(AlarmsPage.hoursField)",
            "reasonField": "\(AlarmsPage.reasonField)", "mostHours": "\(AlarmHandling.maximumSilence / 3_600)",
            "longestReason": "\(AlarmHandling.maximumReasonLength)", "tokenField": "\(PageFrame.tokenField)",
            "token": "\(token)", "plain": "\(VisibleText.plain(self.title))",
            "isAcknowledged": .flag(self.acknowledged != nil),
        ])
    }
}
