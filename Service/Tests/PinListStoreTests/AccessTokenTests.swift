// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListStore

@Suite("Tokens")
struct AccessTokenTests {
    private static let time = Timestamp(secondsSince1970: 1_795_219_200)
    private static let random = (0..<40).map { UInt8($0) }

    @Test("open what they were made for, by their secret alone, until they are revoked")
    func openWhatTheyWereMadeForByTheirSecretAloneUntilTheyAreRevoked() throws {
        let made = try #require(AccessToken.make(.publish, names: ["a"], random: Self.random, at: Self.time))
        var token = made.token
        #expect(AccessToken.id(of: made.secret) == token.id)
        #expect(token.matches(made.secret))
        #expect(!token.matches(made.secret + "0"))
        #expect(token.mayPublish("a") && !token.mayPublish("b") && !token.mayRead)
        #expect(token.isValid(at: Self.time))
        token.revokedAt = Self.time
        #expect(!token.isValid(at: Self.time))
        let reading = try #require(AccessToken.make(.read, names: [], random: Self.random, at: Self.time)).token
        #expect(reading.mayRead && !reading.mayPublish("a"))
    }

    @Test("a token's id, known from the audit log perhaps, does not help to guess its secret: 20,000 guesses")
    func tokensIdKnownFromTheAuditLogPerhapsDoesNotHelpToGuessItsSecret20000Guesses() throws {
        let made = try #require(AccessToken.make(.publish, names: ["a"], random: Self.random, at: Self.time))
        let known = made.secret.dropLast(4)
        let guesses = (0..<20_000).map { number in
            let digits = String(number, radix: 16)
            return known + String(repeating: "0", count: 4 - digits.count) + digits
        }.filter { $0 != made.secret }
        #expect(guesses.count >= 19_999)
        #expect(guesses.filter { made.token.matches($0) } == [])
        // And what differs in the first byte of its hash alone, or in the last.
        for index in [0, 31] {
            var hash = made.token.hash
            hash[index] ^= 1
            let other = AccessToken(id: made.token.id, scope: .publish, names: ["a"], hash: hash, madeAt: Self.time)
            #expect(!other.matches(made.secret))
        }
    }

    @Test("end when they should, to the second, and are called by what they are for and whose they are")
    func endWhenTheyShouldToTheSecondAndAreCalledByWhatTheyAreForAndWhoseTheyAre() throws {
        let end = Timestamp(secondsSince1970: Self.time.secondsSince1970 + 60)
        let token = try #require(
            AccessToken.make(
                .read, names: [], label: "CI of the app", owner: "payments-team", endsAt: end, random: Self.random,
                at: Self.time)
        ).token
        #expect(token.isValid(at: Timestamp(secondsSince1970: end.secondsSince1970 - 1)))
        #expect(!token.isValid(at: end))
        #expect(token.actor == "0001020304050607 \"CI of the app\" (payments-team)")
    }

    @Test(
        "have no label and no owner that would hide something in a line, or push all else out of it",
        arguments: ["a\nb", "\u{1b}[2J", "\u{202e}abc", "a\u{0}", "\u{2028}", String(repeating: "a", count: 101)])
    func haveNoLabelAndNoOwnerThatWouldHideSomethingInALineOrPushAllElseOutOfIt(text: String) throws {
        #expect(!AccessToken.isText(text))
        #expect(AccessToken.make(.read, names: [], label: text, random: Self.random, at: Self.time) == nil)
        #expect(AccessToken.make(.read, names: [], owner: text, random: Self.random, at: Self.time) == nil)
        #expect(LoginCode.make(owner: text, random: Array(Self.random.prefix(32)), at: Self.time) == nil)
        #expect(AccessToken.isText(String(repeating: "ä", count: 100)))
    }

    @Test("are not read out of what is none", arguments: ["", "tumbler_", "tumbler_0001020304050607_", "_a_b", "x"])
    func areNotReadOutOfWhatIsNone(text: String) { #expect(AccessToken.id(of: text) == nil) }

    @Test("are not made of too little chance")
    func areNotMadeOfTooLittleChance() {
        #expect(AccessToken.make(.read, names: [], random: [1], at: Self.time) == nil)
    }
}
