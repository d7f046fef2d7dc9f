// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinningTesting
import Testing

@testable import PinReportAnalysis

@Suite("The time to come back for clients that are turned away")
struct RetryTimeTests {
    @Test("never before their turn, at most four hours, and not all at one moment")
    func neverBeforeTheirTurnAtMostFourHoursAndNotAllAtOneMoment() {
        var random = SeededGenerator(seed: 7)
        for line in [Int64.min, -1, 0, 1, 2, 10, 3_600, RetryTime.maximumLine, .max] {
            let told = (0..<1_000).map { _ in RetryTime.seconds(line, using: &random) }
            let turn = min(max(line, 1), RetryTime.maximumLine)
            #expect(told.allSatisfy { $0 >= turn && $0 <= RetryTime.maximum && $0 <= turn + turn / 3 })
            if turn > 100 { #expect(Set(told).count > 300) }
        }
        #expect(RetryTime.maximumLine + RetryTime.maximumLine / 3 == RetryTime.maximum)
    }

    @Test("the wait of a full queue grows with those turned away, to three hours, and ends when the queue is empty")
    func waitOfAFullQueueGrowsWithThoseTurnedAwayToThreeHoursAndEndsWhenTheQueueIsEmpty() {
        var turnedAway = TurnedAway(of: 20_000)
        var told: [Int64] = []
        for _ in 0..<5_000 { told.append(turnedAway.add(1_000, behind: 20_000)) }
        #expect(told.first == 63)
        #expect(zip(told, told.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(told.last == RetryTime.maximumLine)
        turnedAway.took(4_980_000, leaving: 20_000)
        #expect(turnedAway.add(0, behind: 20_000) == 120)
        turnedAway.took(1, leaving: 0)
        #expect(turnedAway.add(0, behind: 20_000) == 60)
        #expect(turnedAway.add(1, behind: 0, minimum: 30) == 30)
    }

    @Test("counts come from outside, and no value of them traps")
    func countsComeFromOutsideAndNoValueOfThemTraps() {
        for capacity in [Int.min, 0, 1] {
            var turnedAway = TurnedAway(of: capacity)
            for count in [Int.min, -1, 0, 1, 1_000_000_000_000] {
                let told = turnedAway.add(count, behind: 0)
                #expect(told >= 60 && told <= RetryTime.maximumLine)
                turnedAway.took(count, leaving: 1)
            }
        }
    }
}
