// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The frame of all plots over time: how a place becomes a coordinate, the grid, the ticks, and the words for those who
/// do not see it.
///
/// The drawing stretches with the page and its text does not: coordinates in the drawing are shares of 1,000 by 100,
/// text stands at percentages of the width.
struct PlotFrame: Sendable {
    /// The width of the drawing, in its own units.
    static let width = 1_000.0
    /// The height of the drawing, in its own units.
    static let height = 100.0
    /// Room above the drawing, in pixels: the topmost label stands there.
    private static let top = 14
    /// Room below the drawing, in pixels: the ticks of the time stand there.
    private static let bottom = 22
    /// Room beside the left edge, in pixels: the ticks of the values stand there.
    private static let tickRoom = 38

    /// Unique on the page; letters, digits and hyphens.
    let id: String
    /// The title, in a few words.
    let title: String
    /// The description of the plot, in a sentence.
    let description: String
    /// The height of the drawing on the page, in pixels.
    let pixels: Int
    /// The beginning of the axis.
    let start: Timestamp
    /// The end of the axis.
    let end: Timestamp
    /// The values.
    let scale: NiceScale
    /// The label of a tick.
    let tickLabel: @Sendable (Double) -> String

    /// A time's place, from 0 to ``width``.
    func x(_ time: Timestamp) -> Double {
        let length = Double(self.end.secondsSince1970) - Double(self.start.secondsSince1970)
        guard length > 0 else { return 0 }
        let share = (Double(time.secondsSince1970) - Double(self.start.secondsSince1970)) / length
        return min(max(share, 0), 1) * Self.width
    }

    /// A value's place, from ``height`` for zero to 0 for the top.
    func y(_ value: Double) -> Double {
        Self.height * (1 - min(max(value / self.scale.top, 0), 1))
    }

    /// The whole plot around a drawing.
    ///
    /// - Parameters:
    ///   - drawing: The drawing, in units of ``width`` and ``height``.
    ///   - labels: Text over the drawing, as ``label(_:at:value:anchor:kind:)`` makes it.
    func svg(_ drawing: Markup, labels: Markup = "") -> Markup {
        let height = Self.top + self.pixels + Self.bottom
        let grid = Markup.join(
            self.scale.ticks.map { tick in
                let y = Self.number(self.y(tick))
                return "<line class=\"grid\" x1=\"0\" x2=\"1000\" y1=\"\(y)\" y2=\"\(y)\"/>"
            })
        let values = Markup.join(
            self.scale.ticks.dropFirst().map { tick in
                "<text class=\"tick\" x=\"0\" y=\"\(self.pixel(tick) - 3)\">\(self.tickLabel(tick))</text>"
            })
        return """
            <svg class="plot" width="100%" height="\(height)" role="img" \
            aria-labelledby="\(self.id)-title \(self.id)-desc">\
            <title id="\(self.id)-title">\(self.title)</title><desc id="\(self.id)-desc">\(self.description)</desc>\
            <svg x="0" y="\(Self.top)" width="100%" height="\(self.pixels)" viewBox="0 0 1000 100" \
            preserveAspectRatio="none">\(grid)\(drawing)</svg>\(values)\(self.times)\(labels)</svg>
            """
    }

    /// A text at a time and a value; one that begins at the left edge stands beside the values' ticks.
    func label(_ text: String, at time: Timestamp, value: Double, anchor: String, kind: String) -> Markup {
        let share = self.x(time) / Self.width * 100
        let (x, y) = (Self.number(share), self.pixel(value))
        let indent = share < 4 && anchor == "start" ? Self.tickRoom : 0
        return """
            <text class="\(kind)" x="\(x)%" y="\(y)" dx="\(indent)" dy="4" text-anchor="\(anchor)">\(text)</text>
            """
    }

    private var times: Markup {
        let ticks = TimeAxis(from: self.start, to: self.end).ticks
        return Markup.join(
            ticks.enumerated().map { index, tick in
                let share = self.x(tick.time) / Self.width * 100
                // Every second tick goes away where the page is narrow; one at an edge keeps its text inside.
                let kind = index % 2 == 0 ? "tick" : "tick second"
                let anchor = share < 4 ? "start" : share > 96 ? "end" : "middle"
                let y = Self.top + self.pixels + 16
                return """
                    <text class="\(kind)" x="\(Self.number(share))%" y="\(y)" text-anchor="\(anchor)">\(tick.label)</text>
                    """
            })
    }

    private func pixel(_ value: Double) -> Int {
        Self.top + (Int(exactly: (self.y(value) / Self.height * Double(self.pixels)).rounded()) ?? 0)
    }

    /// A coordinate: at most two decimals.
    static func number(_ value: Double) -> String { NumberText.decimal(value, places: 2) }
}
