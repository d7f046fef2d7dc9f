// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `tumbler simulate` of 5,000,000 installations over 60 days: CPU time and memory of the whole process, and what an opening
/// costs beside drawing the random number that says when it is.
struct SimulationBenchmark {
    /// The command line that was built.
    let tumbler: String

    private static let clients = 5_000_000
    /// The memory that it may take, in MiB.
    private static let mebibytes = 1_024.0
    /// The maximum cost of an opening, in random numbers.
    private static let ratio = 30.0

    func run(_ report: inout Report) throws {
        print("tumbler simulate, \(Self.clients) installations over 60 days:")
        let scenario = """
            clients: \(Self.clients)
            days: 60
            opened: {model: gamma-poisson, shape: 0.65, scale: 2.6d}
            offline: {share: 0.02, for: 30d}
            cache: 300s
            listHost: {outage: [{from: 10d, for: 2h}]}
            events:
              - {at: 0d, publish: {pins: [old, new]}}
              - {at: 14d, switch: new}
              - {at: 14d2h, suspend: {for: 2h}}
              - {at: 44d, publish: {pins: [new]}}
            rollout: [{at: 0d, percent: 1}, {at: 7d, percent: 10}, {at: 14d, percent: 100}]

            """
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-bench-\(UUID()).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(scenario.utf8).write(to: file)
        let before = Self.children
        let process = Process()
        process.executableURL = URL(fileURLWithPath: self.tumbler)
        process.arguments = ["simulate", file.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let after = Self.children
        report.limit("exit code", Double(process.terminationStatus), atMost: 0)
        for line in String(decoding: answer, as: UTF8.self).split(separator: "\n") { report.figure("said", "\(line)") }
        let seconds = after.seconds - before.seconds
        report.figure("CPU time", "\((seconds * 10).rounded() / 10) s")
        // The most of all programs that ran before, this one included.
        report.limit("memory", after.mebibytes, atMost: Self.mebibytes, unit: " MiB")
        // A quarter of an opening a day on average.
        let openings = Double(Self.clients) * 60 / 4
        let random = Self.exponential
        report.time("an opening", seconds * 1e9 / openings)
        report.time("a random number of the exponential distribution", random)
        report.limit("an opening : a random number", seconds * 1e9 / openings / random, atMost: Self.ratio)
    }

    /// The resources of the programs that have ended.
    private static var children: (seconds: Double, mebibytes: Double) {
        var usage = rusage()
        // Linux counts in KiB, Darwin in bytes.
        #if canImport(Glibc)
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        let unit = 1_024.0
        #else
        getrusage(RUSAGE_CHILDREN, &usage)
        let unit = 1_048_576.0
        #endif
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return (seconds(usage.ru_utime) + seconds(usage.ru_stime), Double(usage.ru_maxrss) / unit)
    }

    /// The nanoseconds that such a number takes, as a simulation would usually draw it.
    private static var exponential: Double {
        var generator = SystemRandomNumberGenerator()
        var sum = 0.0
        var state = generator.next()
        let subject = Subject(name: "exponential") {
            state &+= 0x9E37_79B9_7F4A_7C15
            var bits = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
            bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
            sum -= log(1 - Double((bits ^ bits >> 31) >> 11) * 0x1p-53)
        }
        let time = Measurement.nanoseconds(of: [subject], iterations: 100_000)[0]
        keep(sum)
        return time
    }
}
