// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListStore
internal import PinReportAnalysis

/// An alarm as pages show it, firing or over.
struct AlarmViewModel: Hashable, Sendable {
    /// The urgency of an alarm.
    enum Severity: Hashable, Sendable, Comparable {
        /// This week.
        case later
        /// Today.
        case soon
        /// Now.
        case now
    }

    /// The key of the alarm.
    var id: String
    /// The urgency of an alarm.
    var severity: Severity
    /// The problem, as a sentence without a full stop: that of ``AlarmSentence``.
    var title: String
    /// The one action; empty for none.
    var advice: String
    /// The path of the page of its runbook; `nil` for a kind of a later version.
    var runbook: String?
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
            "title": .markup(VisibleText.line(self.title, limit: 1_024)),
            "advice": .markup(VisibleText.line(self.advice, limit: 600)),
            "kind": self.until == nil ? "\(self.severity.kind)" : "ended",
            "word": self.until == nil ? "\(self.severity.word)" : "Ended",
            "since": .markup(frame.times.full(self.since)),
            "until": .markup(self.until.map { frame.times.full($0) } ?? ""),
            "lasted": self.until.map {
                "\(TimeText.duration(max(0, $0.secondsSince1970.subtractingReportingOverflow(self.since.secondsSince1970).0)))"
            } ?? "",
            "runbook": .markup(self.runbook.map { "\(frame.link($0))" } ?? ""),
            "href": .markup(self.path.map { "\(frame.link($0))" } ?? ""),
            "acknowledged": .markup(self.acknowledgedText(in: frame)),
            "silenced": .markup(self.silencedText(in: frame)),
            "forms": .view(token.map { self.forms($0) }),
        ])
    }

    /// The most urgent first, and of those the oldest.
    static func order(_ left: Self, _ right: Self) -> Bool {
        (right.severity, left.since, left.id) < (left.severity, right.since, right.id)
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
            "reasonField": "\(AlarmsPage.reasonField)", "maximumHours": "\(AlarmHandling.maximumSilence / 3_600)",
            "maximumReasonLength": "\(AlarmHandling.maximumReasonLength)", "tokenField": "\(PageFrame.tokenField)",
            "token": "\(token)", "plain": "\(VisibleText.plain(self.title))",
            "isAcknowledged": .flag(self.acknowledged != nil),
        ])
    }
}

extension AlarmViewModel.Severity {
    /// The severity of a stored alarm.
    init(_ severity: Alarm.Severity) {
        switch severity {
        case .notice: self = .later
        case .warning: self = .soon
        case .critical: self = .now
        }
    }

    /// The class of its colour.
    var kind: Markup {
        switch self {
        case .later: "unknown"
        case .soon: "soon"
        case .now: "now"
        }
    }

    /// By when to act.
    var word: Markup {
        switch self {
        case .later: "Act this week"
        case .soon: "Act today"
        case .now: "Act now"
        }
    }

    /// The sign beside the word.
    var sign: Markup {
        switch self {
        case .later: "○"
        case .soon: "▲"
        case .now: "■"
        }
    }
}
