// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// Known answers.
@Suite struct CanaryTests {
    /// Notes the order of trials.
    private actor Notes {
        var lines: [String] = []
        func note(_ line: String) { self.lines.append(line) }
    }

    private func sing(_ checks: [CanaryCheck], seed: UInt64 = 1) async -> [TamperSignal] {
        var order = SeededOrder(state: seed)
        return await Canary(checks).sing(&order)
    }

    @Test("functions that decide as they should give no signal")
    func functionsThatDecideAsTheyShouldGiveNoSignal() async {
        let check = CanaryCheck("verdict", [.bad { false }, .good { true }])
        #expect(await self.sing([check]).isEmpty)
    }

    @Test("a verdict that is hooked to say yes is noticed with high confidence")
    func verdictThatIsHookedToSayYesIsNoticedWithHighConfidence() async {
        let signals = await self.sing([
            CanaryCheck("verdict", [.bad { true }, .good { true }]), CanaryCheck("path", [.bad { false }]),
        ])
        #expect(signals.map(\.name) == [.canaryAccepted])
        #expect(signals.map(\.confidence) == [.high])
        #expect(signals.first?.evidence.hasPrefix("verdict") == true)
    }

    @Test("a function that refuses what is good is another signal")
    func functionThatRefusesWhatIsGoodIsAnotherSignal() async {
        #expect(
            await self.sing([CanaryCheck("path", [.bad { false }, .good { false }])]).map(\.name) == [.canaryRefused])
    }

    @Test("a hash that is hooked to give one known answer is noticed")
    func hashThatIsHookedToGiveOneKnownAnswerIsNoticed() async throws {
        let known = try #require(CanaryCheck.examples.first)
        let check = CanaryCheck.sha256(other: { [1] }) { _ in known.1 }
        #expect(Set(await self.sing([check]).map(\.name)) == [.canaryAccepted, .canaryRefused])
    }

    @Test("a hash that gives too few bytes is noticed")
    func hashThatGivesTooFewBytesIsNoticed() async {
        let check = CanaryCheck.sha256(other: { [1] }) { _ in [] }
        #expect(Set(await self.sing([check]).map(\.name)) == [.canaryAccepted, .canaryRefused])
    }

    @Test("a hash that is right for the examples and for others gives no signal")
    func hashThatIsRightForTheExamplesAndForOthersGivesNoSignal() async {
        let check = CanaryCheck.sha256(other: { [1] }) { message in
            CanaryCheck.examples.first { $0.0 == message }?.1 ?? [UInt8](repeating: 7, count: 32)
        }
        #expect(await self.sing([check]).isEmpty)
    }

    @Test("all trials run once, in an order that the random numbers choose")
    func allTrialsRunOnceInAnOrderThatTheRandomNumbersChoose() async {
        var orders: Set<[String]> = []
        for seed in 0..<20 {
            let notes = Notes()
            let checks = ["a", "b", "c"].map { name in
                CanaryCheck(
                    name,
                    [
                        .bad {
                            await notes.note("\(name) bad")
                            return false
                        },
                        .good {
                            await notes.note("\(name) good")
                            return true
                        },
                    ])
            }
            _ = await self.sing(checks, seed: UInt64(seed))
            let lines = await notes.lines
            #expect(lines.sorted() == ["a bad", "a good", "b bad", "b good", "c bad", "c good"])
            orders.insert(lines)
        }
        #expect(orders.count > 10)
    }
}
