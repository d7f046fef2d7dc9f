// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListServer
@testable import PinReportAnalysis

@Suite("A plot")
struct PlotTests {
    private func series(_ values: [Double?], step: Int = 3_600) -> PlotSeries {
        PlotSeries(start: Timestamp(secondsSince1970: 1_795_219_200), step: step, values: values)
    }

    private func plot(_ values: [Double?]) -> String {
        StepPlot(id: "p", title: "Title", unit: "Reports in each hour", series: self.series(values)).svg.html
    }

    @Test("the plot of adoption begins where the list began: no empty windows stand before it")
    func plotOfAdoptionBeginsWhereTheListBegan() {
        func windows(_ measuredFrom: Int) -> [WindowCount] {
            (0..<56).map { index in
                let hour = Story.now.hour - 55 + Int64(index)
                let key = ListRequestKey(name: "a", hour: hour, source: .installation, digest: "d")
                return WindowCount(index >= measuredFrom ? [key: 100] : [:], hours: hour...hour, ["d": 1])
            }
        }
        let young: [Int64: Timestamp] = [1: Story.ago(5 * 3_600), 2: Story.ago(60)]
        #expect(DashboardPages.first(of: windows(50), 1, young, Story.now) == 50)
        #expect(DashboardPages.first(of: windows(54), 1, young, Story.now) == 50)
        // Further back than the plot, or not known: from the first that was measured.
        #expect(DashboardPages.first(of: windows(30), 1, [1: Story.ago(90 * 3_600)], Story.now) == 30)
        #expect(DashboardPages.first(of: windows(0), 1, [1: Story.ago(90 * 3_600)], Story.now) == 0)
        let many = Dictionary(uniqueKeysWithValues: (1...50).map { (Int64($0), Story.ago(60)) })
        #expect(DashboardPages.first(of: windows(30), 1, many, Story.now) == 30)
        #expect(DashboardPages.first(of: windows(56), 1, [:], Story.now) == 0)
    }

    @Test(
        "ends at a round number that no value exceeds",
        arguments: [
            (0, 1, 1), (1, 1, 1), (3, 3, 1), (4, 4, 1), (5, 6, 2), (9, 10, 5), (42, 60, 20), (100, 100, 25),
            (911, 1_000, 250),
            (1_001, 1_500, 500), (1e9, 1e9, 2.5e8), (.nan, 1, 1), (-3, 1, 1), (.infinity, 1, 1),
        ] as [(Double, Double, Double)])
    func endsAtARoundNumberThatNoValueExceeds(maximum: Double, top: Double, step: Double) {
        let scale = NiceScale(maximum: maximum)
        #expect(scale.top == top)
        #expect(scale.step == step)
        #expect(scale.ticks.count <= 6)
        #expect(scale.ticks.last == top)
    }

    @Test("of the largest number there is still has an axis")
    func ofTheLargestNumberThereIsStillHasAnAxis() {
        let scale = NiceScale(maximum: .greatestFiniteMagnitude)
        #expect(scale.top.isFinite)
        #expect(scale.ticks.count <= 6)
        #expect(NiceScale(maximum: 1, wholeNumbers: false).ticks == [0, 0.25, 0.5, 0.75, 1])
    }

    @Test(
        "has its ticks on whole hours, days, Mondays and months",
        arguments: [
            (600, ["12:00", "12:05", "12:10"]),
            (6 * 3_600, ["12:00", "13:00", "14:00", "15:00", "16:00", "17:00", "18:00"]),
            (36 * 3_600, ["12:00", "18:00", "22 Nov", "06:00", "12:00", "18:00", "23 Nov"]),
            (5 * 86_400, ["22 Nov", "23 Nov", "24 Nov", "25 Nov", "26 Nov"]),
            (30 * 86_400, ["23 Nov", "30 Nov", "7 Dec", "14 Dec", "21 Dec"]),
            (200 * 86_400, ["Dec 2026", "Jan 2027", "Feb 2027", "Mar 2027", "Apr 2027", "May 2027", "Jun 2027"]),
            (0, []), (-5, []),
        ] as [(Int64, [String])])
    func hasItsTicksOnWholeHoursDaysMondaysAndMonths(length: Int64, labels: [String]) throws {
        let start = try Timestamp("2026-11-21T12:00:00Z")
        let end = Timestamp(secondsSince1970: start.secondsSince1970 + length)
        #expect(TimeAxis(from: start, to: end).ticks.map(\.label) == labels)
    }

    @Test("of times that cannot be has no ticks, and does not trap")
    func ofTimesThatCannotBeHasNoTicksAndDoesNotTrap() {
        let (first, last) = (Timestamp(secondsSince1970: .min), Timestamp(secondsSince1970: .max))
        #expect(TimeAxis(from: first, to: last).ticks.isEmpty)
        #expect(TimeAxis(from: Timestamp(secondsSince1970: 0), to: last).ticks.count <= 12)
        let absurd = PlotSeries(start: last, step: .max, values: [1, 2, 3])
        #expect(!StepPlot(id: "p", title: "", unit: "", series: absurd).svg.html.contains("nan"))
    }

    @Test("draws a value for its whole window")
    func drawsAValueForItsWholeWindow() {
        let html = self.plot([0, 2, 4, 4])
        #expect(html.contains("<path class=\"line\" d=\"M0,100H250L250,50H500L500,0H750L750,0H1000\"/>"))
        #expect(
            html.contains("<path class=\"area\" d=\"M0,100L0,100H250L250,50H500L500,0H750L750,0H1000L1000,100Z\"/>"))
    }

    @Test("shows what was not measured as a gap, and not as zero")
    func showsWhatWasNotMeasuredAsAGapAndNotAsZero() {
        let html = self.plot([4, nil, nil, 4])
        #expect(html.contains("<rect class=\"gap\" x=\"250\" y=\"0\" width=\"500\" height=\"100\"/>"))
        #expect(html.contains("d=\"M0,0H250\""))
        #expect(html.contains("d=\"M750,0H1000\""))
        #expect(html.contains("2 windows were not measured"))
        #expect(self.plot([nil, nil]).contains(">not measured</text>"))
        #expect(self.plot([.nan, -1, .infinity]).contains(">not measured</text>"))
        #expect(self.plot([]).contains(">not measured</text>"))
        #expect(self.plot([0, 0]).contains(">none</text>"))
        #expect(!self.plot([0, 0]).contains("class=\"gap\""))
    }

    @Test("says in words what it shows")
    func saysInWordsWhatItShows() {
        let html = self.plot([1, 1_500, 3])
        #expect(html.contains("role=\"img\" aria-labelledby=\"p-title p-desc\""))
        #expect(
            html.contains(
                "Reports in each hour, from 2026-11-21 00:00 to 2026-11-21 03:00 UTC. Most: 1.5 k, from "
                    + "2026-11-21 01:00. Newest: 3.</desc>"))
    }

    @Test("of shares lays one upon another, labels those that have room, and leaves gaps")
    func ofSharesLaysOneUponAnotherLabelsThoseThatHaveRoomAndLeavesGaps() {
        let plot = SharePlot(
            id: "s", title: "Shares", start: Timestamp(secondsSince1970: 0), step: 60,
            layers: [
                .init(label: "2", shares: [0, nil, 0.75]), .init(label: "1", shares: [1, nil, 0.2]),
                .init(label: "0", shares: [0, nil, 0.05]),
            ])
        let html = plot.svg.html
        #expect(html.contains("<path class=\"band tone-0\" d=\"M666.67,25H1000L1000,100H666.67Z\"/>"))
        #expect(html.contains("<path class=\"band tone-1\" d=\"M666.67,5H1000L1000,25H666.67Z\"/>"))
        #expect(html.contains("2 · 75 %</text>"))
        #expect(!html.contains("0 · 5 %</text>"))
        #expect(html.contains("class=\"gap\" x=\"333.33\""))
        #expect(plot.description.hasSuffix("the newest: 2 75 %, 1 20 %, 0 5 %."))
    }

    @Test("in a line is one outline, with the newest window marked")
    func inALineIsOneOutlineWithTheNewestWindowMarked() {
        let html = Sparkline(description: "d", series: self.series([0, 4, 4, nil, 2]), usual: 2).svg.html
        #expect(html.contains("<path class=\"bars\" d=\"M0,30V30H1V2H3V30H4V30Z\"/>"))
        #expect(html.contains("<path class=\"bars newest\" d=\"M4,30V16H5V30Z\"/>"))
        #expect(html.contains("<line class=\"usual\" x1=\"0\" x2=\"5\" y1=\"16\" y2=\"16\"/>"))
        #expect(html.contains("<rect class=\"gap\" x=\"3\""))
        #expect(
            Sparkline(description: "", series: self.series([]), marked: 9).svg.html.contains("viewBox=\"0 0 1 30\""))
    }

    @Test("with more windows than are drawn keeps the newest, and sums what it merges")
    func withMoreWindowsThanAreDrawnKeepsTheNewestAndSumsWhatItMerges() {
        let long = self.series(Array(repeating: 1, count: 5_000))
        #expect(long.values.count == PlotSeries.maximumWindows)
        #expect(long.end.secondsSince1970 == 1_795_219_200 + 5_000 * 3_600)
        let merged = self.series([9, 1, 2, nil, nil, 5, 6]).merged(toAtMost: 3)
        #expect(merged.values == [3, 11])
        #expect(merged.step == 3 * 3_600)
        #expect(merged.end == self.series([9, 1, 2, nil, nil, 5, 6]).end)
    }

    @Test("of a bar is never longer than its axis")
    func ofABarIsNeverLongerThanItsAxis() {
        #expect(BarRow(value: 50, top: 200, tone: .soon).svg.html.contains("class=\"fill soon\" width=\"25\""))
        #expect(BarRow(value: 500, top: 200, tone: .now).svg.html.contains("width=\"100\" height=\"6\"/></svg>"))
        for value in [Double.nan, .infinity, -1] {
            #expect(BarRow(value: value, top: 1, tone: .calm).svg.html.contains("class=\"fill calm\" width=\"0\""))
        }
    }

    @Test("the caption of a chart of multiplied reports")
    func captionOfAChartOfMultipliedReports() {
        #expect(ReportRate.caption([]).isEmpty && ReportRate.caption([1]).isEmpty)
        #expect(ReportRate.caption([100]) == "Multiplied by 100, for one in 100 installations reports.")
        #expect(
            ReportRate.caption([1, 2.5])
                == "Multiplied by up to 2.5, for as few as one in 2.5 installations reports.")
        #expect(ReportRate.words(1_000_000).isEmpty && ReportRate.words(10_000) == "one in 100 installations reports")
    }
}
