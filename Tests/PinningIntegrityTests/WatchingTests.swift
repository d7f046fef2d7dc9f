// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListClient
import PinningIntegrity
import PinningTesting
import Testing

@Suite("A client that a monitor watches")
struct WatchingTests {
    @Test("is told its signals, and to refuse where its policy says so")
    func isToldItsSignalsAndToRefuseWhereItsPolicySaysSo() throws {
        struct Seen: TamperDetector {
            let name = "seen"
            let cost = DetectorCost.connection
            func look(at machine: any ObservedMachine) -> DetectorAnswer {
                DetectorAnswer([TamperSignal(.knownAgent, .high, "seen")])
            }
        }
        for policy in [TamperPolicy(), .refusing] {
            var configuration = PinningConfiguration(fetcher: NoNetwork(), reportSender: NoNetwork())
            configuration.watch(IntegrityMonitor(DetectorSet([Seen()]), on: LinuxMachine(), policy: policy))
            let runtimeEnvironment = try #require(configuration.runtimeEnvironment?())
            #expect(runtimeEnvironment == RuntimeEnvironment(signals: ["known-agent"], refuses: policy == .refusing))
        }
    }
}
