// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinningTesting
import Testing

@testable import tumbler

@Suite("The times of a drill, and the lines that are typed")
struct DrillRecordTests {
    private static func record(_ scenario: DrillScenario = .lostKey) throws -> DrillRecord {
        DrillRecord(
            scenario, host: try HostName("api.example.com"), name: "com.example.app", installations: 8,
            refreshInterval: 43_200, isAutomatic: false, brokenAt: DrillScene.start)
    }

    @Test("a goal is met to its last second, and missed by what is beyond")
    func goalIsMetToItsLastSecondAndMissedByWhatIsBeyond() throws {
        var record = try Self.record()
        record.reach(.noticed, at: DrillScene.start.advanced(by: 300))
        record.reach(.suspended, at: DrillScene.start.advanced(by: 901))
        #expect(record.outcome(of: .noticed) == .met)
        #expect(record.outcome(of: .suspended) == .late(1))
        #expect(record.outcome(of: .causeFound) == .missing)
        #expect(!record.reach(.noticed, at: DrillScene.start.advanced(by: 1)) && record.seconds(until: .noticed) == 300)
    }

    @Test("the right list within the time for a suspension needs none; later it is missing")
    func rightListWithinTheTimeForASuspensionNeedsNoneLaterItIsMissing() throws {
        var early = try Self.record()
        early.reach(.listPublished, at: DrillScene.start.advanced(by: 900))
        #expect(early.outcome(of: .suspended).isGood)
        var late = try Self.record()
        late.reach(.listPublished, at: DrillScene.start.advanced(by: 901))
        #expect(late.outcome(of: .suspended) == .missing)
    }

    @Test("each scenario is over when what it asks for was reached, and not before")
    func eachScenarioIsOverWhenWhatItAsksForWasReachedAndNotBefore() throws {
        for scenario in DrillScenario.allCases {
            var record = try Self.record(scenario)
            let needed = DrillStep.allCases.filter { $0 != .suspended && scenario.goal(of: $0).seconds != nil }
            #expect(needed.contains(.noticed) && needed.contains(.causeFound) && needed.contains(.allBack))
            for step in needed {
                #expect(!record.isOver, "\(scenario), before \(step)")
                record.reach(step, at: DrillScene.start)
            }
            #expect(record.isOver)
        }
    }

    @Test("a clock that goes back makes no time negative")
    func clockThatGoesBackMakesNoTimeNegative() throws {
        var record = try Self.record()
        record.reach(.noticed, at: DrillScene.start.advanced(by: -100))
        #expect(record.seconds(until: .noticed) == 0)
    }

    @Test("a typed line breaks out of no cell of the page, and no line of it")
    func typedLineBreaksOutOfNoCellOfThePageAndNoLineOfIt() throws {
        var record = try Self.record()
        record.note("$ echo `x` | cat\n# no heading", at: DrillScene.start)
        let lines = DrillPage(record: record).text.split(separator: "\n")
        let row = try #require(lines.first { $0.contains("echo") })
        #expect(row.hasPrefix("| 0 s | $ echo 'x' \\| cat") && row.hasSuffix(" |"))
        #expect(!lines.contains { $0.hasPrefix("# no heading") })
    }

    @Test("lengths of time are written to the second")
    func lengthsOfTimeAreWrittenToTheSecond() {
        #expect(
            [0, 59, 60, 3_599, 3_600, 90_061].map(DrillPage.duration) == [
                "0 s", "59 s", "1 min 0 s", "59 min 59 s", "1 h 0 min 0 s", "25 h 1 min 1 s",
            ])
    }

    @Test("the first word says whether a line is for the drill or for the shell")
    func firstWordSaysWhetherALineIsForTheDrillOrForTheShell() {
        #expect(DrillLine(" noticed ") == .other(.noticed))
        #expect(DrillLine("cause 3") == .other(.cause(.strangeSigner)))
        #expect(DrillLine("quit") == .quit && DrillLine("exit") == .quit)
        #expect(DrillLine("\t") == .other(.nothing))
        #expect(DrillLine("pages") == .other(.pages) && DrillLine("causes") == .other(.causes))
        #expect(DrillLine("tumbler suspend '*' --for 2h") == .shell("tumbler suspend '*' --for 2h"))
        #expect(DrillLine("cause3") == .shell("cause3"))
        for wrong in ["cause", "cause 0", "cause 7", "cause one", "cause 1 2", "quit now", "pages 1"] {
            guard case .other(.wrong) = DrillLine(wrong) else {
                Issue.record("\(wrong) is taken for something")
                continue
            }
        }
        guard case .other(.wrong) = DrillLine(String(repeating: "a", count: DrillLine.maximumLength + 1)) else {
            Issue.record("a line without a limit")
            return
        }
    }
}
