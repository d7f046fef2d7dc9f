// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AllocationCount
import Dispatch
import RuntimeIntegrity

#if canImport(Glibc)
import Glibc
#endif

/// (m), (n): what a look for signs of tampering takes, in this process.
///
/// This program is a hard case: the compiler's libraries are linked into it, so that all their code is its own, and is
/// compared with the file as a whole.
struct IntegrityBenchmark {
    /// Looks before a connection whose times are compared: enough for a 99th percentile.
    static let quickLooks = 2_001
    /// Looks at everything.
    static let wholeLooks = 101
    /// The goals of docs/tampering.md: microseconds, milliseconds, bytes.
    static let quickGoal = 150.0
    static let wholeGoal = 20.0
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
        var busy = self.processorTime
        let quick = self.times(Self.quickLooks) { monitor.check() }
        busy = self.processorTime - busy
        report.limit(
            "(m) before a connection, median", self.percentile(50, quick) / 1_000, atMost: Self.quickGoal, unit: " µs")
        report.time("(m) before a connection, 99th percentile", self.percentile(99, quick))
        report.time("(m) before a connection, mean of the processor's time", busy / Double(Self.quickLooks))
        var whole: [Double] = []
        busy = self.processorTime
        for _ in 0..<Self.wholeLooks {
            let start = DispatchTime.now().uptimeNanoseconds
            await monitor.look()
            whole.append(Double(DispatchTime.now().uptimeNanoseconds - start))
        }
        busy = self.processorTime - busy
        report.limit(
            "(n) everything, median", self.percentile(50, whole) / 1_000_000, atMost: Self.wholeGoal, unit: " ms")
        report.time("(n) everything, 99th percentile", self.percentile(99, whole))
        report.time("(n) everything, mean of the processor's time", busy / Double(Self.wholeLooks))
        let held = allocation_held()
        let most = allocation_most_held()
        for detector in DetectorSet.standard().detectors {
            _ = detector.look(at: machine)
            let times = self.times(51) { _ = detector.look(at: machine) }
            let cost = detector.cost == .connection ? ", before a connection" : ""
            report.time("    \(detector.name)\(cost)", self.percentile(50, times))
        }
        report.limit("held afterwards", Double(held), atMost: Self.heldGoal, unit: " bytes")
        report.limit("held at any time", Double(most), atMost: Self.heldGoal, unit: " bytes")
        report.limit("signals in a process that nobody touches", Double(monitor.sightings.count), atMost: 0)
        for sighting in monitor.sightings { report.figure("signal", sighting.signal.description) }
        report.figure("could not be looked at", "\(monitor.blindSpots.map(\.description))")
        #endif
    }

    #if os(Linux)
    /// Nanoseconds that processors spent on this process: other work on the machine adds less to them.
    private var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000_000_000 + Double(time.tv_nsec)
    }
    #endif

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
