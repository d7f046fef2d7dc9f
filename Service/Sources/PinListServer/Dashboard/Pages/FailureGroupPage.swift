// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinReportAnalysis

/// One group of failures, with all that was reported.
struct FailureGroupPage: DashboardPage {
    static let template = DashboardTemplate.failure
    static let section: DashboardSection? = .failures

    /// A report as it came.
    struct Sample: Hashable, Sendable {
        /// The time at which it came.
        var receivedAt: Timestamp
        /// Its JSON, indented.
        var json: String
    }

    /// The number of reports of a value.
    struct Tally: Hashable, Sendable {
        /// The value: a version, a day.
        var label: String
        /// The number of reports.
        var count: Int
    }

    /// The group.
    var group: FailureGroup
    /// The path that was seen, leaf first.
    var certificates: [SeenCertificate]
    /// Networks on each day, the newest first; they are told apart for one day only.
    var networks: [Tally]
    /// Reports by the app's platform and version, most first.
    var apps: [Tally]
    /// A few reports, the newest first.
    var samples: [Sample]
    /// The share of installations that report such failures, in words; nothing where all do.
    var sampling = ""
    /// The entries of logs for the key that was seen, in a sentence; nothing where no monitor told of it.
    var logged = ""

    /// The maximum number of samples, tallies of one kind, and certificates that are shown.
    static let maximum = (samples: 10, tallies: 20, certificates: 10)

    /// The title of the window.
    var title: String { "\(VisibleText.plain(self.group.host, limit: 64)): \(self.group.cause.label)" }

    /// The view that the template is filled with.
    func view(in frame: PageFrame) -> View {
        let plot = StepPlot(
            id: "group", title: "Reports of this group",
            unit: "Reports in each \(TimeText.each(self.group.series.step))", series: self.group.series)
        return View([
            "group": .view(self.group.view(in: frame)), "plot": .markup(plot.svg), "unit": "\(plot.unit)",
            "sampling": "\(self.sampling)",
            "logged": .view(
                self.logged.isEmpty
                    ? nil
                    : View([
                        "text": .markup(VisibleText.line(self.logged, limit: 1_024)),
                        "href": "\(CertificatesPage.link(to: self.group.host, in: frame))",
                    ])),
            "rows": .views(self.group.series.rows), "back": "\(frame.link(DashboardSection.failures.path))",
            "certificates": .views(
                self.certificates.prefix(Self.maximum.certificates).enumerated().map { $1.view($0, in: frame) }),
            "hasCertificates": .flag(!self.certificates.isEmpty),
            "networks": .views(Self.views(self.networks)), "hasNetworks": .flag(!self.networks.isEmpty),
            "apps": .views(Self.views(self.apps)), "hasApps": .flag(!self.apps.isEmpty),
            "samples": .views(
                self.samples.prefix(Self.maximum.samples).enumerated().map { index, sample in
                    View([
                        "id": "sample-\(index)", "time": .markup(frame.times.full(sample.receivedAt)),
                        "json": .markup(VisibleText.block(sample.json)),
                    ])
                }),
            "hasSamples": .flag(!self.samples.isEmpty),
        ])
    }

    private static func views(_ tallies: [Tally]) -> [View] {
        let maximum = Double(tallies.map(\.count).max() ?? 0)
        return tallies.prefix(Self.maximum.tallies).map { tally in
            View([
                "label": .markup(VisibleText.line(tally.label, limit: 64)), "count": "\(NumberText.count(tally.count))",
                "bar": .markup(BarRow(value: Double(tally.count), top: maximum, tone: .calm).svg),
            ])
        }
    }
}
