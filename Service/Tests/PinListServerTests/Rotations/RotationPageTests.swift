// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOHTTP1
import PinListMetadata
import PinRotation
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("The page of rotations")
struct RotationPageTests {
    private static let host = "api.example.com"

    private func html(_ page: some DashboardPage) throws -> String {
        String(decoding: try Dashboard().render(page, in: Story.frame), as: UTF8.self)
    }

    @Test("says where each stands, by when it goes on, what was forced, and the plot in words and as a table")
    func saysWhereEachStandsByWhenItGoesOnWhatWasForcedAndThePlotInWordsAndAsATable() throws {
        let html = try self.html(Story.rotationsPage)
        #expect(html.contains("<bdi>announced</bdi>"))
        #expect(html.contains("3 entries are concerned"))
        #expect(html.contains("<tr><th scope=\"row\"><bdi>earliest switch</bdi></th>"))
        #expect(html.contains("the old key was in a backup"))
        #expect(html.contains("was stored by a later version"))
        // One is overdue, the other is not.
        #expect(html.components(separatedBy: " was planned for ").count == 2)
        // Two plots, each with its words; the curve of one of them as a table with a gap that is none.
        #expect(html.components(separatedBy: "role=\"img\" aria-labelledby=\"rotation-").count == 3)
        #expect(html.contains("Share of active installations that know the new key: not measured."))
        #expect(html.components(separatedBy: "<td class=\"number\">not measured</td>").count == 4)
        #expect(html.contains("href=\"/rotations?list=com.example.bank\" aria-current=\"page\""))
        #expect(try self.html(Story.hostsPage).contains("/rotations?list=com.example.bank&amp;host=api.bank.example"))
    }

    @Test("a plot has a line for what happened, another for what is planned, and one for now")
    func plotHasALineForWhatHappenedAnotherForWhatIsPlannedAndOneForNow() {
        let plot = RotationPlot(
            id: "r", title: "t",
            events: [
                .init(label: "announced", time: Timestamp(secondsSince1970: 0), isDone: true),
                .init(label: "old key retired", time: Timestamp(secondsSince1970: 1_000), isDone: false),
            ],
            adoption: PlotSeries(start: Timestamp(secondsSince1970: 0), step: 250, values: [0.5, nil]),
            now: Timestamp(secondsSince1970: 500))
        let html = plot.svg.html
        #expect(html.contains("<line class=\"event done\" x1=\"0\" x2=\"0\" y1=\"0\" y2=\"100\"/>"))
        #expect(html.contains("<line class=\"event\" x1=\"1000\" x2=\"1000\" y1=\"0\" y2=\"100\"/>"))
        #expect(html.contains("<line class=\"event today\" x1=\"500\" x2=\"500\" y1=\"0\" y2=\"100\"/>"))
        #expect(html.contains("<path class=\"line\" d=\"M0,50H250\"/>"))
        #expect(html.contains("<rect class=\"gap\" x=\"250\""))
        // Where the values' ticks stand a label makes room for them.
        #expect(html.contains("dx=\"38\" dy=\"4\" text-anchor=\"start\">announced</text>"))
        #expect(html.contains("dx=\"0\" dy=\"4\" text-anchor=\"end\">old key retired (planned)</text>"))
        #expect(plot.description.hasSuffix("know the new key: not measured."))
    }

    @Test("a rotation that ended before its switch does not say that the switch was done")
    func rotationThatEndedBeforeItsSwitchDoesNotSayThatTheSwitchWasDone() throws {
        let now = Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + 90 * 86_400)
        func labels(_ states: [RotationState]) throws -> [String] {
            DashboardPages.shown(
                try RotationPlan.story(Self.host, states), due: nil, seen: [], curve: nil, at: now
            ).events.map(\.label)
        }
        #expect(try labels([.announced, .aborted]) == ["announced", "aborted"])
        #expect(try labels([.announced]) == ["announced", "earliest switch", "old key retired"])
    }

    @Test("a plan of 512 forced steps with long reasons does not flood the page: the last ones are shown, and said")
    func planOf512ForcedStepsWithLongReasonsDoesNotFloodThePageTheLastOnesAreShown() throws {
        let back = (0..<254).flatMap { _ in [RotationState.ready, .announced] }
        let states = [.announced] + back + [.ready, .aborted]
        var plan = try RotationPlan.story(Self.host)
        for (index, state) in states.enumerated() {
            let reason = "<reason \(index)>" + String(repeating: "&", count: 400)
            try plan.enter(RotationStep(state, at: plan.since, forced: reason))
        }
        let shown = DashboardPages.shown(plan, due: nil, seen: [], curve: nil, at: TurnedClock.start)
        #expect(shown.forced.count == 511)
        let html = try self.html(RotationsPage(rotations: [shown], total: 1, unreadable: [], isFiltered: false))
        #expect(html.contains("495 earlier ones are not shown."))
        #expect(html.contains("reason 510"))
        #expect(!html.contains("reason 494"))
        #expect(html.utf8.count < 200_000)
    }

    @Test("plans whose steps are at the ends of time, or all at one moment, are drawn within the plot")
    func plansWhoseStepsAreAtTheEndsOfTimeOrAllAtOneMomentAreDrawnWithinThePlot() throws {
        for (text, now) in [
            ("0000-01-01T00:00:00Z", TurnedClock.start), ("9999-12-31T23:59:59Z", TurnedClock.start),
            ("1969-12-31T23:59:59Z", TurnedClock.start),
            ("2026-11-20T00:00:00Z", try Timestamp("2026-11-20T00:00:00Z")),
        ] {
            let time = try Timestamp(text)
            let events = ["announced", "earliest switch", "old key retired"].map {
                RotationPlot.Event(label: $0, time: time, isDone: true)
            }
            let plot = RotationPlot(id: "r", title: "t", events: events, adoption: nil, now: now)
            let lines = plot.svg.html.components(separatedBy: "<line class=\"event").dropFirst()
            #expect(lines.count == 4, "\(text)")
            for line in lines {
                let place = line.components(separatedBy: "x1=\"").dropFirst().first?.prefix { $0 != "\"" }
                let x = try #require(place.flatMap { Double($0) })
                #expect((0...1_000).contains(x), "\(text)")
            }
            #expect(plot.description.contains(text.prefix(10)))
        }
    }

    @Test("the service draws what was pushed, with the curve of those who hold the announced list")
    func serviceDrawsWhatWasPushedWithTheCurveOfThoseWhoHoldTheAnnouncedList() async throws {
        var simulator = try RepositorySimulator.story([try .pinned(Self.host)])
        let second = try simulator.publishList { _ in }
        let repository = simulator
        let clock = TurnedClock()
        let plan = try RotationPlan.story(Self.host, [.announced]).stored()
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            for envelopes in [[repository.roots[0], repository.lists[0]], [second]] {
                _ = try await Publisher(store: store, anchors: repository.anchors).publish(
                    envelopes, name: "com.example.app", by: "cli", at: TurnedClock.start)
            }
            clock.turn(by: 3 * 86_400)
            let hour = clock.now.hour
            try await store.write { store in
                #expect(try store.put(plan, if: .absent) == .stored(isNew: true))
                func held(_ list: [UInt8], _ count: Int64) throws {
                    let digest = Envelope.digest(of: list)
                    try store.add([
                        ListRequestKey(name: "com.example.app", hour: hour, source: .installation, digest: digest):
                            count
                    ])
                }
                try held(repository.lists[0], 250)
                try held(second, 750)
            }
            try await RunningService.with(store, clock: clock, { $0.roots = repository.anchors }) { service in
                let page = try await service.ask(.GET, "/rotations").text
                #expect(page.contains("<bdi>announced</bdi>"))
                #expect(page.contains("Share of active installations that know the new key: 75 %."))
                #expect(try await service.ask(.GET, "/rotations?host=\(Self.host)").text.contains("All rotations"))
                let other = try await service.ask(.GET, "/rotations?host=other.example.com").text
                #expect(other.contains("No plan was pushed"))
                let hosts = try await service.ask(.GET, "/hosts").text
                #expect(hosts.contains("<a href=\"/rotations?host=api.example.com\">Rotation: "))
            }
        }
    }
}
