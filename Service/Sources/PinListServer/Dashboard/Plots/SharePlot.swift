// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Shares of a whole over time, one layer upon another, as steps. The first layer is the one that matters: it lies at
/// the bottom, where its height can be read, and is drawn strongest.
struct SharePlot: Sendable {
    /// One layer.
    struct Layer: Hashable, Sendable {
        /// The label beside it: `7`.
        let label: String
        /// The share in each window, from 0 to 1; `nil` where nothing was measured.
        let shares: [Double?]
    }

    /// The maximum number of layers that have a tone of their own; those after share the last one.
    static let tones = 6
    /// The smallest share that has room for its label, of the whole, and how much of the width a label takes.
    private static let roomForLabel = (height: 0.07, width: 0.15)

    /// Unique on the page; letters, digits and hyphens.
    let id: String
    /// The title, in a few words.
    let title: String
    /// The time at which the first window begins.
    let start: Timestamp
    /// The length of a window, in seconds.
    let step: Int
    /// The layers, from the bottom.
    let layers: [Layer]
    /// The height of the drawing, in pixels.
    var pixels = 240

    /// The plot.
    var svg: Markup {
        let whole = self.whole
        let frame = PlotFrame(
            id: self.id, title: self.title, description: self.description, pixels: self.pixels,
            start: whole.start, end: whole.end, scale: NiceScale(maximum: 1, wholeNumbers: false),
            tickLabel: { NumberText.percent($0) })
        var floor = [Double](repeating: 0, count: whole.values.count)
        var drawing = StepPlot.gaps(whole, frame)
        var labels: Markup = ""
        for (number, layer) in self.layers.enumerated() {
            let ceiling = floor.indices.map { floor[$0] + self.share(of: layer, at: $0, in: whole) }
            let tone = min(number, Self.tones - 1)
            for run in whole.measured {
                drawing = "\(drawing)\(Self.band(run, floor, ceiling, whole, frame, tone: tone))"
            }
            if let last = whole.measured.last, let height = Self.room(under: ceiling, over: floor, at: last) {
                let share = ceiling[last.upperBound - 1] - floor[last.upperBound - 1]
                let label = frame.label(
                    "\(layer.label) · \(NumberText.percent(share))", at: whole.time(of: last.upperBound),
                    value: height, anchor: "end", kind: "direct on-\(tone)")
                labels = "\(labels)\(label)"
            }
            floor = ceiling
        }
        if whole.measured.isEmpty {
            labels = "<text class=\"note\" x=\"50%\" y=\"50%\" text-anchor=\"middle\">not measured</text>"
        }
        return frame.svg(drawing, labels: labels)
    }

    /// The place of a label at the end of a layer, within it over its whole length; `nil` where it would reach into
    /// others.
    private static func room(under ceiling: [Double], over floor: [Double], at run: Range<Int>) -> Double? {
        let length = max(1, Int(exactly: (Double(ceiling.count) * Self.roomForLabel.width).rounded(.up)) ?? .max)
        guard run.count >= length else { return nil }
        let windows = run.suffix(length)
        let lowest = windows.map { floor[$0] }.max() ?? 1
        let highest = windows.map { ceiling[$0] }.min() ?? 0
        return highest - lowest >= Self.roomForLabel.height ? (lowest + highest) / 2 : nil
    }

    /// The same in a sentence.
    var description: String {
        guard let last = self.whole.measured.last else { return "Nothing was measured." }
        let newest = self.layers.map { layer in
            "\(layer.label) \(NumberText.percent(self.share(of: layer, at: last.upperBound - 1, in: self.whole)))"
        }
        return """
            Shares from \(TimeText.minute(self.whole.start)) to \(TimeText.minute(self.whole.end)) UTC; the newest: \
            \(newest.joined(separator: ", ")).
            """
    }

    /// The sum of all layers: a window counts as measured when one of them has a value.
    private var whole: PlotSeries {
        let count = self.layers.map(\.shares.count).max() ?? 0
        let sums = (0..<count).map { index -> Double? in
            let shares = self.layers.compactMap { index < $0.shares.count ? $0.shares[index] : nil }
            return shares.isEmpty ? nil : shares.reduce(0, +)
        }
        return PlotSeries(start: self.start, step: self.step, values: sums)
    }

    private func share(of layer: Layer, at index: Int, in whole: PlotSeries) -> Double {
        let surplus = max(0, (self.layers.map(\.shares.count).max() ?? 0) - whole.values.count)
        let place = index + surplus
        guard place < layer.shares.count, let share = layer.shares[place], share.isFinite else { return 0 }
        return min(max(share, 0), 1)
    }

    private static func band(
        _ run: Range<Int>, _ floor: [Double], _ ceiling: [Double], _ whole: PlotSeries, _ frame: PlotFrame, tone: Int
    ) -> Markup {
        func x(_ index: Int) -> String { PlotFrame.number(frame.x(whole.time(of: index))) }
        func y(_ value: Double) -> String { PlotFrame.number(frame.y(value)) }
        let over = run.map { "\(x($0)),\(y(ceiling[$0]))H\(x($0 + 1))" }.joined(separator: "L")
        let under = run.reversed().map { "\(x($0 + 1)),\(y(floor[$0]))H\(x($0))" }.joined(separator: "L")
        return "<path class=\"band tone-\(tone)\" d=\"M\(over)L\(under)Z\"/>"
    }
}
