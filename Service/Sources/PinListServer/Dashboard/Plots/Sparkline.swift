// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A series in the height of a line of text: a bar for each window, the newest one marked, and a line at what is usual.
struct Sparkline: Sendable {
    /// The description in words, for those who do not see it.
    let description: String
    /// The values.
    let series: PlotSeries
    /// The usual value: the mean of the week, when it is known.
    var usual: Double?
    /// The end of the axis, so that several can be compared; the largest value when it is not given.
    var top: Double?
    /// The number of newest windows that are marked.
    var marked = 1

    /// The drawing.
    var svg: Markup {
        let count = max(1, self.series.values.count)
        let old = max(0, count - max(0, self.marked))
        let top = max(self.top ?? self.series.maximum, self.usual ?? 0)
        func height(_ value: Double) -> Double { top > 0 ? min(value / top, 1) * 28 : 0 }
        var usualLine: Markup = ""
        if let usual = self.usual, usual.isFinite, usual >= 0, top > 0 {
            let y = NumberText.decimal(30 - height(usual), places: 2)
            usualLine = "<line class=\"usual\" x1=\"0\" x2=\"\(count)\" y1=\"\(y)\" y2=\"\(y)\"/>"
        }
        let gaps = self.series.gaps.map { gap -> Markup in
            "<rect class=\"gap\" x=\"\(gap.lowerBound)\" y=\"0\" width=\"\(gap.count)\" height=\"30\"/>"
        }
        return """
            <svg class="spark" viewBox="0 0 \(count) 30" preserveAspectRatio="none" role="img" \
            aria-label="\(self.description)">\(Markup.join(gaps))\
            <path class="bars" d="\(self.bars(0..<old, height))"/>\
            <path class="bars newest" d="\(self.bars(old..<count, height))"/>\
            \(usualLine)<line class="base" x1="0" x2="\(count)" y1="30" y2="30"/></svg>
            """
    }

    /// One outline around bars beside each other: pages hold hundreds of these.
    private func bars(_ windows: Range<Int>, _ height: (Double) -> Double) -> String {
        var path = ""
        var level = ""
        for index in windows where self.series.values.indices.contains(index) {
            let value = self.series.values[index] ?? 0
            // One report is to be seen beside thousands.
            let y = value > 0 ? NumberText.decimal(30 - max(1.5, height(value)), places: 1) : "30"
            if y == level { continue }
            path += level.isEmpty ? "M\(index),30V\(y)" : "H\(index)V\(y)"
            level = y
        }
        return level.isEmpty ? "M0,30" : path + "H\(windows.upperBound)V30Z"
    }
}
