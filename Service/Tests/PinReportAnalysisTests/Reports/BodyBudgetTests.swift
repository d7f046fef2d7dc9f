// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PinReportAnalysis

@Suite("Room for bodies that are not whole yet")
struct BodyBudgetTests {
    private static let usual = 524_288

    private static func source(_ number: UInt8) throws -> SourceAddress { try Self.source("198.51.100.\(number)") }

    private static func source(_ text: String) throws -> SourceAddress { try #require(SourceAddress(text)) }

    @Test("one source that sends large bodies slowly gets little, and others report on")
    func oneSourceThatSendsLargeBodiesSlowlyGetsLittleAndOthersReportOn() throws {
        var budget = BodyBudget(usual: Self.usual)
        var bodies = try (0..<3).map { _ in BodyBudget.Body(from: try Self.source(1)) }
        #expect(budget.take(6_291_456, for: &bodies[0]))
        #expect(budget.take(6_291_456, for: &bodies[1]))
        #expect(!budget.take(1, for: &bodies[2]))
        var other = BodyBudget.Body(from: try Self.source(2))
        #expect(budget.take(Self.usual, for: &other))
        budget.end(bodies[0])
        #expect(budget.take(1, for: &bodies[2]))
        for body in [bodies[1], bodies[2], other] { budget.end(body) }
        #expect(budget.held == 0)
    }

    @Test("a flood of large bodies from everywhere leaves room for usual ones")
    func floodOfLargeBodiesFromEverywhereLeavesRoomForUsualOnes() throws {
        var budget = BodyBudget(usual: Self.usual)
        var large: [BodyBudget.Body] = []
        for number in UInt8(0)..<200 {
            var body = BodyBudget.Body(from: try Self.source(number))
            guard budget.take(6_291_456, for: &body) else { break }
            large.append(body)
        }
        #expect(large.count == BodyBudget.maximumBeyond / (6_291_456 - Self.usual))
        var usual: [BodyBudget.Body] = []
        for number in UInt8(0)..<200 {
            var body = BodyBudget.Body(from: try Self.source(number))
            guard budget.take(Self.usual, for: &body) else { break }
            usual.append(body)
        }
        #expect(usual.count == BodyBudget.maximumUsual / Self.usual - large.count)
        #expect(budget.held <= BodyBudget.maximumUsual + BodyBudget.maximumBeyond)
        for body in large + usual { budget.end(body) }
        #expect(budget.held == 0)
    }

    @Test("a /64 is one source, and a body in pieces takes what it would in one")
    func of64IsOneSourceAndABodyInPiecesTakesWhatItWouldInOne() throws {
        var budget = BodyBudget(usual: Self.usual)
        var first = BodyBudget.Body(from: try Self.source("2001:db8::1"))
        for _ in 0..<12 { #expect(budget.take(1_048_576, for: &first)) }
        #expect(budget.held == BodyBudget.maximumOfOneSource)
        var second = BodyBudget.Body(from: try Self.source("2001:db8::2"))
        #expect(!budget.take(1, for: &second))
        budget.end(first)
        #expect(budget.held == 0)
    }
}
