// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Deciders
import Foundation
public import RuntimeIntegrity

/// How long the detectors take here.
public enum VictimBench {
    /// Rounds of each; the median and the 95th percentile are reported.
    public static let rounds = 501

    /// Rounds of what takes milliseconds.
    public static let wholeRounds = 51

    /// Measures, and prints one line of JSON: microseconds, the median and the 95th percentile.
    ///
    /// - Parameters:
    ///   - declared: What the program does itself.
    ///   - canary: What is tried beside the detectors, timed on its own.
    public static func run(_ declared: DeclaredBehaviour, canary: Canary) async {
        let heldBefore = allocated_bytes()
        let machine = LinuxMachine()
        let first = DispatchTime.now().uptimeNanoseconds
        let quiet = IntegrityMonitor(.standard(declared), on: machine)
        quiet.check()
        let firstLook = Double(DispatchTime.now().uptimeNanoseconds - first) / 1_000
        var results: [String: [Double]] = [:]
        results["per connection"] = self.times { quiet.check() }
        for detector in DetectorSet.standard(declared).detectors {
            let rounds = detector.cost == .connection ? self.rounds : self.wholeRounds
            results[detector.name] = self.times(rounds) { _ = detector.look(at: machine) }
        }
        var whole: [Double] = []
        for _ in 0..<self.wholeRounds {
            let start = DispatchTime.now().uptimeNanoseconds
            await quiet.look()
            whole.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1_000)
        }
        var trials: [Double] = []
        var random = SystemRandomNumberGenerator()
        for _ in 0..<self.wholeRounds {
            let start = DispatchTime.now().uptimeNanoseconds
            _ = await canary.sing(&random)
            trials.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1_000)
        }
        trials.sort()
        results["canary"] = [trials[trials.count / 2], trials[trials.count * 95 / 100]]
        let held = Double(allocated_bytes()) - Double(heldBefore)
        whole.sort()
        results["first look"] = [firstLook]
        results["bytes held"] = [held]
        results["whole"] = [whole[whole.count / 2], whole[whole.count * 95 / 100]]
        let line = (try? JSONSerialization.data(withJSONObject: results, options: .sortedKeys)) ?? Data()
        print(String(decoding: line, as: UTF8.self))
        fflush(nil)
    }

    private static func times(_ rounds: Int = rounds, _ body: () -> Void) -> [Double] {
        var times: [Double] = []
        for _ in 0..<rounds {
            let start = DispatchTime.now().uptimeNanoseconds
            body()
            times.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1_000)
        }
        times.sort()
        return [times[times.count / 2], times[times.count * 95 / 100]]
    }
}
