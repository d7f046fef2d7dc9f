// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The counts of installations: sums in fixed grids, which do not grow with the number of installations. Two tallies of
/// different installations of one scenario add up.
public struct SimulationTally: Hashable, Sendable {
    /// The length of a step of the series, in seconds.
    static let stepSeconds: Int64 = 3_600
    /// The length of a step in which requests are counted, in seconds.
    static let requestSeconds: Int64 = 60

    /// A count that changes at the borders of steps.
    struct Changes: Hashable, Sendable {
        private(set) var values: [Int]

        init(steps: Int) { self.values = [Int](repeating: 0, count: steps + 1) }

        /// Counts one more from a step to a later one, that one included.
        mutating func add(from first: Int, through last: Int) {
            self.values[first] += 1
            self.values[last + 1] -= 1
        }

        /// Counts some more from a step on.
        mutating func add(_ count: Int, from step: Int) { self.values[step] += count }

        /// The count in each step.
        var counts: [Int] {
            var sum = 0
            return self.values.dropLast().map { change in
                sum += change
                return sum
            }
        }

        static func += (left: inout Changes, right: Changes) {
            for index in left.values.indices { left.values[index] += right.values[index] }
        }
    }

    /// The number of installations that were simulated.
    public internal(set) var clients = 0
    /// The numbers of installations that hold each list when a step begins.
    var holding: [Changes]
    /// The installations that were open at some moment of a step.
    var opened: Changes
    /// The installations of which a connection was refused, until they got through or were closed.
    var refused: Changes
    /// The installations that got through because pinning was suspended.
    var suspended: Changes
    /// Requests to the host of the lists.
    var requests: [Int]
    /// Reports of failures.
    var reports = 0
    /// The number of installations whose newest connection was refused, and which would be refused at the end.
    var neverRecovered = 0
    /// The numbers of installations that hold each list at the end.
    var finally: [Int]
    /// The number of steps of all installations together: a step is a moment at which one of them does something.
    public internal(set) var steps = 0

    init(lists: Int, horizon: Int64) {
        let steps = Int(exactly: horizon / Self.stepSeconds) ?? 0
        self.holding = [Changes](repeating: Changes(steps: steps), count: lists)
        self.opened = Changes(steps: steps)
        self.refused = Changes(steps: steps)
        self.suspended = Changes(steps: steps)
        self.requests = [Int](repeating: 0, count: Int(exactly: horizon / Self.requestSeconds) ?? 0)
        self.finally = [Int](repeating: 0, count: lists)
    }

    /// The number of kept numbers: the memory of a run, for any number of installations.
    var kept: Int {
        (self.holding.count + 3) * self.opened.values.count + self.requests.count + self.finally.count
    }

    /// Adds what was counted of other installations of the same scenario.
    public static func += (left: inout SimulationTally, right: SimulationTally) {
        left.clients += right.clients
        for index in left.holding.indices { left.holding[index] += right.holding[index] }
        left.opened += right.opened
        left.refused += right.refused
        left.suspended += right.suspended
        for index in left.requests.indices { left.requests[index] += right.requests[index] }
        left.reports += right.reports
        left.neverRecovered += right.neverRecovered
        for index in left.finally.indices { left.finally[index] += right.finally[index] }
        left.steps += right.steps
    }
}
