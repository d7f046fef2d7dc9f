// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// One series over time, as steps: a value holds for its whole window.
struct StepPlot: Sendable {
    /// Unique on the page; letters, digits and hyphens.
    let id: String
    /// The title, in a few words.
    let title: String
    /// The unit: `reports an hour`.
    let unit: String
    /// The values.
    let series: PlotSeries
    /// The height of the drawing, in pixels.
    var pixels = 160

    /// The plot.
    var svg: Markup {
        let frame = PlotFrame(
            id: self.id, title: self.title, description: self.description, pixels: self.pixels,
            start: self.series.start, end: self.series.end, scale: NiceScale(maximum: self.series.maximum),
            tickLabel: { NumberText.short($0) })
        return frame.svg(
            "\(Self.gaps(self.series, frame))\(Self.areas(self.series, frame))", labels: self.notes(frame))
    }

    /// The same in a sentence.
    var description: String {
        guard let last = self.series.values.last, !self.series.measured.isEmpty else {
            return "Nothing was measured."
        }
        let peak = self.series.maximum
        let index = self.series.values.firstIndex { $0 == peak } ?? 0
        let newest = last.map { NumberText.short($0) } ?? "not measured"
        let gaps = self.series.gaps.reduce(0) { $0 + $1.count }
        let missing = gaps == 0 ? "" : " \(NumberText.count(gaps, "window was", "windows were")) not measured."
        return """
            \(self.unit), from \(TimeText.minute(self.series.start)) to \(TimeText.minute(self.series.end)) UTC. \
            Most: \(NumberText.short(peak)), from \(TimeText.minute(self.series.time(of: index))). Newest: \(newest).\(missing)
            """
    }

    /// The areas of the measured parts of a series, with a line on top.
    static func areas(_ series: PlotSeries, _ frame: PlotFrame) -> Markup {
        Markup.join(
            series.measured.map { run -> Markup in
                let line = Self.line(run, series, frame)
                let from = PlotFrame.number(frame.x(series.time(of: run.lowerBound)))
                let to = PlotFrame.number(frame.x(series.time(of: run.upperBound)))
                return """
                    <path class="area" d="M\(from),100\(line)L\(to),100Z"/>\
                    <path class="line" d="M\(String(line.dropFirst()))"/>
                    """
            })
    }

    private static func line(_ run: Range<Int>, _ series: PlotSeries, _ frame: PlotFrame) -> String {
        run.reduce(into: "") { path, index in
            let from = PlotFrame.number(frame.x(series.time(of: index)))
            let to = PlotFrame.number(frame.x(series.time(of: index + 1)))
            let y = PlotFrame.number(frame.y(series.values[index] ?? 0))
            path += "L\(from),\(y)H\(to)"
        }
    }

    private func notes(_ frame: PlotFrame) -> Markup {
        if self.series.measured.isEmpty { return Self.note("not measured") }
        if self.series.maximum == 0 { return Self.note("none") }
        return ""
    }

    private static func note(_ text: String) -> Markup {
        "<text class=\"note\" x=\"50%\" y=\"50%\" text-anchor=\"middle\">\(text)</text>"
    }

    /// The gaps of a series, as bands.
    static func gaps(_ series: PlotSeries, _ frame: PlotFrame) -> Markup {
        Markup.join(
            series.gaps.map { gap in
                let from = frame.x(series.time(of: gap.lowerBound))
                let width = PlotFrame.number(frame.x(series.time(of: gap.upperBound)) - from)
                return """
                    <rect class="gap" x="\(PlotFrame.number(from))" y="0" width="\(width)" height="100"/>
                    """
            })
    }
}
