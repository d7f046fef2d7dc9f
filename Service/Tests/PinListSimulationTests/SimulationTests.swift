// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListSimulation

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("The simulation")
struct SimulationTests {
    private static func scenario(_ clients: Int = 20_000) throws -> Scenario {
        var scenario = try ScenarioText.read(ScenarioText.example)
        scenario.clients = clients
        scenario.sharesFateWith = nil
        return scenario
    }

    @Test("the same seed gives the same answer, in one part or in many, and another seed another one")
    func sameSeedGivesTheSameAnswerInOnePartOrInManyAndAnotherSeedAnotherOne() throws {
        let simulation = try Simulation(try Self.scenario(4_000), seed: 1)
        let whole = try simulation.tally(of: 0..<4_000)
        let again = try simulation.tally(of: 0..<4_000)
        var parts = try simulation.tally(of: 3_000..<4_000)
        parts += try simulation.tally(of: 0..<3_000)
        let other = try Simulation(try Self.scenario(4_000), seed: 2).tally(of: 0..<4_000)
        // As truth values: a tally is a megabyte of text.
        let isSame = (again == whole, parts == whole, other == whole)
        #expect(isSame == (true, true, false))
        #expect(simulation.parts(3).map(\.count).reduce(0, +) == 4_000)
        #expect(simulation.parts(30_000).map(\.count).reduce(0, +) == 4_000)
    }

    @Test("with one opening enough, the share that is not reached is (scale / (scale + t)) ^ shape")
    func withOneOpeningEnoughTheShareThatIsNotReachedIsScaleScaleTShape() throws {
        // 250,000 draws: a share is off by 0.001 with one chance in three. The seed decides that, so it stays as it is.
        for (shape, scale, clients, seed) in [
            (0.65, 2.6, 250_000, 2), (2.0, 10.0, 150_000, 1),
        ] as [(Double, Double, Int, UInt64)] {
            var scenario = Scenario(
                clients: clients,
                opened: .gammaPoisson(shape: shape, scale: try #require(TimeSpan("\(scale)d"))))
            scenario.days = 61
            scenario.events = [Scenario.Event(at: TimeSpan(days: 0), .publish(pins: ["old", "new"]))]
            let answer = try Simulation(scenario, seed: seed).answer()
            #expect(answer.reached.map(\.at) == ["1d", "7d", "14d", "30d", "60d", "61d"])
            for (reached, days) in zip(answer.reached, [1.0, 7, 14, 30, 60]) {
                let expected = 1 - pow(scale / (scale + days), shape)
                #expect(abs(reached.share - expected) < 0.002, "\(reached) \(expected)")
            }
        }
    }

    @Test("on each day so many installations are opened as the daily share says")
    func onEachDaySoManyInstallationsAreOpenedAsTheDailyShareSays() throws {
        var scenario = Scenario(clients: 50_000, opened: .daily(share: 0.2))
        scenario.days = 30
        let answer = try Simulation(scenario, seed: 1).answer()
        for day in 0..<30 {
            let opened = answer.series[day * 24..<(day + 1) * 24].map(\.opened).reduce(0, +)
            // A session that begins shortly before the hour is in two of them: 3 minutes of 60.
            #expect(abs(Double(opened) - 10_500) < 500, "day \(day): \(opened)")
        }
    }

    @Test("a rotation in the right order refuses no installation; the key before its list refuses those who are opened")
    func rotationInTheRightOrderRefusesNoInstallation() throws {
        func answer(_ text: String) throws -> SimulationAnswer {
            try Simulation(
                try ScenarioText.read(
                    "clients: 4000\nopened: {model: gamma-poisson, shape: 2, scale: 2d}\nevents: \(text)\n"),
                seed: 1
            ).answer()
        }
        let right = try answer("[{at: 0d, publish: {pins: [old, new]}}, {at: 300d, switch: new}]")
        #expect(right.peak.refused == 0)
        #expect(right.refusedClientHours == 0)
        #expect(right.neverRecovered == 0)
        #expect(right.publisher.reports == 0)

        let wrong = try answer("[{at: 10d, switch: new}, {at: 10d5h, publish: {pins: [new]}}]")
        #expect(wrong.peak.share > 0.9)
        #expect(wrong.peak.refused > wrong.clients / 100)
        #expect(wrong.series[..<240].allSatisfy { $0.refused == 0 })
        #expect(wrong.series[240..<245].allSatisfy { $0.refused == $0.opened })
        // An installation that is opened again gets the list and through, after one refusal.
        #expect(wrong.neverRecovered < wrong.clients / 100)

        let lost = try answer("[{at: 10d, switch: new}]")
        #expect(lost.neverRecovered > lost.clients * 9 / 10)
    }

    @Test("a suspension lets those through who have heard of it, and ends by itself")
    func suspensionLetsThoseThroughWhoHaveHeardOfItAndEndsByItself() throws {
        let text = "[{at: 10d, switch: new}, {at: 10d1h, suspend: {for: 3h}}]"
        let scenario = try ScenarioText.read(
            "clients: 20000\ndays: 12\nopened: {model: gamma-poisson, shape: 2, scale: 1d}\nevents: \(text)\n")
        let answer = try Simulation(scenario, seed: 1).answer()
        #expect(answer.series[240].suspended == 0)
        #expect(answer.series[241].suspended > 0)
        // Refused once, then through: the list is fetched after the mismatch.
        #expect(answer.series[243].suspended > answer.series[243].refused / 2)
        #expect(answer.series[244...].allSatisfy { $0.suspended == 0 })
        #expect(answer.series[245].refused == answer.series[245].opened)
    }

    @Test("out of the rollout no installation is refused, and all report")
    func outOfTheRolloutNoInstallationIsRefusedAndAllReport() throws {
        let text = "[{at: 0d, percent: 10}]\nevents: [{at: 20d, switch: new}]"
        let scenario = try ScenarioText.read(
            "clients: 5000\nopened: {model: gamma-poisson, shape: 2, scale: 1d}\nrollout: \(text)\n")
        let answer = try Simulation(scenario, seed: 1).answer()
        let share = Double(answer.neverRecovered) / 5_000
        #expect(abs(share - 0.1) < 0.02, "\(share)")
        #expect(answer.publisher.reports > 5_000)
    }

    @Test("an installation that gets lists from a host that shares the fate of the pinned one never recovers")
    func installationThatGetsListsFromAHostThatSharesTheFateOfThePinnedOneNeverRecovers() throws {
        let events = "events: [{at: 10d, switch: new}, {at: 10d5h, publish: {pins: [new]}}]"
        let start = "clients: 5000\nopened: {model: gamma-poisson, shape: 2, scale: 1d}\n"
        let shared = try Simulation(
            try ScenarioText.read(start + "listHost: {sharesFateWith: api.example.com}\n" + events), seed: 1
        ).answer()
        let own = try Simulation(try ScenarioText.read(start + events), seed: 1).answer()
        #expect(shared.neverRecovered > 4_500)
        #expect(own.neverRecovered < 50)
    }

    @Test("an installation that is refused while the host of the lists is down asks again by the backoff")
    func installationThatIsRefusedWhileTheHostOfTheListsIsDownAsksAgainByTheBackoff() throws {
        let clients = 100
        let hour: Int64 = 3_600
        var scenario = Scenario(clients: clients, opened: .trace(OpeningTrace([[hour - 600]])))
        scenario.days = 1
        scenario.session = TimeSpan(seconds: 2 * hour)
        scenario.events = [Scenario.Event(at: TimeSpan(seconds: hour), .switchTo("new"))]
        scenario.outages = [Scenario.Outage(from: TimeSpan(seconds: hour), for: TimeSpan(seconds: hour))]
        let tally = try Simulation(scenario, seed: 1).tally(of: 0..<clients)
        // After the first refusal, and before an app connects again: within 10 s, and then within 2 minutes.
        #expect(tally.requests[60..<65].reduce(0, +) >= 2 * clients)
    }

    @Test("lists that have expired are refused by those who do not hold them")
    func listsThatHaveExpiredAreRefusedByThoseWhoDoNotHoldThem() throws {
        let scenario = try ScenarioText.read(
            "clients: 5000\nvalidFor: 10d\nopened: {model: gamma-poisson, shape: 0.5, scale: 10d}\n"
                + "events: [{at: 0d, publish: {pins: [old, new]}}]\n")
        let answer = try Simulation(scenario, seed: 1).answer()
        let late = try #require(answer.reached.first { $0.at == "14d" })
        #expect(answer.reached.last?.share == late.share)
        #expect(late.share > 0.2 && late.share < 0.6)
    }

    @Test("a cache holds a list back for so long")
    func cacheHoldsAListBackForSoLong() throws {
        let start = "clients: 20000\nopened: {model: gamma-poisson, shape: 2, scale: 1d}\ndays: 3\n"
        let events = "events: [{at: 1h, publish: {pins: [old, new]}}]\n"
        let cached = try Simulation(try ScenarioText.read(start + "cache: 1d\n" + events), seed: 1).answer()
        #expect(cached.series[24].holding == ["1": 20_000, "2": 0])
        #expect((cached.series[25].holding["2"] ?? 0) > 0)
    }

    @Test("the kept numbers do not grow with the installations, and the steps grow as they are opened")
    func keptNumbersDoNotGrowWithTheInstallationsAndTheStepsGrowAsTheyAreOpened() throws {
        let few = try Simulation(try Self.scenario(100), seed: 1).tally(of: 0..<100)
        let many = try Simulation(try Self.scenario(), seed: 1).tally(of: 0..<20_000)
        #expect(few.kept == many.kept)
        // 90 days of a quarter of an opening, at most three steps each on average.
        #expect(many.steps > 20_000 * 90 / 8)
        #expect(many.steps < 20_000 * 90 * 3 / 4)
    }

    @Test("a scenario that would do too much is refused")
    func scenarioThatWouldDoTooMuchIsRefused() throws {
        // One installation that is opened each second, again and again.
        let openings = (0..<86_400).map { Int64($0) }
        var scenario = Scenario(clients: 1, opened: .trace(OpeningTrace([openings])))
        scenario.days = 1
        scenario.session = TimeSpan(seconds: 1)
        let simulation = try Simulation(scenario, seed: 1)
        var tally = try simulation.tally(of: 0..<1)
        #expect(tally.steps == 86_400)
        tally.steps = ScenarioLimits.steps
        var run = ClientRun(simulation.timeline, scenario, seed: 1, maximumSteps: ScenarioLimits.steps)
        var error: SimulationError?
        do { try run.run(0, into: &tally) } catch let thrown { error = thrown }
        #expect(error?.code == .tooMuchWork)
    }

    @Test("an answer as JSON has the members of the format")
    func answerAsJSONHasTheMembersOfTheFormat() throws {
        var scenario = try Self.scenario(1_000)
        scenario.days = 45
        let encoded = try JSONEncoder().encode(try Simulation(scenario, seed: 9).answer())
        let object = try #require(try JSONSerialization.jsonObject(with: encoded) as? [String: Any])
        #expect(
            Set(object.keys) == [
                "clients", "days", "seed", "peak", "refusedClientHours", "neverRecovered", "reached", "series",
                "publisher",
            ])
        #expect(object["seed"] as? Int == 9)
        #expect(Set((object["peak"] as? [String: Any] ?? [:]).keys) == ["at", "refused", "share"])
        let series = try #require(object["series"] as? [[String: Any]])
        #expect(series.count == 45 * 24)
        #expect(Set(series[0].keys) == ["at", "opened", "holding", "refused", "suspended"])
        #expect(series[338]["at"] as? String == "14d2h")
        for step in series {
            #expect((step["holding"] as? [String: Int] ?? [:]).values.reduce(0, +) == 1_000)
        }
        let publisher = try #require(object["publisher"] as? [String: Any])
        #expect(Set((publisher["requestsPerSecond"] as? [String: Any] ?? [:]).keys) == ["mean", "p99"])
        #expect(publisher["reports"] as? Int != nil)
    }

    @Test("the picture is XML, says in words what it shows, and takes no name of a key for markup")
    func pictureIsXMLSaysInWordsWhatItShowsAndTakesNoNameOfAKeyForMarkup() throws {
        var scenario = try Self.scenario(1_000)
        scenario.events.append(Scenario.Event(at: TimeSpan(days: 20), .switchTo("<script>&\"")))
        let svg = SimulationPicture(try Simulation(scenario, seed: 1).answer(), of: scenario, title: "a < b").svg
        let parser = XMLParser(data: Data(svg.utf8))
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(svg.contains("<title id=\"title\">a &lt; b</title>"))
        #expect(svg.contains("<desc id=\"desc\">1,000 installations over 90 days"))
        #expect(svg.contains("prefers-color-scheme:dark"))
        // The curve of held lists reaches from edge to edge of its frame.
        let points = try #require(svg.components(separatedBy: "points=\"").dropFirst().first?.prefix { $0 != "\"" })
        let places = points.split(separator: " ").compactMap { $0.split(separator: ",").first }
        #expect(Set(places).isSuperset(of: ["84", "936"]), "\(places.first ?? "")")
        #expect(!svg.contains("<script"))
    }
}
