// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RuntimeIntegrity
import VictimBench

/// A program that decides about connections in C, for clean runs of builds with a sanitizer or a static standard library,
/// which take minutes with SwiftNIO. Attacked is `TamperingVictim`.
///
///     SmallVictim PORT [--policy none|refuse] [--jit] [--declare-jit]
///
/// It reads commands from its standard input: `connect` (a look before a connection, the decision about the server's
/// key, and a connection to PORT of this machine), `look` (at everything), `bench`, `quit`. It answers each with one
/// line of JSON.
@main
enum SmallVictim {
    static func main() async {
        let options = VictimOptions()
        if options.makesCode { VictimOptions.mapCode() }
        let monitor = IntegrityMonitor(
            .standard(options.declared), on: LinuxMachine(), policy: options.policy, canary: Deciding.canary)
        print(#"{"ready":true}"#)
        fflush(nil)
        while let command = readLine() {
            switch command {
            case "connect":
                let start = DispatchTime.now().uptimeNanoseconds
                let decision = monitor.check()
                let microseconds = (DispatchTime.now().uptimeNanoseconds - start) / 1_000
                let isTrusted = Deciding.isTrusted(key: Deciding.foreignKey)
                let isConnected = !decision.refuses && Deciding.connects(to: UInt16(options.target) ?? 9)
                self.say(monitor, decision, microseconds, ["trusted": isTrusted, "connected": isConnected])
            case "look":
                let start = DispatchTime.now().uptimeNanoseconds
                let decision = await monitor.look()
                self.say(monitor, decision, (DispatchTime.now().uptimeNanoseconds - start) / 1_000, [:])
            case "bench":
                await VictimBench.run(options.declared, canary: Deciding.canary)
            default:
                return
            }
        }
    }

    /// Says what was noticed, on one line.
    private static func say(
        _ monitor: IntegrityMonitor, _ decision: TamperDecision, _ microseconds: UInt64, _ facts: [String: Bool]
    ) {
        var answer: [String: Any] = facts
        answer["refuses"] = decision.refuses
        answer["microseconds"] = microseconds
        answer["signals"] = monitor.sightings.map {
            [$0.signal.name.description, $0.signal.confidence.description, $0.signal.evidence]
        }
        answer["blind"] = monitor.blindSpots.map(\.description)
        let line = (try? JSONSerialization.data(withJSONObject: answer, options: .sortedKeys)) ?? Data()
        print(String(decoding: line, as: UTF8.self))
        fflush(nil)
    }
}
