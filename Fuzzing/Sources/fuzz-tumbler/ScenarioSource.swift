// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListRepository
import PinListSimulation

/// A scenario: reading, and a short run of what was read. The bytes are also the trace that it may name.
enum ScenarioSource: FuzzTarget {
    static let name = "scenario"

    private struct OneFile: SourceFiles {
        let contents: [UInt8]

        func bytes(of path: String, limit: Int) throws(RepositoryError) -> [UInt8] { self.contents }
    }

    static func check(_ bytes: [UInt8]) {
        _ = try? OpeningTrace(bytes)
        let files = OneFile(contents: Array("0 60 86400\n\n1000000\n".utf8))
        let scenario: Scenario
        do {
            scenario = try Scenario(yaml: bytes, file: "scenario.yaml", files: files)
        } catch {
            // Every refusal names the file.
            precondition(error.reason.hasPrefix("scenario.yaml:"))
            return
        }
        precondition((try? Scenario(yaml: bytes, file: "scenario.yaml", files: files)) == scenario)
        precondition(ScenarioLimits.days.contains(scenario.simulatedDays))
        // A scenario that was read can be run. A few installations and days, and few events, so that a run is short.
        guard scenario.simulatedDays <= 60, scenario.events.count <= 8 else { return }
        guard let simulation = try? Simulation(scenario, seed: 1) else {
            preconditionFailure("it is read, and not run")
        }
        guard let tally = try? simulation.tally(of: 0..<min(scenario.clients, 4)) else { return }
        let answer = simulation.answer(from: tally)
        precondition(answer.series.count == scenario.simulatedDays * 24)
        precondition(answer.series.allSatisfy { $0.refused <= $0.opened && $0.opened <= tally.clients })
        precondition(answer.series.allSatisfy { $0.holding.values.reduce(0, +) == tally.clients })
        precondition(answer.reached.allSatisfy { (0...1).contains($0.share) })
    }
}
