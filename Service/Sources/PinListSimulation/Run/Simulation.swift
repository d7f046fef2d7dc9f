// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A simulation of many installations: a scenario, worked through once, and its installations, one after the other. The
/// same seed gives the same answer, however the parts are spread over threads.
public struct Simulation: Sendable {
    /// The scenario.
    public let scenario: Scenario
    /// The seed of all random numbers.
    public let seed: UInt64

    let timeline: Timeline

    /// The installations that are run between two times that they are counted.
    private static let countedAtOnce = 256

    /// Prepares a scenario: the verdicts of the library, once for each list, chain and interval.
    ///
    /// - Throws: ``SimulationError`` for a value that is out of its range.
    public init(_ scenario: Scenario, seed: UInt64) throws(SimulationError) {
        try scenario.check()
        self.scenario = scenario
        self.seed = seed
        self.timeline = try Timeline(scenario)
    }

    /// Runs some of the installations.
    ///
    /// - Parameters:
    ///   - clients: Their numbers, from 0.
    ///   - counted: Hears now and then how many more are done.
    /// - Returns: The counts of them; their size depends on the scenario's lists and days alone.
    /// - Throws: ``SimulationError/Code/tooMuchWork`` when they do more than their part of ``ScenarioLimits/steps``.
    public func tally(
        of clients: Range<Int>, _ counted: (Int) -> Void = { _ in }
    ) throws(SimulationError) -> SimulationTally {
        let share = Double(clients.count) / Double(max(self.scenario.clients, 1))
        let maximumSteps = Int(exactly: (Double(ScenarioLimits.steps) * share).rounded(.up)) ?? 0
        var tally = SimulationTally(lists: self.timeline.lists.count, horizon: self.timeline.horizon)
        var run = ClientRun(self.timeline, self.scenario, seed: self.seed, maximumSteps: maximumSteps)
        var since = 0
        for client in clients {
            try run.run(client, into: &tally)
            since += 1
            guard since == Self.countedAtOnce else { continue }
            counted(since)
            since = 0
        }
        counted(since)
        return tally
    }

    /// Runs all installations.
    ///
    /// - Throws: ``SimulationError/Code/tooMuchWork``.
    public func answer() throws(SimulationError) -> SimulationAnswer {
        self.answer(from: try self.tally(of: 0..<self.scenario.clients))
    }

    /// The installations in parts of nearly the same size, to run side by side.
    ///
    /// - Parameter count: The number of parts, at least 1.
    public func parts(_ count: Int) -> [Range<Int>] {
        let count = max(count, 1)
        let size = (self.scenario.clients + count - 1) / count
        return (0..<count).map { part in
            min(part * size, self.scenario.clients)..<min((part + 1) * size, self.scenario.clients)
        }
    }
}
