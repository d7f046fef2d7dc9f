// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Dispatch

#if canImport(AllocationCount)
import AllocationCount
#else
// In the package of Apple's stand-ins, which has this file as well.
import ChallengeAllocations
#endif

/// Keeps a value from being optimised away, and does not copy it.
@inline(never)
func keep<Value>(_ value: borrowing Value) {}

/// One thing to measure.
struct Subject {
    let name: String
    let run: () -> Void
}

/// Measures several subjects in turn, round by round, so that a drift of the machine falls on all of them alike.
enum Measurement {
    /// Nanoseconds of one run of each subject: the lower quartile of many short rounds. What else the machine does makes
    /// some rounds longer and none shorter.
    ///
    /// - Parameters:
    ///   - subjects: What is measured, in the order of the result.
    ///   - iterations: Runs that are timed together.
    ///   - rounds: How often each is timed.
    static func nanoseconds(of subjects: [Subject], iterations: Int, rounds: Int = 200) -> [Double] {
        var times = [[Double]](repeating: [], count: subjects.count)
        for round in 0..<rounds + 2 {
            for (index, subject) in subjects.enumerated() {
                let start = DispatchTime.now().uptimeNanoseconds
                for _ in 0..<iterations { subject.run() }
                let end = DispatchTime.now().uptimeNanoseconds
                // Two rounds to warm up.
                if round >= 2 { times[index].append(Double(end - start) / Double(iterations)) }
            }
        }
        return times.map { $0.sorted()[$0.count / 4] }
    }

    /// The allocations of one run, after it has run before.
    static func allocations(of subject: Subject) -> UInt64 {
        subject.run()
        let before = allocation_count()
        for _ in 0..<100 { subject.run() }
        return (allocation_count() - before) / 100
    }
}

/// One line of the report: a figure, or a ratio held against a limit.
struct Report {
    private(set) var failures = 0

    /// Prints a time.
    func time(_ name: String, _ nanoseconds: Double) {
        let text =
            nanoseconds < 10_000 ? "\(Int(nanoseconds.rounded())) ns" : "\((nanoseconds / 100).rounded() / 10) µs"
        print("  \(name): \(text)")
    }

    /// Prints a figure.
    func figure(_ name: String, _ value: String) { print("  \(name): \(value)") }

    /// Prints that something does not hold which is no number, and has no limit.
    mutating func fails(_ what: String) {
        self.failures += 1
        print("  \(what): DOES NOT HOLD")
    }

    /// Prints a ratio, or another number, and whether it is within its limit. It has a row in `Benchmarks/thresholds.tsv`.
    mutating func limit(_ name: String, _ value: Double, atMost limit: Double, unit: String = "") {
        let holds = value <= limit
        if !holds { self.failures += 1 }
        let rounded = (value * 1_000).rounded() / 1_000
        print("  \(name): \(rounded)\(unit) (at most \(limit)\(unit)): \(holds ? "holds" : "DOES NOT HOLD")")
    }
}
