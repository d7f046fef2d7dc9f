// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Adapters) import PinListClient
import PinningTesting
import RuntimeIntegrity
import Testing

@testable import PinningURLSession

@Suite("A canary of what decides on every platform")
struct CanaryTests {
    @Test("makes no sound while everything decides as it should")
    func honest() async {
        var order = SystemRandomNumberGenerator()
        for _ in 0..<25 { #expect(await Canary.pinning().sing(&order) == []) }
    }

    @Test("a verdict that is always yes is heard")
    func verdict() async {
        var functions = DecidingFunctions()
        functions.verdict = { _, _, _, _ in true }
        var order = SystemRandomNumberGenerator()
        let signals = await Canary.pinning(KnownAnswers(functions)).sing(&order)
        #expect(signals.map(\.name) == [.canaryAccepted] && signals.first?.evidence.hasPrefix("verdict") == true)
    }

    @Test("a client that a monitor watches is told its signals, and to refuse where its policy says so")
    func watched() throws {
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
            let surroundings = try #require(configuration.surroundings?())
            #expect(surroundings == Surroundings(signals: ["known-agent"], refuses: policy == .refusing))
        }
    }
}
