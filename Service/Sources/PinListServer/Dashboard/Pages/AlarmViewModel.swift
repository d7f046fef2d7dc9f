// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListStore

/// Something that a person should look at, or had to.
struct AlarmViewModel: Hashable, Sendable {
    /// How much it hurries.
    enum Severity: Hashable, Sendable, Comparable {
        /// Within days.
        case soon
        /// Now.
        case now
    }

    /// Which alarm it is: its key.
    var id: String
    /// How much it hurries.
    var severity: Severity
    /// What is the matter, as a short sentence without a full stop: `Pin failures of api.example.com are above usual`.
    var title: String
    /// The figures behind it, in a sentence or two.
    var evidence: String
    /// What to do, in a sentence or two.
    var advice: String
    /// A path of the dashboard that shows more: `/failures/…`.
    var path: String?
    /// Since when.
    var since: Timestamp
    /// Until when; `nil` while it is firing.
    var until: Timestamp?
    /// Who has seen it, and when; `nil` when nobody has said so.
    var acknowledged: StoredAlarm.Acknowledgement?
    /// What keeps it from telling people; `nil` when nothing does.
    var silenced: StoredSilence?

    /// What templates show of it.
    ///
    /// - Parameter token: The token against forgery of its forms; `nil` for a page or a person without them.
    func view(in frame: PageFrame, token: String? = nil) -> View {
        View([
            "title": .markup(VisibleText.line(self.title, limit: 200)),
            "evidence": .markup(VisibleText.line(self.evidence, limit: 600)),
            "advice": .markup(VisibleText.line(self.advice, limit: 600)),
            "kind": self.until == nil ? (self.severity == .now ? "now" : "soon") : "over",
            "word": self.until == nil ? (self.severity == .now ? "Act now" : "Act soon") : "Over",
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
