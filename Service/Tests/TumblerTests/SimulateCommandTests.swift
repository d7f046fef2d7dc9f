// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("A simulation, on the command line")
struct SimulateCommandTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let scenario = """
        clients: 2000
        days: 5
        opened: {model: daily, share: 0.5}
        events: [{at: 2d, switch: new}]

        """

    private struct Answer: Decodable {
        struct Peak: Decodable {
            let at: String
            let refused: Int
            let share: Double
        }
        struct Step: Decodable {
            let at: String
            let opened: Int
            let refused: Int
            let suspended: Int
        }
        let clients: Int
        let days: Int
        let seed: Int
        let peak: Peak
        let neverRecovered: Int
        let series: [Step]
    }

    /// The blocks of a language in a page.
    private static func blocks(_ language: String, in page: String) -> [String] {
        page.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }

    @Test("the scenarios and the commands of the guide, as they stand")
    func scenariosAndTheCommandsOfTheGuideAsTheyStand() async throws {
        let page = try Self.root.text(of: "docs/guides/simulate-a-rotation.md")
        let scenarios = Self.blocks("yaml", in: page)
        let commands = Self.blocks("sh", in: page)
        try #require(scenarios.count == 2 && commands.count == 3)
        try await withTemporaryFolder { folder in
            try folder.write(scenarios[0] + "\n", as: "rotation.yaml")
            try folder.write(scenarios[1] + "\n", as: "unplanned.yaml")
            try folder.write("set -eu\n" + commands.joined(separator: "\n"), as: "script.sh")
            let run = try await CommandRun.shell(#"tumbler() { "$0" "$@"; }; . ./script.sh"#, in: folder)
            run.expectResult()
            #expect(run.lines.first == "50,000 installations over 74 days, seed 1")

            let planned = try JSONDecoder().decode(Answer.self, from: folder.contents(of: "answer.json"))
            #expect(planned.seed == 2 && planned.days == 74)
            // Those who were not opened between the announcement and the switch, each once.
            #expect(planned.series[..<336].allSatisfy { $0.refused == 0 })
            #expect(planned.peak.share < 0.5)
            let unplanned = try JSONDecoder().decode(Answer.self, from: folder.contents(of: "unplanned.json"))
            #expect(unplanned.series[336].refused == unplanned.series[336].opened)
            #expect(unplanned.series[338].suspended > 0)
            #expect(unplanned.peak.refused > planned.peak.refused)
            #expect(try folder.text(of: "rotation.svg").hasPrefix("<svg "))
        }
    }

    @Test(
        "a picture that cannot be written is refused before anything is simulated",
        arguments: ["none/picture.svg", "folder", "/dev/null"])
    func pictureThatCannotBeWrittenIsRefusedBeforeAnythingIsSimulated(picture: String) async throws {
        try await withTemporaryFolder { folder in
            // So much that the simulation itself would be refused, as exit code 1.
            try folder.write("clients: 50000000\ndays: 1000\nopened: {model: daily, share: 1}\n", as: "s.yaml")
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("folder"), withIntermediateDirectories: false)
            let run = try await CommandRun.tumbler(["simulate", "s.yaml", "--svg", picture], in: folder)
            run.expectError(2)
            #expect(run.errors.contains(picture), "\(run)")
        }
    }

    @Test("the same seed gives the same answer, on however many cores it is run")
    func sameSeedGivesTheSameAnswerOnHoweverManyCoresItIsRun() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(Self.scenario, as: "s.yaml")
            let first = try await CommandRun.tumbler(["simulate", "s.yaml", "--json", "--seed", "5"], in: folder)
            let again = try await CommandRun.tumbler(["simulate", "s.yaml", "--json", "--seed", "5"], in: folder)
            let other = try await CommandRun.tumbler(["simulate", "s.yaml", "--json"], in: folder)
            #expect(first.outputBytes == again.outputBytes)
            #expect(first.outputBytes != other.outputBytes)
            let answer = try first.decoded(as: Answer.self)
            #expect(answer.clients == 2_000 && answer.days == 5 && answer.seed == 5)
            #expect(answer.series.count == 120)
            #expect(answer.neverRecovered > 1_500)
            #expect(answer.peak.share == 1)
        }
    }

    @Test("an error in a scenario: the line, and exit code 1; a file that is not there: 2")
    func errorInAScenarioTheLineAndExitCode1AFileThatIsNotThere2() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(Self.scenario + "sesion: 3m\n", as: "wrong.yaml")
            let wrong = try await CommandRun.tumbler(["simulate", "wrong.yaml"], in: folder)
            wrong.expectError(1)
            #expect(wrong.errors.contains("wrong.yaml:5:1"))
            #expect(wrong.errors.contains("write session"))
            try await CommandRun.tumbler(["simulate", "none.yaml"], in: folder).expectError(2)
            try await CommandRun.tumbler(["simulate"], in: folder).expectError(64)
            try folder.write(Self.scenario, as: "s.yaml")
            try await CommandRun.tumbler(["simulate", "s.yaml", "--svg", "no/where.svg"], in: folder).expectError(2)
        }
    }
}
