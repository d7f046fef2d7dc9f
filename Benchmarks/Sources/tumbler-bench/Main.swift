// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Prints medians and ratios; exit code 1 when a limit does not hold.
@main
enum Main {
    static func main() async throws {
        var report = Report()
        for chain in [try TestChain.ellipticCurve(), try TestChain.rsa()] {
            try PinBenchmark(chain: chain).run(&report)
            await PathBenchmark(chain: chain).run(&report)
        }
        try await WorstCaseBenchmark().run(&report)
        try TransparencyBenchmark().run(&report)
        try RevocationBenchmark().run(&report)
        try ListBenchmark().run(&report)
        try await ClientBenchmark().run(&report)
        await IntegrityBenchmark().run(&report)
        if CommandLine.arguments.count > 1 {
            try SimulationBenchmark(tumbler: CommandLine.arguments[1]).run(&report)
            try await BatchBenchmark(tumbler: CommandLine.arguments[1]).run(&report)
        } else {
            print("(e) and the simulation need the path of the built command line as its argument.")
        }
        print(report.failures == 0 ? "All limits hold." : "\(report.failures) limits do not hold.")
        exit(report.failures == 0 ? 0 : 1)
    }
}
