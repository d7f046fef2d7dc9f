// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PinningIntegrity

@Suite("A canary of what the delegates ask")
struct CanaryTests {
    /// The names of signals with the functions that they name.
    private static func sing(_ canary: Canary, rounds: Int = 1) async -> Set<String> {
        var order = SystemRandomNumberGenerator()
        var heard: Set<String> = []
        for _ in 0..<rounds {
            for signal in await canary.sing(&order) {
                heard.insert("\(signal.name) \(signal.evidence.prefix { $0 != ":" })")
            }
        }
        return heard
    }

    @Test("makes no sound while everything decides as it should, the system's validation included")
    func makesNoSoundWhileEverythingDecidesAsItShouldTheSystemsValidationIncluded() async {
        #expect(Canary.pinning().checks.map(\.name) == ["hash", "list-signature", "path", "transparency", "verdict"])
        #expect(await Self.sing(.pinning(), rounds: 25) == [])
    }

    @Test("a system that trusts everything, or nothing, is heard", arguments: [true, false])
    func systemThatTrustsEverythingOrNothingIsHeard(_ answer: Bool) async {
        var trials = TrustTrials()
        trials.path = { _, _, _ in answer }
        let answers = KnownAnswerCheck()
        let name = answer ? "canary-accepted" : "canary-refused"
        #expect(await Self.sing(.pinning(answers, beside: trials.all(answers))) == ["\(name) path"])
    }
}
