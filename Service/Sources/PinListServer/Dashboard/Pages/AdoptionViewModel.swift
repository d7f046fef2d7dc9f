// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinReportAnalysis

/// The estimated shares of active installations that hold each list.
struct AdoptionViewModel: Hashable, Sendable {
    /// One list.
    struct Version: Hashable, Sendable {
        /// Its version.
        var version: Int64
        /// The time of publication.
        var publishedAt: Timestamp
        /// The share of installations whose list it is, in each window, from 0 to 1; `nil` where it was not measured.
        var shares: [Double?]
    }

    /// The time at which almost all hold the newest list.
    enum Forecast: Hashable, Sendable {
        /// They do, since then.
        case reached(Timestamp)
        /// They will then, if it goes on like this.
        case expected(Timestamp)
        /// The time cannot be said, because of this: a sentence.
        case unknown(String)
    }

    /// The time at which the first window begins.
    var start: Timestamp
    /// The length of a window, in seconds.
    var step: Int
    /// The lists, the newest first.
    var versions: [Version]
    /// The number of requests that were counted in the newest window.
    var requests: Int
    /// The number of further requests, from sources that had asked as often as counts.
    var surplus = 0
    /// The time in which an active installation asks once, in seconds: the list's `refreshAfter`.
    var askedEvery: Int
    /// The time at which 99 % hold the newest list.
    var forecast: Forecast

    /// The maximum number of versions that are shown one by one; the shares of those before are added up.
    static let maximumVersions = 5

    /// The share that holds the newest list, in the newest window that was measured.
    var newest: Double? { self.versions.first?.shares.last { $0 != nil } ?? nil }

    /// The view of adoption for templates.
    func view(in frame: PageFrame) -> View {
        let plot = SharePlot(
            id: "adoption", title: "Share of active installations by the list they hold", start: self.start,
            step: self.step, layers: self.layers)
        return View([
            "version": "\(self.versions.first?.version ?? 0)",
            "share": .markup(self.newest.map { "\(NumberText.percent($0))" } ?? "not measured"),
            "plot": .markup(plot.svg),
            "base": """
            \(NumberText.count(self.requests, "request", "requests")) counted in the newest window of \
            \(TimeText.length(Int64(self.step))); an active installation asks about once in \
            \(TimeText.length(Int64(self.askedEvery)))\(self.surplusText)
            """,
            "forecast": .markup(self.forecastText(frame)),
            "versions": .views(
                self.versions.enumerated().map { number, version in
                    let share = version.shares.last { $0 != nil } ?? nil
                    return View([
                        "version": "\(version.version)", "tone": "\(min(number, SharePlot.tones - 1))",
                        "published": .markup(frame.times.full(version.publishedAt)),
                        "share": .markup(share.map { "\(NumberText.percent($0))" } ?? "not measured"),
                        "bar": .markup(BarRow(value: share ?? 0, top: 1, tone: .calm).svg),
                    ])
                }),
            "rows": .views(self.rows), "columns": .views(self.layers.map { View(["label": "\($0.label)"]) }),
        ])
    }

    private var surplusText: String {
        guard self.surplus > 0 else { return "" }
        return "; \(NumberText.count(self.surplus)) more do not count, of sources that asked over "
            + "\(ListRequestQuota.maximumRequests) times in an hour"
    }

    private func forecastText(_ frame: PageFrame) -> Markup {
        switch self.forecast {
        case .reached(let time): "99 % reached \(frame.times.full(time))"
        case .expected(let time): "99 % expected \(frame.times.full(time)), if it goes on like this"
        case .unknown(let why): "The time of 99 % is unknown: \(VisibleText.line(why, limit: 300))"
        }
    }

    private var layers: [SharePlot.Layer] {
        var layers = self.versions.prefix(Self.maximumVersions).map { version in
            SharePlot.Layer(label: "Version \(version.version)", shares: version.shares)
        }
        let rest = self.versions.dropFirst(Self.maximumVersions)
        if !rest.isEmpty {
            let count = rest.map(\.shares.count).max() ?? 0
            let sums = (0..<count).map { index -> Double? in
                let shares = rest.compactMap { index < $0.shares.count ? $0.shares[index] : nil }
                return shares.isEmpty ? nil : shares.reduce(0, +)
            }
            layers.append(SharePlot.Layer(label: "Earlier", shares: sums))
        }
        return layers
    }

    /// The plot as a table: one row a day, or a window when they are longer.
    private var rows: [View] {
        let count = self.layers.map(\.shares.count).max() ?? 0
        let every = max(1, 86_400 / max(1, self.step), count / 60)
        return stride(from: count - 1, through: 0, by: -every).map { index in
            let time = Timestamp(secondsSince1970: self.start.secondsSince1970 &+ Int64(index) &* Int64(self.step))
            let cells = self.layers.map { layer -> View in
                let share = index < layer.shares.count ? layer.shares[index] : nil
                return View(["text": .markup(share.map { "\(NumberText.percent($0))" } ?? "not measured")])
            }
            return View(["time": "\(TimeText.minute(time))", "cells": .views(cells)])
        }
    }
}
