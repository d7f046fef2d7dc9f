// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinningTesting
import Testing

@testable import PinListSimulation

@Suite("Real clients and simulated ones")
struct RealClientTests {
    private static let seed: UInt64 = 7
    private static let clients = 200

    /// A rotation with an outage of the lists, an unannounced key, a suspension and a rollout.
    private static func scenario(_ openings: [[Int64]]) -> Scenario {
        var scenario = Scenario(clients: Self.clients, opened: .trace(OpeningTrace(openings)))
        scenario.days = 12
        scenario.session = TimeSpan(seconds: 720)
        scenario.outages = [Scenario.Outage(from: TimeSpan(seconds: 86_400), for: TimeSpan(seconds: 43_200))]
        func at(_ hours: Int64, _ change: Scenario.Change) -> Scenario.Event {
            Scenario.Event(at: TimeSpan(seconds: hours * 3_600), change)
        }
        scenario.events = [
            at(20, .publish(pins: ["old", "next"])), at(30, .rollout(percent: 40)), at(60, .switchTo("next")),
            at(96, .switchTo("unplanned")), at(104, .suspend(TimeSpan(seconds: 36_000))),
            at(110, .publish(pins: ["next", "unplanned"])), at(168, .rollout(percent: 100)),
            at(200, .switchTo("strange")), at(206, .switchTo("unplanned")), at(240, .publish(pins: ["unplanned"])),
        ]
        return scenario
    }

    /// About one opening in nine hours, none in the last minute before an hour: two mismatches within ten seconds are
    /// nothing that the real clients are driven through here.
    private static var openings: [[Int64]] {
        var generator = SeededGenerator(seed: 3)
        return (0..<Self.clients).map { _ in
            var moment: Int64 = 0
            var openings: [Int64] = []
            while moment < 12 * 86_400 {
                moment += Int64(truncatingIfNeeded: generator.next() % 64_800)
                openings.append(moment % 3_600 > 3_540 ? moment + 60 : moment)
            }
            return openings
        }
    }

    @Test("200 real clients and 200 simulated ones come to the same, list by list and hour by hour")
    func of200RealClientsAnd200SimulatedOnesComeToTheSameListByListAndHourByHour() async throws {
        let openings = Self.openings
        let scenario = Self.scenario(openings)
        let simulation = try Simulation(scenario, seed: Self.seed)
        let tally = try simulation.tally(of: 0..<Self.clients)
        let answer = simulation.answer(from: tally)

        let world = try PublishedWorld(scenario)
        var stories: [RealClient.Story] = []
        for client in 0..<Self.clients {
            let real = RealClient(world, seed: Self.seed, client: client)
            stories.append(
                try await real.run(openings: openings[client], session: 720, horizon: 12 * 86_400))
        }
        #expect(answer.series.count == 12 * 24)
        for (hour, step) in answer.series.enumerated() {
            let begin = Int64(hour) * 3_600
            var holding: [String: Int] = [:]
            for version in 1...world.lists.count where world.lists[version - 1].at <= begin {
                holding["\(version)"] = 0
            }
            for story in stories { holding["\(story.lists.last { $0.at < begin }?.version ?? 1)", default: 0] += 1 }
            #expect(step.holding == holding, "hour \(hour)")
            #expect(step.refused == stories.count { $0.refusedHours.contains(Int64(hour)) }, "hour \(hour)")
            #expect(step.suspended == stories.count { $0.suspendedHours.contains(Int64(hour)) }, "hour \(hour)")
        }
        #expect(tally.requests.reduce(0, +) == stories.map(\.requests).reduce(0, +))
        // The story has what is to be compared.
        #expect(answer.peak.refused > 10)
        #expect(answer.series.contains { $0.suspended > 0 })
        #expect(answer.series.contains { $0.holding.values.count { $0 > 0 } > 2 })
        #expect(tally.reports > 100)
    }
}
