// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinningTesting
import Testing

@testable import PinningIntegrity

@Suite("What a canary tries")
struct KnownAnswerCheckTests {
    private static let start = Timestamp(secondsSince1970: 1_795_000_000)

    /// The functions whose answers were not as they have to be.
    private static func wrong(_ functions: DecidingFunctions, rounds: Int = 1) async -> Set<String> {
        var wrong: Set<String> = []
        for _ in 0..<rounds {
            for answer in KnownAnswerCheck(functions, clock: ManualClock(Self.start)).all
            where await answer.isAccepted() != answer.isGood { wrong.insert(answer.function) }
        }
        return wrong
    }

    @Test("the functions that decide give the answers that are known")
    func functionsThatDecideGiveTheAnswersThatAreKnown() async {
        #expect(await Self.wrong(DecidingFunctions(), rounds: 25) == [])
    }

    @Test("a verdict that is always yes, or always no, is wrong", arguments: [true, false])
    func verdictThatIsAlwaysYesOrAlwaysNoIsWrong(_ answer: Bool) async {
        var functions = DecidingFunctions()
        functions.verdict = { _, _, _, _ in answer }
        #expect(await Self.wrong(functions) == ["verdict"])
    }

    @Test("lists that are always trusted, or never, are wrong", arguments: [true, false])
    func listsThatAreAlwaysTrustedOrNeverAreWrong(_ answer: Bool) async {
        var functions = DecidingFunctions()
        functions.acceptsList = { _, _, _ in answer }
        #expect(await Self.wrong(functions) == ["list-signature"])
    }

    @Test(
        "a policy of Certificate Transparency that is always satisfied, or never, is wrong", arguments: [true, false])
    func policyOfCertificateTransparencyThatIsAlwaysSatisfiedOrNeverIsWrong(_ answer: Bool) async {
        var functions = DecidingFunctions()
        functions.isLogged = { _, _, _ in answer }
        #expect(await Self.wrong(functions) == ["transparency"])
    }

    @Test("rules without the revoked certificates of the list are wrong, although they know every pin")
    func rulesWithoutTheRevokedCertificatesOfTheListAreWrongAlthoughTheyKnowEveryPin() async {
        var functions = DecidingFunctions()
        functions.verdict = { policy, path, host, time in
            let decision = policy.validate(path, for: host, at: time)
            return decision.verdict == .allow || decision.reason == .revoked
        }
        #expect(await Self.wrong(functions) == ["verdict"])
    }

    @Test("one pin for all keys, or none, is wrong", arguments: [true, false])
    func onePinForAllKeysOrNoneIsWrong(_ answer: Bool) async {
        var functions = DecidingFunctions()
        functions.pin = { _ in answer ? Pin(kind: .publicKey, hashing: [7]) : nil }
        #expect(await Self.wrong(functions) == ["hash"])
    }

    @Test("a clock that stands at 1970, or beyond 2049, is no attack", arguments: [0, 2_700_000_000 as Int64])
    func clockThatStandsAt1970OrBeyond2049IsNoAttack(_ seconds: Int64) async {
        let clock = ManualClock(Timestamp(secondsSince1970: seconds))
        for answer in KnownAnswerCheck(clock: clock).all {
            #expect(await answer.isAccepted() == answer.isGood, "\(answer.function)")
        }
    }

    @Test("no two chains have a key in common, and hosts differ")
    func noTwoChainsHaveAKeyInCommonAndHostsDiffer() throws {
        let answers = KnownAnswerCheck(clock: ManualClock(Self.start))
        let chains = try (0..<64).map { _ in try #require(answers.chain()) }
        #expect(Set(chains.flatMap(\.path.publicKeyPins)).count == 3 * chains.count)
        #expect(!chains.flatMap(\.path.publicKeyPins).contains(nil))
        #expect(Set(chains.map(\.host)).count > 48)
        #expect(chains.allSatisfy { (try? HostName($0.host))?.description == $0.host })
    }

    @Test("an input that cannot be made is no attack")
    func inputThatCannotBeMadeIsNoAttack() async {
        #expect(await KnownAnswer("path", isGood: false) { nil }.isAccepted() == false)
        #expect(await KnownAnswer("path", isGood: true) { nil }.isAccepted())
    }
}
