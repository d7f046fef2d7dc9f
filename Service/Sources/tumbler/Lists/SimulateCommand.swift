// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListRepository
import PinListSimulation

/// `simulate`: the effect of a scenario on many installations.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulate many installations: a rotation, an outage, a wrong list.",
        discussion: """
            A scenario says how many installations there are, when they are opened, and what is done to lists and \
            servers. Each is run from the beginning to the end, by the schedule and the verdicts of the client library. \
            The same seed gives the same answer. Nothing leaves this machine. Exit code 0: there is an answer, good or \
            bad; 1: the scenario is wrong; 2: a file cannot be read or written.
            """
    )

    @Argument(help: "The scenario, a YAML file (formats.md, section 11).", completion: .file())
    var scenario: String

    @Flag(help: "Print the answer as JSON.")
    var json = false

    @Option(
        name: .customLong("svg"),
        help: ArgumentHelp("Write a picture of the answer to this file.", valueName: "file"), completion: .file())
    var picture: String?

    @Option(help: ArgumentHelp("The seed of all random numbers.", valueName: "n"))
    var seed: UInt64 = 1

    func run() async throws {
        let scenario = try CommandError.wrapping { () throws(RepositoryError) in
            let files = DiskFiles(in: ProjectOption.working)
            let bytes: [UInt8]
            do throws(RepositoryError) {
                bytes = try files.bytes(of: self.scenario, limit: ListSource.maximumLength)
            } catch {
                throw RepositoryError(error.code, "\(self.scenario): \(error.reason)", hint: error.hint)
            }
            let scenario = try Scenario(yaml: bytes, file: self.scenario, files: files)
            // Said before the work, and not after it.
            if let picture = self.picture { try WrittenFile.expectPlace(at: picture) }
            return scenario
        }
        let answer = try await Self.answer(scenario, seed: self.seed)
        if let picture {
            let name = URL(fileURLWithPath: self.scenario).deletingPathExtension().lastPathComponent
            let svg = SimulationPicture(answer, of: scenario, title: name).svg
            try CommandError.wrapping { () throws(RepositoryError) in
                try WrittenFile.write(Array(svg.utf8), to: picture, .published, existing: .replaced)
            }
        }
        if self.json {
            try JSONOutput.write(answer)
        } else {
            try StandardOutput.write(lines: answer.lines)
        }
    }

    /// Runs the installations on all cores, each core with its part.
    private static func answer(_ scenario: Scenario, seed: UInt64) async throws -> SimulationAnswer {
        do {
            let simulation = try Simulation(scenario, seed: seed)
            let parts = simulation.parts(ProcessInfo.processInfo.activeProcessorCount)
            return try await WorkProgress.during("installations simulated", of: scenario.clients) { progress in
                try await withThrowingTaskGroup(of: SimulationTally.self) { group in
                    for part in parts {
                        group.addTask { try simulation.tally(of: part) { progress?.add($0) } }
                    }
                    var whole: SimulationTally?
                    while let tally = try await group.next() {
                        if whole == nil { whole = tally } else { whole? += tally }
                    }
                    guard let whole else { throw CommandError(.undecided, "there are no installations") }
                    return simulation.answer(from: whole)
                }
            }
        } catch let error as SimulationError {
            let hint: String? = error.code == .tooMuchWork ? "fewer clients, fewer days or longer sessions" : nil
            throw CommandError(.doesNotHold, error.reason, hint: hint)
        }
    }
}
