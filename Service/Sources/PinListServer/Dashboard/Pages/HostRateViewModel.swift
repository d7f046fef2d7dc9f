// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The failure rate of a host: its last hour against its week.
struct HostRateViewModel: Hashable, Sendable {
    /// The assessment of a rate.
    enum State: Hashable, Sendable {
        /// The rate is as usual.
        case usual
        /// The rate is above what is usual.
        case raised
        /// Far above what is usual.
        case high
        /// The rate cannot be assessed: there is no week to compare with.
        case unknown
    }

    /// The noted host, as reports name it.
    var host: String
    /// Reports of pin failures in the last full hour; `nil` when it was not measured.
    var lastHour: Int?
    /// The average of an hour of the week before; `nil` when there is no week yet.
    var usual: Double?
    /// Reports in each hour, the newest last: 168 of them for a week.
    var hours: PlotSeries
    /// Reports in the last hour that are not about pins: TLS failures, or incidents where ``isOfLists``.
    var otherTLS: Int
    /// The assessment of the rate.
    var state: State
    /// Reports of pin failures that came in the last full hour, where ``lastHour`` is multiplied.
    var reported: Int? = nil
    /// Whether the reports are of lists and roots that clients refused, and of no host.
    var isOfLists = false
    /// Whether a list has the host: any sender can report one that no list has.
    var isListed = true
    /// The factor of the figures, in a sentence; nothing where all installations report.
    var caption = ""

    /// The view of the rate for templates.
    func view(in frame: PageFrame) -> View {
        let lastHour = self.lastHour.map { NumberText.count($0) } ?? "not measured"
        let usual = self.usual.map { NumberText.decimal($0, places: $0 < 10 ? 1 : 0) } ?? "not known"
        let spark = Sparkline(
            description: """
                Pin failures an hour over the \(self.hours.values.count <= PlotSeries.day ? "day" : "week"). Last hour: \(lastHour). Usual: \(usual). \
                Most: \(NumberText.short(self.hours.maximum)). \(self.caption)
                """,
            series: self.hours, usual: self.usual)
        return View([
            "host": .markup(VisibleText.line(self.host, limit: 64)), "lastHour": "\(lastHour)",
            "measured": .flag(self.lastHour != nil), "usual": "\(usual)", "spark": .markup(spark.svg),
            "href": "\(frame.link(DashboardSection.failures.path, [(name: "host", value: self.host)]))",
            "others": self.otherTLS > 0 ? "\(self.others)" : "",
            "caption": "\(self.caption)", "peak": "\(NumberText.short(self.hours.maximum))",
            "kind": .markup(self.kind.0),
            "word": .markup(self.kind.1), "sign": .markup(self.kind.2),
        ])
    }

    private var others: String {
        self.isOfLists
            ? NumberText.count(self.otherTLS, "refused list or root", "refused lists or roots")
            : NumberText.count(self.otherTLS, "other TLS failure", "other TLS failures") + ", counted apart"
    }

    private var kind: (Markup, Markup, Markup) {
        switch self.state {
        case .usual: ("calm", "as usual", "●")
        case .raised: ("soon", "above usual", "▲")
        case .high: ("now", "far above usual", "■")
        case .unknown: ("unknown", "nothing to compare with", "○")
        }
    }
}
