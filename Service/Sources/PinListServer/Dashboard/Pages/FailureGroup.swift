// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinReportAnalysis

/// Failures that have the same host, list, leaf, issuer, reason and app version.
struct FailureGroup: Hashable, Sendable {
    /// The group's id: what the service made, letters and digits.
    var id: String
    /// The noted host.
    var host: String
    /// The reason's code, such as `no-matching-pin`.
    var reason: String
    /// The most likely cause.
    var cause: FailureCause
    /// The evidence for the cause, with figures, in sentences.
    var evidence: [String]
    /// The version of the list that the clients held; `nil` when reports do not say.
    var listVersion: Int64?
    /// The pin of the leaf that was seen; `nil` when none was.
    var leafPin: String?
    /// The issuer of that leaf, or nothing.
    var issuer: String
    /// The app's version, or nothing.
    var appVersion: String
    /// The number of reports.
    var reports: Int
    /// The number of networks on the day with most of them: they are told apart for one day only.
    var networks: Int
    /// The time of the first report.
    var firstSeen: Timestamp
    /// The time of the newest report.
    var lastSeen: Timestamp
    /// Reports in each window of the span that is looked at.
    var series: PlotSeries
    /// The probable cause of this group, in a sentence; where it is empty, what the cause means in general.
    var title = ""
    /// The advice for this group, in sentences; where it is empty, what the cause asks for in general.
    var advice = ""
    /// `attested` or `unattested`; nothing where no list asks.
    var attestation = ""

    /// The maximum number of windows that are drawn in a row of a table: bars that can be told apart in a column.
    static let maximumWindows = 56

    /// The maximum number of sentences of evidence: a list that a person reads.
    static let maximumEvidence = 20

    /// The path of its page.
    var path: String { "\(DashboardSection.failures.path)/\(DashboardLink.encode(self.id))" }

    /// The view of the group for templates.
    ///
    /// - Parameter isDrawn: Whether its series is known, and drawn.
    func view(in frame: PageFrame, isDrawn: Bool = true) -> View {
        let series = self.series.merged(toAtMost: Self.maximumWindows)
        let spark = Sparkline(
            description: "Reports over time. Most: \(NumberText.short(series.maximum)).", series: series)
        return View([
            "href": "\(frame.link(self.path))", "host": .markup(VisibleText.line(self.host, limit: 64)),
            "reason": .markup(VisibleText.line(self.reason, limit: 40)),
            "reasonWords": "\(FailureReason.words(self.reason))",
            "cause": "\(self.cause.label)", "causeKind": "\(self.cause.rawValue)", "sign": "\(self.cause.sign)",
            "meaning": .markup(VisibleText.line(self.title.isEmpty ? self.cause.meaning : self.title, limit: 600)),
            "advice": .markup(VisibleText.line(self.advice.isEmpty ? self.cause.advice : self.advice, limit: 600)),
            "evidence": .views(
                self.evidence.prefix(Self.maximumEvidence).map { text in
                    View(["text": .markup(VisibleText.line(text, limit: 600))])
                }),
            "listVersion": .markup(self.listVersion.map { "\($0)" } ?? "–"),
            "leafPin": .markup(self.leafPin.map { DigestText.short($0) } ?? "–"),
            "issuer": .markup(self.issuer.isEmpty ? "–" : VisibleText.folded(self.issuer)),
            "appVersion": .markup(self.appVersion.isEmpty ? "–" : VisibleText.line(self.appVersion, limit: 32)),
            "attestation": "\(self.attestation)",
            "reports": "\(NumberText.count(self.reports))", "networks": "\(NumberText.count(self.networks))",
            "first": .markup(frame.times.full(self.firstSeen)), "last": .markup(frame.times.full(self.lastSeen)),
            "lastShort": .markup(frame.times.relative(self.lastSeen)), "spark": .markup(isDrawn ? spark.svg : "–"),
        ])
    }
}

/// The meanings of the codes of reasons (formats.md, sections 3.3 and 4).
enum FailureReason {
    /// A code in words; nothing for a code that is not known.
    static func words(_ code: String) -> String {
        switch code {
        case "no-matching-pin": "no certificate of the path is pinned"
        case "denied-key": "a denied key is in the path"
        case "denied-undecidable": "a certificate that cannot be read might be denied or revoked"
        case "revoked": "a certificate of the path is revoked"
        case "revocation-unknown": "no revocation list covers a certificate of the path"
        case "unlisted-denied": "the host is not listed, and such hosts are denied"
        case "transparency": "the pins matched, and the certificate was not shown to be logged as the list asks"
        case "unlisted-reported": "the host is not listed"
        case "chain-invalid": "the platform refused the certificates"
        case "no-certificates": "the host showed no certificate"
        case "over-budget": "checking the certificates would have taken too long"
        case "host-invalid": "the name of the host cannot be one"
        case "cleartext": "a request without TLS"
        case "rollback": "an older list than the one held was offered"
        case "equivocation": "another list with the same version was offered"
        case "expired": "an expired list was offered"
        case "unsigned", "threshold-not-met": "a list without enough signatures was offered"
        default: ""
        }
    }
}
