// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListRepository
import PinListSimulation
import Testing

@Suite("A scenario as people write it")
struct ScenarioReadingTests {
    @Test("every member of the format is read")
    func everyMemberOfTheFormatIsRead() throws {
        let scenario = try ScenarioText.read(ScenarioText.example)
        #expect(scenario.clients == 20_000)
        #expect(scenario.days == 90)
        #expect(scenario.opened == .gammaPoisson(shape: 0.65, scale: TimeSpan(seconds: 224_640)))
        #expect(scenario.session.seconds == 180)
        #expect(scenario.offline == Scenario.Offline(share: 0.02, for: TimeSpan(days: 30)))
        #expect(scenario.refreshAfter.seconds == 43_200)
        #expect(scenario.cache.seconds == 300)
        #expect(scenario.outages == [Scenario.Outage(from: TimeSpan(days: 10), for: TimeSpan(seconds: 7_200))])
        #expect(scenario.sharesFateWith?.description == "api.example.com")
        #expect(
            scenario.events.map(\.change) == [
                .publish(pins: ["old", "new"]), .switchTo("new"), .suspend(TimeSpan(seconds: 7_200)),
                .publish(pins: ["new"]), .rollout(percent: 1), .rollout(percent: 10), .rollout(percent: 100),
            ])
        #expect(scenario.events.map(\.at.description) == ["0d", "14d", "14d2h", "44d", "0d", "7d", "14d"])
    }

    @Test("members that are left out have the values of the format")
    func membersThatAreLeftOutHaveTheValuesOfTheFormat() throws {
        let scenario = try ScenarioText.read("clients: 1\nopened: {model: gamma-poisson, shape: 1, scale: 4d}\n")
        #expect(scenario.session.seconds == 180)
        #expect(scenario.refreshAfter.seconds == 43_200)
        #expect(scenario.cache.seconds == 0)
        #expect(scenario.offline == nil)
        #expect(scenario.outages.isEmpty)
        #expect(scenario.simulatedDays == 30)
        let later = try ScenarioText.read(ScenarioText.small("events: [{at: 44d1h, switch: x}]"))
        #expect(later.simulatedDays == 75)
    }

    @Test(
        "a length of time is read as its seconds",
        arguments: [
            ("0d", 0), ("300s", 300), ("2.6d", 224_640), ("14d2h", 1_216_800), ("1d8h30m", 117_000), ("0.5s", 1),
            ("1.5m30s", 120),
        ] as [(String, Int64)])
    func lengthOfTimeIsReadAsItsSeconds(text: String, seconds: Int64) { #expect(TimeSpan(text)?.seconds == seconds) }

    @Test(
        "what is no length of time",
        arguments: [
            "", "d", "5", "2h1d", "1d1d", "-1d", "1e3d", "nan", "inf d", "1.d", ".5d", "1 d", "99999999999d",
            "36526d", "1.1234567d", "１d",
        ])
    func whatIsNoLengthOfTime(text: String) { #expect(TimeSpan(text) == nil) }

    @Test("the other models: a share of each day, and what was recorded")
    func otherModelsAShareOfEachDayAndWhatWasRecorded() throws {
        #expect(try ScenarioText.read(ScenarioText.small("")).opened == .daily(share: 0.2))
        let recorded = "clients: 5\nopened: {model: trace, file: openings.txt}\n"
        #expect(
            try ScenarioText.read(recorded, "0 60 90\n\n7").opened
                == .trace(OpeningTrace([[0, 60, 90], [], [7]])))
        for (trace, words) in [
            ("5 4\n", "ascending"), ("x", "digits"), ("", "nothing"), ("1\n99999999999999999999", "line 2"),
        ] { ScenarioText.expectRefusal(recorded, at: "2:30", words, trace: trace) }
        ScenarioText.expectRefusal(recorded, at: "2:30", "no such file")
    }

    @Test("errors name the line, and the nearest known name")
    func errorsNameTheLineAndTheNearestKnownName() {
        ScenarioText.expectRefusal(ScenarioText.small("sesion: 3m"), at: "3:1", "write session")
        ScenarioText.expectRefusal(ScenarioText.small("session: 3"), at: "3:10", "14d2h")
        ScenarioText.expectRefusal(ScenarioText.small("session: 2d"), at: "3:10", "1d")
        ScenarioText.expectRefusal(ScenarioText.small("whenStale: reprot"), at: "3:12", "write report")
        ScenarioText.expectRefusal(ScenarioText.small("events: [{at: 1d}]"), at: "3:10", "does nothing")
        ScenarioText.expectRefusal(
            ScenarioText.small("events: [{at: 1d, switch: a, suspend: {for: 2h}}]"), at: "3:10", "2 things")
        ScenarioText.expectRefusal(ScenarioText.small("events: [{switch: a}]"), at: "3:10", "at: 14d")
        ScenarioText.expectRefusal(ScenarioText.small("events: [{at: 1d, swich: a}]"), at: "3:19", "write switch")
        ScenarioText.expectRefusal(
            ScenarioText.small("events: [{at: 1d, publish: {pins: []}}]"), at: "3:29", "pins: [old, new]")
        ScenarioText.expectRefusal(
            ScenarioText.small("events: [{at: 1d, publish: {pins: [a b]}}]"), at: "3:36", "name of a key")
        ScenarioText.expectRefusal(
            ScenarioText.small("events: [{at: 1d, suspend: {for: 8d}}]"), at: "3:34", "7d")
        ScenarioText.expectRefusal(ScenarioText.small("rollout: [{at: 1d, percent: 101}]"), at: "3:29", "0 to 100")
        ScenarioText.expectRefusal(
            "clients: 1\ndays: 5\nopened: {model: daily, share: 1}\nevents: [{at: 5d, switch: a}]",
            at: "4:11", "not before the end")
        ScenarioText.expectRefusal("opened: {model: daily, share: 1}", at: "1:1", "clients: 100000")
        ScenarioText.expectRefusal("clients: 1", at: "1:1", "gamma-poisson")
        ScenarioText.expectRefusal("clients: 1\nopened: {model: daily, shape: 1}", at: "2:24", "share")
        ScenarioText.expectRefusal("clients: 1\nopened: {model: dayly, share: 1}", at: "2:17", "write daily")
    }
}
