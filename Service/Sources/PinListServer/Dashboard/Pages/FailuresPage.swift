// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinReportAnalysis

/// The page of failures, in groups.
struct FailuresPage: DashboardPage {
    static let template = DashboardTemplate.failures
    static let section: DashboardSection? = .failures

    /// The filter of the request.
    var filter: FailureFilter
    /// The hosts that can be chosen.
    var hosts: [String]
    /// The reasons that can be chosen.
    var reasons: [String]
    /// The versions of the app that can be chosen.
    var versions: [String]
    /// The groups, in the order that was asked for.
    var groups: [FailureGroup]
    /// Whether there are more groups.
    var isCut: Bool
    /// Reports of pin failures in the span.
    var pinReports: Int
    /// Reports of other TLS failures in the span, counted apart.
    var otherReports: Int
    /// Reports of lists and roots that clients refused, in the span, counted apart.
    var listReports = 0
    /// Pin failures over the span.
    var series: PlotSeries
    /// The time at which the span begins; `nil` when there is no beginning.
    var since: Timestamp?
    /// The factor of the series, in a sentence; nothing where all installations report.
    var caption = ""

    /// The maximum number of groups on a page: a page that loads at once. Filters by host, reason and version reach others.
    static let maximumGroups = 100
    /// The maximum number of groups whose reports over time are drawn, the first ones: of each, up to 2,160 hours are added up.
    static let maximumPlots = 25
    /// The maximum number of choices of a filter: senders choose the values.
    static let maximumChoices = 200

    /// The title of the window.
    var title: String { "Failures" }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        let plot = StepPlot(
            id: "failures", title: "Pin failures reported",
            unit: "Reports in each \(TimeText.each(self.series.step))",
            series: self.series, pixels: 120)
        let shown = min(self.groups.count, Self.maximumGroups)
        return View([
            "summary": """
            \(self.isCut ? "over " : "")\(NumberText.count(shown, "group", "groups")), \
            \(NumberText.count(self.pinReports, "pin failure", "pin failures")), \
            \(NumberText.count(self.otherReports, "other TLS failure", "other TLS failures"))\
            \(self.listReports > 0 ? ", " + NumberText.count(self.listReports, "refused list or root", "refused lists or roots") : "")
            """,
            "span": "\(self.filter.span.label)", "plot": .markup(plot.svg), "unit": "\(plot.unit)",
            "caption": "\(self.caption)",
            "action": "\(DashboardSection.failures.path)", "clear": "\(frame.link(DashboardSection.failures.path))",
            "name": frame.names.count > 1 ? "\(frame.name ?? "")" : "", "isNarrow": .flag(self.filter.isNarrow),
            "hosts": .views(Self.choices(self.hosts, chosen: self.filter.host)),
            "reasons": .views(Self.choices(self.reasons, chosen: self.filter.reason)),
            "versions": .views(Self.choices(self.versions, chosen: self.filter.version)),
            "causes": .views(
                FailureCause.allCases.map { cause in
                    Self.choice(cause.rawValue, cause.label, isChosen: cause == self.filter.cause)
                }),
            "spans": .views(
                FailureFilter.Span.allCases.map { span in
                    Self.choice(span.rawValue, span.label, isChosen: span == self.filter.span)
                }),
            "order": "\(self.filter.order.rawValue)",
            "rows": .views(self.series.rows), "export": .views(self.exports),
            "columns": .views(self.columns(frame)),
            "groups": .views(
                self.groups.prefix(shown).enumerated().map { index, group in
                    group.view(in: frame, isDrawn: index < Self.maximumPlots)
                }),
            "hasGroups": .flag(!self.groups.isEmpty),
            "hasReports": .flag(!self.hosts.isEmpty || !self.reasons.isEmpty),
            "steps": .markup(FirstSteps.report.markup), "test": .markup(DigestText.whole(FirstSteps.testReport)),
            "everything": """
            \(frame.link(DashboardSection.failures.path, [(name: "span", value: FailureFilter.Span.all.rawValue)]))
            """,
            "more": "\(self.limits(shown))",
        ])
    }

    /// What the page leaves out, in sentences.
    private func limits(_ shown: Int) -> String {
        var sentences: [String] = []
        if shown > Self.maximumPlots {
            sentences.append("Only the first \(NumberText.count(Self.maximumPlots)) groups are drawn over time.")
        }
        if self.isCut {
            sentences.append(
                "More groups are not shown: of each host, those with neither the newest nor the most reports. Narrow the filter."
            )
        }
        return sentences.joined(separator: " ")
    }

    /// All reports of the span, as files; the filter is not for them.
    private var exports: [View] {
        [("JSON Lines", "jsonl"), ("CSV", "csv")].map { label, format in
            let query = [(name: "format", value: format), (name: "since", value: self.since?.description ?? "")]
            return View(["label": "\(label)", "href": "\(DashboardLink.to("/v1/reports", query))"])
        }
    }

    private func columns(_ frame: PageFrame) -> [View] {
        let columns: [(String, FailureFilter.Order?, Bool)] = [
            ("Host", .host, false), ("Likely cause", nil, false), ("Issuer seen", nil, false), ("App", nil, false),
            ("List", nil, true), ("Reports", .reports, true), ("Networks", .networks, true), ("Over time", nil, false),
            ("Newest", .last, false),
        ]
        return columns.map { label, order, isNumber in
            var filter = self.filter
            filter.order = order ?? filter.order
            let isCurrent = order == self.filter.order
            return View([
                "label": "\(label)", "number": .flag(isNumber),
                "sorted": isCurrent ? (order == .host ? "ascending" : "descending") : "",
                "href": order == nil || isCurrent
                    ? "" : "\(frame.link(DashboardSection.failures.path, filter.query))",
            ])
        }
    }

    private static func choices(_ values: [String], chosen: String) -> [View] {
        var values = Array(values.prefix(Self.maximumChoices))
        if !chosen.isEmpty && !values.contains(chosen) { values.append(chosen) }
        return values.map { Self.choice($0, VisibleText.plain($0, limit: 48), isChosen: $0 == chosen) }
    }

    private static func choice(_ value: String, _ label: String, isChosen: Bool) -> View {
        View(["value": "\(value)", "label": "\(label)", "chosen": .flag(isChosen)])
    }
}
