// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@_spi(Tools) @testable import CertificateTransparency

/// What tells the policies apart, with logs of our own.
@Suite("Policies of Certificate Transparency")
struct PolicyTests {
    /// 2026-03-01T00:00:00Z: the time of each check.
    private static let now = Timestamp(secondsSince1970: 1_772_323_200)

    /// 2026-01-01T00:00:00Z, in milliseconds: when logs sign.
    private static let signed: UInt64 = 1_767_225_600_000

    /// A certificate that is valid for so many days, both ends counted.
    private static func leaf(days: Int64) -> TestLeaf {
        var leaf = TestLeaf()
        let start: Int64 = 1_767_225_600
        func text(_ seconds: Int64) -> [UInt8] {
            let text = Timestamp(secondsSince1970: seconds).description
            return Array((text.filter { $0.isNumber } + "Z").utf8)
        }
        leaf.timeTag = 0x18
        leaf.notBefore = text(start)
        leaf.notAfter = text(start + days * 86_400 - 1)
        return leaf
    }

    private static func evaluation(
        _ policy: TransparencyPolicy, days: Int64, _ logs: [TestLog], known: [TestLog]? = nil,
        at times: [UInt64] = [], now: Timestamp = Self.now
    ) throws -> TransparencyEvaluation {
        let certificate = try Self.leaf(days: days).logged(
            logs.enumerated().map { index, log in (log, index < times.count ? times[index] : Self.signed) })
        let list = LogList((known ?? logs).map(\.log), timestamp: Self.now)
        let path = ValidatedPath(uncheckedValidatedPath: [certificate, TestLeaf.issuer])
        return TransparencyEvidence(of: path, logs: list).evaluation(under: policy, at: now)
    }

    private static func satisfies(
        _ policy: TransparencyPolicy, days: Int64, _ logs: [TestLog], at times: [UInt64] = [], now: Timestamp = Self.now
    ) throws -> Bool {
        try self.evaluation(policy, days: days, logs, at: times, now: now).isSatisfied
    }

    private static func logs(_ operators: String..., kind: TransparencyLog.Kind = .rfc6962) -> [TestLog] {
        operators.map { name in
            TestLog {
                $0.operatorName = name
                $0.kind = kind
            }
        }
    }

    @Test("two logs of two operators are enough up to 180 days, for both", arguments: TransparencyPolicy.all)
    func twoLogsOfTwoOperatorsAreEnoughUpTo180DaysForBoth(policy: TransparencyPolicy) throws {
        let logs = Self.logs("A", "B")
        #expect(try Self.satisfies(policy, days: 90, logs) && Self.satisfies(policy, days: 180, logs))
        #expect(try !Self.satisfies(policy, days: 181, logs))
        #expect(try !Self.satisfies(policy, days: 90, Self.logs("A")))
        #expect(try Self.satisfies(policy, days: 181, Self.logs("A", "B", "B")))
    }

    @Test("a lifetime of 180 days and a second is more than 180")
    func lifetimeOf180DaysAndASecondIsMoreThan180() throws {
        let logs = Self.logs("A", "B")
        var leaf = Self.leaf(days: 180)
        let list = LogList(logs.map(\.log), timestamp: nil)
        for (notAfter, expected) in [("20260629235959Z", true), ("20260630000000Z", false)] {
            leaf.notAfter = Array(notAfter.utf8)
            let certificate = try leaf.logged(logs.map { ($0, Self.signed) })
            let evidence = TransparencyEvidence(of: certificate, issuedBy: TestLeaf.issuer, logs: list)
            for policy in TransparencyPolicy.all {
                #expect(evidence.evaluation(under: policy, at: Self.now).isSatisfied == expected)
            }
        }
    }

    @Test("200 days with three timestamps of one operator satisfy neither: Chrome asks for two, Apple counts two")
    func of200DaysWithThreeTimestampsOfOneOperatorSatisfyNeitherChromeAsksForTwo() throws {
        for policy in TransparencyPolicy.all {
            #expect(try !Self.satisfies(policy, days: 200, Self.logs("A", "A", "A")))
        }
        let four = Self.logs("A", "A", "A", "A")
        #expect(try !Self.satisfies(.apple, days: 200, four) && !Self.satisfies(.chrome, days: 200, four))
    }

    @Test("up to 180 days two logs of one operator and one of another are as few as two for Apple, and enough for both")
    func upTo180DaysTwoLogsOfOneOperatorAndOneOfAnotherAreAsFewAsTwoForApple() throws {
        let logs = Self.logs("A", "A", "B")
        #expect(try Self.satisfies(.chrome, days: 90, logs) && Self.satisfies(.apple, days: 90, logs))
        let one = Self.logs("A", "A")
        #expect(try !Self.satisfies(.chrome, days: 90, one) && !Self.satisfies(.apple, days: 90, one))
    }

    @Test("over 398 days nothing satisfies Apple, and Chrome does not mind")
    func over398DaysNothingSatisfiesAppleAndChromeDoesNotMind() throws {
        let logs = Self.logs("A", "B", "C")
        #expect(try Self.satisfies(.apple, days: 398, logs) && !Self.satisfies(.apple, days: 399, logs))
        #expect(try Self.satisfies(.chrome, days: 399, logs) && Self.satisfies(.chrome, days: 3_650, logs))
    }

    @Test("tiled logs alone satisfy Chrome, and Apple asks for one as RFC 6962 has it")
    func tiledLogsAloneSatisfyChromeAndAppleAsksForOneAsRFC6962HasIt() throws {
        let tiled = Self.logs("A", "B", kind: .tiled)
        #expect(try Self.satisfies(.chrome, days: 90, tiled) && !Self.satisfies(.apple, days: 90, tiled))
        let mixed = Self.logs("A", kind: .tiled) + Self.logs("B")
        #expect(try Self.satisfies(.chrome, days: 90, mixed) && Self.satisfies(.apple, days: 90, mixed))
    }

    @Test("one log twice counts once", arguments: TransparencyPolicy.all)
    func oneLogTwiceCountsOnce(policy: TransparencyPolicy) throws {
        let logs = Self.logs("A", "B")
        #expect(try !Self.satisfies(policy, days: 90, [logs[0], logs[0]]))
        #expect(try !Self.satisfies(policy, days: 200, [logs[0], logs[0], logs[1]]))
        #expect(try Self.satisfies(policy, days: 90, [logs[0], logs[0], logs[1]]))
    }

    @Test("a log that moved counts for who ran it when it signed")
    func logThatMovedCountsForWhoRanItWhenItSigned() throws {
        let moved = TestLog {
            $0.operatorName = "B"
            $0.previousOperators = [.init(name: "A", end: Timestamp(secondsSince1970: 1_767_225_601))]
        }
        let logs = [moved] + Self.logs("B")
        let evaluation = try Self.evaluation(.chrome, days: 90, logs)
        #expect(evaluation.isSatisfied && evaluation.timestamps.map(\.operatorName) == ["A", "B"])
        // A second later it was B's.
        let later = try Self.evaluation(.chrome, days: 90, logs, at: [Self.signed + 1_000, Self.signed])
        #expect(!later.isSatisfied && later.timestamps.map(\.operatorName) == ["B", "B"])
    }

    @Test("a retired log counts while the earliest timestamp is from before its retirement, to the millisecond")
    func retiredLogCountsWhileTheEarliestTimestampIsFromBeforeItsRetirement() throws {
        let retired = TestLog {
            $0.operatorName = "A"
            $0.state = .retired(since: Timestamp(secondsSince1970: 1_767_225_600))
        }
        let logs = [retired] + Self.logs("B")
        for policy in TransparencyPolicy.all {
            #expect(try !Self.satisfies(policy, days: 90, logs))
            #expect(try Self.satisfies(policy, days: 90, logs, at: [Self.signed - 1, Self.signed]))
            // It is the earliest of all of them that counts, not its own.
            #expect(try Self.satisfies(policy, days: 90, logs, at: [Self.signed, Self.signed - 1]))
            #expect(try !Self.satisfies(policy, days: 90, logs, at: [Self.signed, Self.signed]))
        }
    }

    @Test("a timestamp that does not hold is not the earliest", arguments: TransparencyPolicy.all)
    func timestampThatDoesNotHoldIsNotTheEarliest(policy: TransparencyPolicy) throws {
        let retired = TestLog {
            $0.operatorName = "A"
            $0.state = .retired(since: Timestamp(secondsSince1970: 1_767_225_600))
        }
        let logs = [retired] + Self.logs("B") + Self.logs("C")
        // Of a log that is not known, long before.
        let evaluation = try Self.evaluation(
            policy, days: 90, logs, known: Array(logs.prefix(2)), at: [Self.signed, Self.signed, 0])
        #expect(evaluation.timestamps.map(\.status) == [.valid, .valid, .unknownLog] && !evaluation.isSatisfied)
    }

    @Test("one log must be accepted now: two that retired since are not enough", arguments: TransparencyPolicy.all)
    func oneLogMustBeAcceptedNowTwoThatRetiredSinceAreNotEnough(policy: TransparencyPolicy) throws {
        let retirement = Timestamp(secondsSince1970: Self.now.secondsSince1970 - 86_400)
        let logs = ["A", "B"].map { name in
            TestLog {
                $0.operatorName = name
                $0.state = .retired(since: retirement)
            }
        }
        #expect(try !Self.satisfies(policy, days: 90, logs))
        // Before they retire they are accepted.
        let before = Timestamp(secondsSince1970: retirement.secondsSince1970 - 1)
        #expect(try Self.satisfies(policy, days: 90, logs, now: before))
        #expect(try !Self.satisfies(policy, days: 90, logs, now: retirement))
        #expect(try Self.satisfies(policy, days: 90, [logs[0]] + Self.logs("C")))
    }

    @Test(
        "qualified, usable and read-only logs count; pending and rejected ones never do",
        arguments: [
            (TransparencyLog.State.qualified, true), (.usable, true), (.readOnly, true), (.pending, false),
            (.rejected, false),
        ])
    func qualifiedUsableAndReadOnlyLogsCountPendingAndRejectedOnesNeverDo(state: TransparencyLog.State, counts: Bool)
        throws
    {
        let log = TestLog {
            $0.operatorName = "A"
            $0.state = state
        }
        for policy in TransparencyPolicy.all {
            let evaluation = try Self.evaluation(policy, days: 90, [log] + Self.logs("B"))
            #expect(evaluation.isSatisfied == counts)
            #expect(evaluation.timestamps[0].status == (counts ? .valid : .logRejected))
        }
    }

    @Test("a log counts for certificates that end in its interval, whose last moment is not in it")
    func logCountsForCertificatesThatEndInItsIntervalWhoseLastMomentIsNotInIt() throws {
        let end: Int64 = 1_767_225_600 + 90 * 86_400 - 1
        for (range, expected) in [
            (end..<(end + 1), TransparencyEvaluation.Status.valid), ((end - 9)..<end, .outsideInterval),
            ((end + 1)..<(end + 9), .outsideInterval),
        ] {
            let log = TestLog {
                $0.interval =
                    Timestamp(secondsSince1970: range.lowerBound)..<Timestamp(secondsSince1970: range.upperBound)
            }
            let evaluation = try Self.evaluation(.chrome, days: 90, [log] + Self.logs("B"))
            #expect(evaluation.timestamps[0].status == expected)
            #expect(evaluation.isSatisfied == (expected == .valid))
        }
    }

    @Test(
        "the first status that applies is the one: a log that is rejected, from the future and outside is from the future"
    )
    func firstStatusThatAppliesIsTheOneALogThatIsRejected() throws {
        let log = TestLog {
            $0.state = .rejected
            $0.interval = Timestamp(secondsSince1970: 0)..<Timestamp(secondsSince1970: 1)
        }
        let future = UInt64(Self.now.secondsSince1970 + 300) * 1_000
        func status(_ milliseconds: UInt64, known: Bool = true) throws -> TransparencyEvaluation.Status? {
            try Self.evaluation(.chrome, days: 90, [log], known: known ? [log] : [], at: [milliseconds])
                .timestamps.first?.status
        }
        #expect(try status(future + 1) == .inTheFuture)
        #expect(try status(future) == .outsideInterval)
        #expect(try status(future + 1, known: false) == .unknownLog)
        #expect(try status(.max) == .inTheFuture)
    }

    @Test("more timestamps than are asked for, good or bad, change nothing", arguments: TransparencyPolicy.all)
    func moreTimestampsThanAreAskedForGoodOrBadChangeNothing(policy: TransparencyPolicy) throws {
        let rejected = TestLog { $0.state = .rejected }
        let logs = Self.logs("A", "B", "C", "D", "E") + [rejected]
        #expect(try Self.evaluation(policy, days: 90, logs, known: Array(logs.dropFirst(2))).isSatisfied)
    }

    @Test("an evaluation says what is missing")
    func evaluationSaysWhatIsMissing() throws {
        let evaluation = try Self.evaluation(.apple, days: 200, Self.logs("A", "A", "A", kind: .tiled))
        #expect(
            evaluation.detail
                == "2 logs of the 3 that 200 days ask for, at most 2 of an operator; none of an RFC 6962 log")
        #expect(try Self.evaluation(.chrome, days: 90, Self.logs("A", "B")).detail == "2 logs of 2 operators count")
        #expect(evaluation.lines.last == "apple: not satisfied: \(evaluation.detail)")
        #expect(evaluation.lines.count == 4 && evaluation.lines[0].hasPrefix("valid  2026-01-01T00:00:00Z  "))
    }

    @Test("a policy has one name for ever, a source and a date")
    func policyHasOneNameForEverASourceAndADate() {
        #expect(TransparencyPolicy(named: "chrome") == .chrome && TransparencyPolicy(named: "apple") == .apple)
        #expect(TransparencyPolicy(named: "chrome-2027") == nil && TransparencyPolicy(named: "Chrome") == nil)
        #expect(TransparencyPolicy.all.allSatisfy { $0.source.hasPrefix("https://") && $0.date == "2026-11-22" })
    }
}
