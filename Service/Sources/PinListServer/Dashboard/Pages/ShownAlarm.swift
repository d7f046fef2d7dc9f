// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Something that a person should look at, or had to.
struct ShownAlarm: Hashable, Sendable {
    /// How much it hurries.
    enum Severity: Hashable, Sendable, Comparable {
        /// Within days.
        case soon
        /// Now.
        case now
    }

    /// Which alarm it is, stable over its life: letters, digits and hyphens.
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

    /// What templates show of it.
    func view(in frame: PageFrame) -> View {
        View([
            "id": "\(self.id)", "title": .markup(VisibleText.line(self.title, limit: 200)),
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
        ])
    }
}
