// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListServer

@Suite("Tokens")
struct AccessTokenTests {
    private static let time = Timestamp(secondsSince1970: 1_795_219_200)
    private static let random = (0..<40).map { UInt8($0) }

    @Test("open what they were made for, by their secret alone, until they are revoked")
    func scopes() throws {
        let made = try #require(AccessToken.make(.publish, names: ["a"], random: Self.random, at: Self.time))
        var token = made.token
        #expect(AccessToken.id(of: made.secret) == token.id)
        #expect(token.matches(made.secret))
        #expect(!token.matches(made.secret + "0"))
        #expect(token.mayPublish("a") && !token.mayPublish("b") && !token.mayRead)
        token.revokedAt = Self.time
        #expect(!token.mayPublish("a"))
        let reading = try #require(AccessToken.make(.read, names: [], random: Self.random, at: Self.time)).token
        #expect(reading.mayRead && !reading.mayPublish("a"))
    }

    @Test("whoever knows a token's id, from the audit log perhaps, cannot guess its secret: 20,000 guesses")
    func guesses() throws {
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

    @Test("are not read out of what is none", arguments: ["", "tumbler_", "tumbler_0001020304050607_", "_a_b", "x"])
    func none(text: String) { #expect(AccessToken.id(of: text) == nil) }

    @Test("are not made of too little chance")
    func chance() { #expect(AccessToken.make(.read, names: [], random: [1], at: Self.time) == nil) }
}
