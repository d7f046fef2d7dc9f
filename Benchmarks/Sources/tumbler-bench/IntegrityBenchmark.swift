// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AllocationCount
import BareCalls
import Dispatch
import RuntimeIntegrity

/// (m), (n): what a look for signs of tampering takes, in this process.
///
/// This program is a hard case: the compiler's libraries are linked into it, so that all their code is its own, and is
/// compared with the file as a whole.
struct IntegrityBenchmark {
    /// Looks before a connection whose times are compared: enough for a 99th percentile.
    static let quickLooks = 2_001
    /// Looks at everything.
    static let wholeLooks = 101
    /// The most that a look may take of the time of its system calls alone.
    static let quickLimit = 1.3
    /// The most that a look at everything may take of reading and comparing all code once.
    static let wholeLimit = 3.0
    /// The most bytes that may be held (docs/tampering.md).
    static let heldGoal = 1_048_576.0

    func run(_ report: inout Report) async {
        #if os(Linux)
        print("Looking for signs of tampering:")
        let machine = LinuxMachine()
        allocation_follow()
        let monitor = IntegrityMonitor(.standard(), on: machine)
        // Where functions are is looked up once.
        report.time("(m) before the first connection", self.times(1) { monitor.check() }[0])
        await monitor.look()
        var quick: [Double] = []
        var calls: [Double] = []
        // In turn, so that a drift of the machine falls on both.
        for _ in 0..<Self.quickLooks {
            quick += self.times(1) { monitor.check() }
            calls += self.times(1) { precondition(bare_quick_look() == 0, "the system calls alone fail") }
        }
        report.time("(m) before a connection, median", self.percentile(50, quick))
        report.time("(m) before a connection, 99th percentile", self.percentile(99, quick))
        report.time("    its system calls alone, median", self.percentile(50, calls))
        report.limit(
            "(m) : its system calls alone", self.percentile(50, quick) / self.percentile(50, calls),
            atMost: Self.quickLimit)
        var whole: [Double] = []
        var comparisons: [Double] = []
        for _ in 0..<Self.wholeLooks {
            let start = DispatchTime.now().uptimeNanoseconds
            await monitor.look()
            whole.append(Double(DispatchTime.now().uptimeNanoseconds - start))
            comparisons += self.times(1) { precondition(bare_whole_look() > 0, "the code cannot be read") }
        }
        report.time("(n) everything, median", self.percentile(50, whole))
        report.time("(n) everything, 99th percentile", self.percentile(99, whole))
        report.time("    all code read and compared once, median", self.percentile(50, comparisons))
        report.limit(
            "(n) : all code read and compared once", self.percentile(50, whole) / self.percentile(50, comparisons),
            atMost: Self.wholeLimit)
        let held = allocation_held()
        let maximum = allocation_most_held()
        for detector in DetectorSet.standard().detectors {
            _ = detector.look(at: machine)
            let times = self.times(51) { _ = detector.look(at: machine) }
            let cost = detector.cost == .connection ? ", before a connection" : ""
            report.time("    \(detector.name)\(cost)", self.percentile(50, times))
        }
        report.limit("held afterwards", Double(held), atMost: Self.heldGoal, unit: " bytes")
        report.limit("held at any time", Double(maximum), atMost: Self.heldGoal, unit: " bytes")
        report.limit("signals in an untouched process", Double(monitor.sightings.count), atMost: 0)
        for sighting in monitor.sightings { report.figure("signal", sighting.signal.description) }
        report.figure("could not be looked at", "\(monitor.blindSpots.map(\.description))")
        #endif
    }

    private func times(_ rounds: Int, _ body: () -> Void) -> [Double] {
        (0..<rounds).map { _ in
            let start = DispatchTime.now().uptimeNanoseconds
            body()
            return Double(DispatchTime.now().uptimeNanoseconds - start)
        }
    }

    private func percentile(_ percent: Int, _ times: [Double]) -> Double {
        times.sorted()[min(times.count * percent / 100, times.count - 1)]
    }
}
