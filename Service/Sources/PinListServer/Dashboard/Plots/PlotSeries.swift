// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinReportAnalysis

/// Values counted in windows of equal length, one after another.
struct PlotSeries: Hashable, Sendable {
    /// The maximum number of windows that are drawn; of longer series the newest.
    static let maximumWindows = 2_000

    /// The time at which the first window begins.
    let start: Timestamp
    /// The length of a window, in seconds.
    let step: Int
    /// One value a window; `nil` where nothing was measured, which is drawn as a gap and never as zero.
    let values: [Double?]

    /// A series; values that are no numbers or negative count as not measured.
    init(start: Timestamp, step: Int, values: [Double?]) {
        let step = max(1, step)
        let surplus = max(0, values.count - Self.maximumWindows)
        self.start = Timestamp(secondsSince1970: start.secondsSince1970 &+ Int64(surplus) &* Int64(step))
        self.step = step
        self.values = values.dropFirst(surplus).map { value in
            guard let value, value.isFinite, value >= 0 else { return nil }
            return value
        }
    }

    /// The time at which the last window ends.
    var end: Timestamp {
        Timestamp(secondsSince1970: self.start.secondsSince1970 &+ Int64(self.step) &* Int64(self.values.count))
    }

    /// The largest value; zero when there is none.
    var maximum: Double { self.values.compactMap { $0 }.max() ?? 0 }

    /// The time at which a window begins.
    func time(of index: Int) -> Timestamp {
        Timestamp(secondsSince1970: self.start.secondsSince1970 &+ Int64(self.step) &* Int64(index))
    }

    /// The windows without a value, as ranges.
    var gaps: [Range<Int>] { Self.runs(self.values.map { $0 == nil }) }

    /// The windows with a value, as ranges.
    var measured: [Range<Int>] { Self.runs(self.values.map { $0 != nil }) }

    /// The same in fewer, longer windows: the sums of what was measured; the oldest windows that fill none are left out.
    func merged(toAtMost maximum: Int) -> PlotSeries {
        let maximum = max(1, maximum)
        guard self.values.count > maximum else { return self }
        let length = (self.values.count + maximum - 1) / maximum
        let skipped = self.values.count % length
        let sums = stride(from: skipped, to: self.values.count, by: length).map { from -> Double? in
            let measured = self.values[from..<(from + length)].compactMap { $0 }
            return measured.isEmpty ? nil : measured.reduce(0, +)
        }
        return PlotSeries(start: self.time(of: skipped), step: self.step * length, values: sums)
    }

    /// The hours of a day: what a series of hours shows while there is less.
    static let day = 24

    /// Whether windows before the newest of a day hold something.
    var reachesBeyondDay: Bool { self.values.dropLast(Self.day).contains { ($0 ?? 0) > 0 } }

    /// The newest windows.
    func newest(_ count: Int) -> PlotSeries {
        let surplus = max(0, self.values.count - max(1, count))
        return PlotSeries(start: self.time(of: surplus), step: self.step, values: Array(self.values.dropFirst(surplus)))
    }

    private static func runs(_ flags: [Bool]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for (index, flag) in flags.enumerated() where flag {
            if let last = runs.last, last.upperBound == index {
                runs[runs.count - 1] = last.lowerBound..<(index + 1)
            } else {
                runs.append(index..<(index + 1))
            }
        }
        return runs
    }
}

extension PlotSeries {
    /// The number of windows of a table.
    private static let maximumRows = 48

    /// The same as a table: the newest windows, each with its time and count.
    var rows: [View] {
        self.values.indices.reversed().prefix(Self.maximumRows).map { index in
            View([
                "time": "\(TimeText.minute(self.time(of: index)))",
                "count": .markup(self.values[index].map { "\(NumberText.short($0))" } ?? "not measured"),
            ])
        }
    }
}

/// A bar in a row of a table: so much of so much.
struct BarRow: Sendable {
    /// The colour of the row; the words beside it say the same.
    enum Tone: String, Sendable {
        /// No action is needed.
        case calm
        /// Soon something to do.
        case soon
        /// An action is needed now.
        case now
    }

    /// The length of the bar.
    let value: Double
    /// The end of the axis.
    let top: Double
    /// Its colour.
    let tone: Tone

    /// The bar. It is decoration: the row says the number.
    var svg: Markup {
        let share = self.value.isFinite && self.top.isFinite && self.top > 0 ? self.value / self.top : 0
        let width = NumberText.decimal(min(max(share, 0), 1) * 100, places: 1)
        return """
            <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">\
            <rect class="track" width="100" height="6"/><rect class="fill \(self.tone.rawValue)" width="\(width)" \
            height="6"/></svg>
            """
    }
}

extension HourGrid {
    /// The series of numbers by window, the first one's being 0.
    ///
    /// - Parameter more: The numbers that are added, where counts stand for more (``ReportRate``).
    func series(_ counts: [Int64: Int64], adding more: [Int64: Double] = [:]) -> PlotSeries {
        PlotSeries(
            start: Timestamp(secondsSince1970: self.start * 3_600), step: Int(self.step * 3_600),
            values: (0..<self.count).map { Double(counts[$0] ?? 0) + (more[$0] ?? 0) })
    }
}
