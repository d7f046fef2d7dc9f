// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Testing

@testable import PinningIntegrity

@Suite("A canary of the functions that decide")
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

    private static func canary(
        _ functions: DecidingFunctions = DecidingFunctions(), trials: PathTrials = PathTrials()
    ) -> Canary {
        let answers = KnownAnswerCheck(functions)
        return .pinning(answers, beside: trials.all(answers))
    }

    // A thousand rounds: `echo sing | TamperingVictim …`, in a release build.
    @Test("functions that decide as they should make no sound")
    func functionsThatDecideAsTheyShouldMakeNoSound() async {
        #expect(await Self.sing(.pinning(), rounds: 50) == [])
    }

    @Test("every function that decides is tried with what is bad and what is good")
    func everyFunctionThatDecidesIsTriedWithWhatIsBadAndWhatIsGood() {
        let checks = Canary.pinning().checks
        #expect(checks.map(\.name) == ["connection", "hash", "list-signature", "path", "transparency", "verdict"])
        #expect(checks.allSatisfy { check in Set(check.trials.map(\.isBad)) == [true, false] })
    }

    @Test("a verdict that is always yes, or always no, is heard", arguments: [true, false])
    func verdictThatIsAlwaysYesOrAlwaysNoIsHeard(_ answer: Bool) async {
        var functions = DecidingFunctions()
        functions.verdict = { _, _, _, _ in answer }
        let name = answer ? "canary-accepted" : "canary-refused"
        #expect(await Self.sing(Self.canary(functions)) == ["\(name) verdict"])
    }

    @Test("lists that are always trusted, or never, are heard", arguments: [true, false])
    func listsThatAreAlwaysTrustedOrNeverAreHeard(_ answer: Bool) async {
        var functions = DecidingFunctions()
        functions.acceptsList = { _, _, _ in answer }
        let name = answer ? "canary-accepted" : "canary-refused"
        #expect(await Self.sing(Self.canary(functions)) == ["\(name) list-signature"])
    }

    @Test("a hash that is one for all is heard, of keys and of any bytes")
    func hashThatIsOneForAllIsHeardOfKeysAndOfAnyBytes() async {
        var functions = DecidingFunctions()
        functions.pin = { _ in Pin(kind: .publicKey, hashing: [7]) }
        #expect(await Self.sing(Self.canary(functions)) == ["canary-accepted hash"])
        functions = DecidingFunctions()
        let known = functions.digest(Array("abc".utf8))
        functions.digest = { _ in known }
        #expect(
            await Self.sing(Self.canary(functions))
                == ["canary-accepted hash", "canary-refused hash"])
    }

    @Test("paths that are always valid, or never, are heard", arguments: [true, false])
    func pathsThatAreAlwaysValidOrNeverAreHeard(_ answer: Bool) async {
        var trials = PathTrials()
        trials.path = { _, _, _, _ in answer }
        let name = answer ? "canary-accepted" : "canary-refused"
        #expect(await Self.sing(Self.canary(trials: trials)) == ["\(name) path"])
    }

    @Test("a verification callback that always says yes, or always no, is heard", arguments: [true, false])
    func verificationCallbackThatAlwaysSaysYesOrAlwaysNoIsHeard(_ answer: Bool) async {
        var trials = PathTrials()
        trials.connection = { _ in answer }
        let name = answer ? "canary-accepted" : "canary-refused"
        #expect(await Self.sing(Self.canary(trials: trials)) == ["\(name) connection"])
    }
}
#endif
