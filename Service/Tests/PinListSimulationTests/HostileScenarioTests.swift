// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListRepository
import PinningTesting
import Testing

@testable import PinListSimulation

@Suite("A scenario that is made to harm its reader")
struct HostileScenarioTests {
    @Test(
        "numbers that are none, or too large",
        arguments: [
            "clients: 0", "clients: -1", "clients: 50000001", "clients: 99999999999999999999", "clients: 1e9",
            "clients: nan", "clients: 0x10", "clients: \"5\"",
        ])
    func numbersThatAreNoneOrTooLarge(line: String) {
        ScenarioText.expectRefusal("\(line)\nopened: {model: daily, share: 1}\n", at: "1:10", "number")
    }

    @Test(
        "shares and shapes that are none",
        arguments: [
            "nan", ".inf", "-0.1", "1.1", "1e-3", "+0.5", "0x1p-1", "infinity", "0.1234567890123", "", "1.", "[1]",
        ])
    func sharesAndShapesThatAreNone(text: String) {
        ScenarioText.expectRefusal("clients: 1\nopened: {model: daily, share: \(text)}\n", at: "2:", "share")
        ScenarioText.expectRefusal(
            "clients: 1\nopened: {model: gamma-poisson, shape: \(text == "1.1" ? "1001" : text), scale: 1d}\n",
            at: "2:", "shape")
    }

    @Test("a shape or a scale of next to nothing is refused: all rates would be 0, or without end")
    func shapeOrAScaleOfNextToNothingIsRefusedAllRatesWouldBe0OrWithoutEnd() {
        for opened in ["shape: 0.009, scale: 1d", "shape: 1, scale: 59s", "shape: 1, scale: 0d"] {
            ScenarioText.expectRefusal("clients: 1\nopened: {model: gamma-poisson, \(opened)}\n", at: "2:", "not")
        }
    }

    @Test("a hundred thousand events, and a thousand outages: refused at the first one too many")
    func hundredThousandEventsAndAThousandOutagesRefusedAtTheFirstOneTooMany() {
        let event = "  - {at: 1d, switch: a}\n"
        let events = "events:\n" + String(repeating: event, count: 100_000)
        ScenarioText.expectRefusal(ScenarioText.small(events), at: "260:", "over 256")
        let outages = String(repeating: "{from: 1d, for: 1h}, ", count: 1_000)
        ScenarioText.expectRefusal(ScenarioText.small("listHost: {outage: [\(outages)]}"), at: "3:", "over 256")
        let keys = (0..<100).map { "  - {at: 1d, switch: k\($0)}\n" }.joined()
        ScenarioText.expectRefusal(ScenarioText.small("events:\n" + keys), at: "", "over 64 keys")
        let both =
            "events:\n" + String(repeating: event, count: 200) + "rollout:\n"
            + String(repeating: "  - {at: 1d, percent: 1}\n", count: 100)
        ScenarioText.expectRefusal(ScenarioText.small(both), at: "", "over 56")
    }

    @Test("a million events are too many bytes, and are not parsed")
    func millionEventsAreTooManyBytesAndAreNotParsed() {
        let text = ScenarioText.small("events:\n" + String(repeating: "  - {at: 1d, switch: a}\n", count: 1_000_000))
        #expect(throws: RepositoryError.self) { try ScenarioText.read(text) }
    }

    @Test("depth, aliases and tags")
    func depthAliasesAndTags() {
        let deep = String(repeating: "[", count: 10_000)
        #expect(throws: RepositoryError.self) { try ScenarioText.read(ScenarioText.small("events: \(deep)")) }
        ScenarioText.expectRefusal(ScenarioText.small("events: &a []"), at: "3:", "anchor")
        ScenarioText.expectRefusal(ScenarioText.small("events: !!set []"), at: "3:", "tag")
    }

    @Test("values that were put together in code are checked as those of a file")
    func valuesThatWerePutTogetherInCodeAreCheckedAsThoseOfAFile() {
        var scenario = Scenario(clients: 1, opened: .gammaPoisson(shape: .nan, scale: TimeSpan(days: 1)))
        #expect(throws: SimulationError.self) { try Simulation(scenario, seed: 1) }
        scenario.opened = .daily(share: .infinity)
        #expect(throws: SimulationError.self) { try Simulation(scenario, seed: 1) }
        scenario.opened = .daily(share: 1)
        #expect(throws: Never.self) { try Simulation(scenario, seed: 1) }
        scenario.offline = Scenario.Offline(share: .nan, for: TimeSpan(days: 1))
        #expect(throws: SimulationError.self) { try Simulation(scenario, seed: 1) }
        scenario.offline = nil
        scenario.events = (0..<65).map { Scenario.Event(at: TimeSpan(days: 1), .switchTo("k\($0)")) }
        #expect(throws: SimulationError.self) { try Simulation(scenario, seed: 1) }
    }

    @Test("two thousand changed scenarios: an error or a scenario, never a crash")
    func twoThousandChangedScenariosAnErrorOrAScenarioNeverACrash() throws {
        var generator = SeededGenerator(seed: 4_711)
        let seed = Array(ScenarioText.example.utf8)
        var read = 0
        for _ in 0..<2_000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...2, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
                case 1: bytes.remove(at: place)
                default: bytes.insert(contentsOf: Array("9.-{},:&d".utf8), at: place)
                }
            }
            guard let scenario = try? ScenarioText.read(String(decoding: bytes, as: UTF8.self)) else { continue }
            read += 1
            #expect(throws: Never.self) { try scenario.check() }
        }
        #expect(read > 30)
    }
}
