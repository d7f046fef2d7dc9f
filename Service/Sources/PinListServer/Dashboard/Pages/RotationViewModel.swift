// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The rotation of a host's key, with what probes and installations say of it.
struct RotationViewModel: Hashable, Sendable {
    /// A step that was taken although its gate did not hold.
    struct Forced: Hashable, Sendable {
        /// The state that was entered.
        var state: String
        /// The time.
        var time: Timestamp
        /// The reason.
        var reason: String
    }

    /// The noted hostname.
    var host: String
    /// The number of entries that are concerned.
    var entries: Int
    /// `planned`, `announced`, `ready`, `switched`, `retired` or `aborted`.
    var state: String
    /// The time since which it is in this state.
    var since: Timestamp
    /// The next state, and by when it is planned; `nil` after the last state.
    var next: (state: String, due: Timestamp)? {
        self.nextState.flatMap { state in self.due.map { (state, $0) } }
    }
    /// The state that comes next.
    var nextState: String?
    /// The time for which that is planned.
    var due: Timestamp?
    /// The pin of the new key.
    var newPin: String
    /// The pins of the old ones.
    var oldPins: [String]
    /// The place where the new key is kept and its holder, as far as the plan names them.
    var kept: String
    /// The share that may refuse the new key: `1%`.
    var maxRefusing: String
    /// The way back from here.
    var wayBack: String
    /// The events, past and planned.
    var events: [RotationPlot.Event]
    /// The share that knows the new key; `nil` when that is not known.
    var adoption: PlotSeries?
    /// Hosts whose servers presented the new key when they were probed last.
    var seen: [String]
    /// Steps that were taken although their gate did not hold.
    var forced: [Forced]
    /// The entries of logs for the new key, in a sentence; nothing where no monitor told of it.
    var logged = ""

    /// The maximum number of forced steps that are shown, the last ones: a plan may have 512, each with a reason.
    private static let maximumForced = 16
    /// The maximum number of rows of the table of shares: as many as a curve has windows.
    private static let maximumRows = 60

    /// The view of the rotation for templates.
    func view(number: Int, in frame: PageFrame) -> View {
        let plot = RotationPlot(
            id: "rotation-\(number)", title: "Rotation of a key over time", events: self.events,
            adoption: self.adoption, now: frame.time)
        let isOverdue = self.next.map { $0.due < frame.time } ?? false
        return View([
            "number": "\(number)", "host": .markup(VisibleText.line(self.host, limit: 253)),
            "plain": "\(VisibleText.plain(self.host, limit: 253))",
            "state": .markup(VisibleText.line(self.state, limit: 16)), "since": .markup(frame.times.full(self.since)),
            "entries": self.entries > 1 ? "\(NumberText.count(self.entries)) entries are concerned" : "",
            "next": .view(
                self.next.map { next in
                    View([
                        "state": .markup(VisibleText.line(next.state, limit: 16)),
                        "due": .markup(frame.times.full(next.due)), "isOverdue": .flag(isOverdue),
                    ])
                }),
            "newPin": .markup(DigestText.short(self.newPin)),
            "oldPins": .markup(Markup.join(self.oldPins.map { DigestText.short($0) }, separator: ", ")),
            "kept": .markup(self.kept.isEmpty ? "" : VisibleText.folded(self.kept)),
            "maxRefusing": "\(self.maxRefusing)", "wayBack": .markup(VisibleText.line(self.wayBack, limit: 300)),
            "plot": .markup(plot.svg), "hasAdoption": .flag(self.adoption != nil),
            "seen": .markup(
                Markup.join(self.seen.prefix(8).map { VisibleText.line($0, limit: 253) }, separator: ", ")),
            "logged": .view(
                self.logged.isEmpty
                    ? nil
                    : View([
                        "text": .markup(VisibleText.line(self.logged, limit: 1_024)),
                        "href": "\(CertificatesPage.link(to: self.host, in: frame))",
                    ])),
            "forced": .views(
                self.forced.suffix(Self.maximumForced).map { forced in
                    View([
                        "state": .markup(VisibleText.line(forced.state, limit: 16)),
                        "time": .markup(frame.times.full(forced.time)),
                        "reason": .markup(VisibleText.folded(forced.reason)),
                    ])
                }),
            "hasForced": .flag(!self.forced.isEmpty),
            "earlierForced": self.forced.count > Self.maximumForced
                ? "\(NumberText.count(self.forced.count - Self.maximumForced)) earlier ones are not shown." : "",
            "events": .views(
                self.events.map { event in
                    View([
                        "label": .markup(VisibleText.line(event.label, limit: 24)),
                        "time": .markup(frame.times.full(event.time)),
                        "isDone": .flag(event.isDone),
                    ])
                }),
            "shares": .views(self.shares),
        ])
    }

    /// The curve as a table, the newest first.
    private var shares: [View] {
        guard let adoption else { return [] }
        return adoption.values.indices.reversed().prefix(Self.maximumRows).map { index in
            View([
                "time": "\(TimeText.minute(adoption.time(of: index)))",
                "share": .markup(adoption.values[index].map { "\(NumberText.percent($0))" } ?? "not measured"),
            ])
        }
    }
}
