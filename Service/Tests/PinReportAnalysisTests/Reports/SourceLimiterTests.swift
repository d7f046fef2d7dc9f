// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PinReportAnalysis

@Suite("The number of reports that are taken from a source")
struct SourceLimiterTests {
    private static let second: Int64 = 1_000_000_000

    /// Two at once, then one in ten seconds; all together a hundred at once.
    private static var limits: SourceLimiter.Limits {
        var limits = SourceLimiter.Limits()
        limits.sourceBurst = 2
        limits.sourcePerMinute = 6
        limits.totalBurst = 100
        limits.totalPerMinute = 60
        limits.sampleEvery = 10
        limits.sources = 64
        return limits
    }

    private func address(_ text: String) throws -> SourceAddress { try #require(SourceAddress(text)) }

    /// Sends a body of so many reports.
    ///
    /// - Returns: What is told; `nil` for one that is taken.
    private func body(
        of reports: Int, _ address: SourceAddress, _ limiter: inout SourceLimiter, at now: Int64
    ) throws -> Int64? {
        let answer = limiter.evaluate(address, at: now)
        guard let admission = answer.admission else { return answer.retryAfter }
        return limiter.charge(reports - 1, address, admission, at: now).retryAfter
    }

    @Test("a burst, then a rate; the wait is said in whole seconds, and after it there is room")
    func burstThenARateTheWaitIsSaidInWholeSecondsAndAfterItThereIsRoom() throws {
        var limiter = SourceLimiter(Self.limits, seed: 1)
        let phone = try self.address("192.0.2.1")
        let answers = (0..<3).map { _ in limiter.evaluate(phone, at: 0).retryAfter }
        #expect(answers == [nil, nil, 10])
        let then = limiter.evaluate(phone, at: 10 * Self.second)
        #expect(then.isAllowed)
        let rested = (0..<3).map { _ in limiter.evaluate(phone, at: 100 * Self.second).retryAfter }
        #expect(rested == [nil, nil, 10])
    }

    @Test("of one source a megabyte of documents is kept, and one an hour; of another as much, and small ones always")
    func ofOneSourceAMegabyteOfDocumentsIsKeptAndOneAnHour() throws {
        var limiter = SourceLimiter(Self.limits, seed: 1)
        let (flood, phone) = (try self.address("192.0.2.1"), try self.address("192.0.2.2"))
        for source in [flood, phone] { _ = limiter.evaluate(source, at: 0) }
        let quarter = SourceLimiter.keptKibibytes * 1_024 / 4
        let first = (0..<6).map { _ in limiter.keeps(quarter, of: flood, at: 0) }
        #expect(first == [true, true, true, true, false, false])
        let (small, other) = (limiter.keeps(1_023, of: flood, at: 0), limiter.keeps(quarter, of: phone, at: 0))
        #expect(small && other)
        let half = (0..<3).map { _ in limiter.keeps(quarter, of: flood, at: 1_900 * Self.second) }
        #expect(half == [true, true, false])
        // Longer than all that may be kept: once, and then nothing for long.
        let large = (0..<2).map { _ in limiter.keeps(8 * quarter, of: flood, at: 20_000 * Self.second) }
        #expect(large == [true, false])
    }

    @Test("the more are turned away, the later they are asked to come: one after the other, and three hours at most")
    func moreAreTurnedAwayTheLaterTheyAreAskedToComeOneAfterTheOther() throws {
        var limiter = SourceLimiter(Self.limits, seed: 1)
        let office = try self.address("192.0.2.1")
        let told = (0..<2_000).compactMap { _ in limiter.evaluate(office, at: 0).retryAfter }
        #expect(told.count == 1_998)
        #expect(Array(told.prefix(4)) == [10, 20, 30, 40])
        #expect(zip(told, told.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(told.last == RetryTime.maximumLine)
        // An hour later the line is an hour shorter, and who comes early stands at its end.
        let half = RetryTime.maximumLine - 3_600
        _ = limiter.evaluate(office, at: 3_600 * Self.second)
        _ = limiter.evaluate(office, at: 3_600 * Self.second)
        #expect(limiter.evaluate(office, at: 3_600 * Self.second).retryAfter == half + 10)
        // A line that is over is forgotten.
        let later = 4 * RetryTime.maximumLine * Self.second
        #expect((0..<3).map { _ in limiter.evaluate(office, at: later).retryAfter } == [nil, nil, 10])
    }

    @Test("the excess of all sources is one line, and a source that floods makes no other wait longer")
    func excessOfAllSourcesIsOneLineAndASourceThatFloodsMakesNoOtherWaitLonger() throws {
        var limits = Self.limits
        limits.sources = 4_096
        limits.sourceBurst = 100
        limits.sampleEvery = 1_000_000
        var limiter = SourceLimiter(limits, seed: 1)
        for number in 0..<100 { _ = limiter.evaluate(try self.address("10.0.\(number).1"), at: 0) }
        let told = try (0..<50).map { limiter.evaluate(try self.address("10.1.\($0).1"), at: 0).retryAfter }
        #expect(told == (1...50).map { Int64($0) })
        let flood = try self.address("203.0.113.1")
        for _ in 0..<10_000 { _ = limiter.evaluate(flood, at: 0) }
        #expect(limiter.evaluate(try self.address("192.0.2.1"), at: 0).retryAfter == 52)
    }

    @Test("more sources than the table has places make the line of all as long as they are many")
    func moreSourcesThanTheTableHasPlacesMakeTheLineOfAllAsLongAsTheyAreMany() throws {
        var limits = SourceLimiter.Limits()
        (limits.totalBurst, limits.totalPerMinute, limits.sources) = (1, 60_000, 64)
        limits.sampleEvery = 1_000_000
        var limiter = SourceLimiter(limits, seed: 1)
        var last: Int64?
        for number in 0..<5_001 {
            last = limiter.evaluate(try self.address("10.1.\(number / 250).\(number % 250)"), at: 0).retryAfter
        }
        // A thousand tokens in a second, for 5,000 who were turned away.
        #expect(last == 5)
    }

    @Test("an array of 128 gets through once from a source that was quiet, and is paid back")
    func arrayOf128GetsThroughOnceFromASourceThatWasQuietAndIsPaidBack() throws {
        var limiter = SourceLimiter(SourceLimiter.Limits(), seed: 1)
        let browser = try self.address("192.0.2.1")
        #expect(try self.body(of: 128, browser, &limiter, at: 0) == nil)
        #expect(limiter.evaluate(browser, at: 0).retryAfter == 9)
        #expect(try self.body(of: 1, browser, &limiter, at: 9 * Self.second) == nil)
        #expect(try self.body(of: 1, browser, &limiter, at: 9 * Self.second) != nil)
        // A bucket that is not full does not owe: the array comes again when it is.
        let early = try #require(try self.body(of: 128, browser, &limiter, at: 60 * Self.second))
        #expect(early > 60)
        #expect(try self.body(of: 128, browser, &limiter, at: 200 * Self.second) == nil)
        // One that fits into what is there is taken.
        let other = try self.address("192.0.2.2")
        #expect(try self.body(of: 1, other, &limiter, at: 200 * Self.second) == nil)
        #expect(try self.body(of: 119, other, &limiter, at: 200 * Self.second) == nil)
        #expect(try self.body(of: 2, other, &limiter, at: 201 * Self.second) != nil)
    }

    @Test("120 arrays that are sent at once bring one through")
    func of120ArraysThatAreSentAtOnceBringOneThrough() throws {
        var limiter = SourceLimiter(SourceLimiter.Limits(), seed: 1)
        let flood = try self.address("192.0.2.1")
        let admissions = (0..<200).compactMap { _ in limiter.evaluate(flood, at: 0).admission }
        #expect(admissions.count == 120)
        let taken = admissions.count { limiter.charge(127, flood, $0, at: 0).isAllowed }
        #expect(taken == 1)
    }

    @Test("bodies that were begun while the bucket was full, and end together, bring one array through")
    func bodiesThatWereBegunWhileTheBucketWasFullAndEndTogetherBringOneArrayThrough() throws {
        var limiter = SourceLimiter(SourceLimiter.Limits(), seed: 1)
        let flood = try self.address("192.0.2.1")
        var admissions: [SourceLimiter.Admission] = []
        for second in 0..<60 as Range<Int64> {
            let admission = try #require(limiter.evaluate(flood, at: second * Self.second).admission)
            #expect(admission.sourceWasFull)
            admissions.append(admission)
        }
        #expect(admissions.count { limiter.charge(127, flood, $0, at: 60 * Self.second).isAllowed } == 1)
    }

    @Test("a large incident is charged in two steps, and both are owed by the one body that overdraws")
    func largeIncidentIsChargedInTwoStepsAndBothAreOwedByTheOneBodyThatOverdraws() throws {
        var limiter = SourceLimiter(SourceLimiter.Limits(), seed: 1)
        let phone = try self.address("192.0.2.1")
        let admissions = (0..<3).compactMap { _ in limiter.evaluate(phone, at: 0).admission }
        let read = try #require(limiter.charge(191, phone, admissions[0], at: 0).admission)
        #expect(!limiter.charge(191, phone, admissions[1], at: 0).isAllowed)
        #expect(limiter.charge(100, phone, read, at: 0).isAllowed)
        #expect(!limiter.charge(1, phone, admissions[2], at: 0).isAllowed)
        // 3 + 191 + 100 tokens, of which 120 were there.
        #expect(!limiter.evaluate(phone, at: 174 * Self.second).isAllowed)
        #expect(limiter.evaluate(phone, at: 175 * Self.second).isAllowed)
    }

    @Test("an hour of arrays from one address stores its burst, its rate and one body", arguments: [2, 60, 128])
    func hourOfArraysFromOneAddressStoresItsBurstItsRateAndOneBody(_ size: Int) throws {
        var limits = SourceLimiter.Limits()
        limits.sampleEvery = 1_000_000
        var limiter = SourceLimiter(limits, seed: 1)
        let flood = try self.address("192.0.2.1")
        var stored = 0
        for step in 0..<36_000 as Range<Int64> {
            let told = try self.body(of: size, flood, &limiter, at: step * Self.second / 10)
            if told == nil { stored += size }
        }
        #expect(stored <= 120 + 3_600 + size)
        #expect(stored >= 120)
    }

    @Test("the limit for all is charged for reports, too, and may be overdrawn once by a body")
    func limitForAllIsChargedForReportsTooAndMayBeOverdrawnOnceByABody() throws {
        var limits = SourceLimiter.Limits()
        (limits.totalBurst, limits.totalPerMinute) = (10, 60)
        var limiter = SourceLimiter(limits, seed: 1)
        #expect(try self.body(of: 128, try self.address("192.0.2.1"), &limiter, at: 0) == nil)
        #expect(limiter.evaluate(try self.address("192.0.2.2"), at: 0).retryAfter == 119)
        #expect(try self.body(of: 1, try self.address("192.0.2.2"), &limiter, at: 119 * Self.second) == nil)
    }

    @Test("an IPv6 /64 is one source, since one machine has all of it; IPv4 addresses are told apart")
    func iPv664IsOneSourceSinceOneMachineHasAllOfItIPv4AddressesAreToldApart() throws {
        var limiter = SourceLimiter(Self.limits, seed: 1)
        let sameSite = try ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map(self.address)
        let answers = sameSite.map { limiter.evaluate($0, at: 0).retryAfter }
        #expect(answers == [nil, nil, 10])
        let neighbours = try ["192.0.2.1", "192.0.2.2", "::ffff:192.0.2.1", "192.0.2.1"].map(self.address)
        let others = neighbours.map { limiter.evaluate($0, at: 0).retryAfter }
        #expect(others == [nil, nil, nil, 10])
    }

    @Test("of what is over the limit one in ten is kept, and not more than so many in a minute")
    func ofWhatIsOverTheLimitOneInTenIsKeptAndNotMoreThanSoManyInAMinute() throws {
        var limits = Self.limits
        limits.samplesPerMinute = 1
        var limiter = SourceLimiter(limits, seed: 1)
        let flood = try self.address("192.0.2.1")
        var answers: [SourceLimiter.Answer] = []
        for _ in 0..<102 { answers.append(limiter.evaluate(flood, at: 0)) }
        #expect(answers.count { $0.isAllowed } == 2)
        #expect(answers.count { $0.isSample } == 10)
        // The samples' own bucket is empty now.
        for _ in 0..<1_000 {
            let answer = limiter.evaluate(flood, at: 1)
            #expect(!answer.isAllowed && !answer.isSample)
        }
    }

    @Test("all sources together have a limit, and one that is refused by it has lost nothing of its own")
    func allSourcesTogetherHaveALimitAndOneThatIsRefusedByItHasLostNothingOfItsOwn() throws {
        var limits = Self.limits
        limits.sources = 4_096
        var limiter = SourceLimiter(limits, seed: 1)
        for number in 0..<100 {
            let answer = limiter.evaluate(try self.address("10.0.\(number).1"), at: 0)
            #expect(answer.isAllowed)
        }
        let late = try self.address("192.0.2.1")
        let refused = limiter.evaluate(late, at: 0)
        #expect(refused.retryAfter == 1)
        let again = (1...2).map { limiter.evaluate(late, at: $0 * Self.second) }
        #expect(again.allSatisfy { $0.isAllowed })
    }

    @Test(
        "100,000 addresses take no more memory than one, and get no more than the table's places and their rate allow")
    func of100000AddressesTakeNoMoreMemoryThanOne() throws {
        var limits = Self.limits
        limits.totalBurst = 1_000_000
        limits.totalPerMinute = 60_000_000
        var limiter = SourceLimiter(limits, seed: 1)
        let capacity = limiter.capacity
        #expect(capacity == 64)
        var allowed = 0
        for number in 0..<100_000 {
            let bytes = [10, UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
            let answer = limiter.evaluate(try #require(SourceAddress(bytes: bytes)), at: 0)
            if answer.isAllowed { allowed += 1 }
        }
        #expect(limiter.capacity == capacity)
        // Two at once for each place of the table: no address begins with a full bucket that another one had emptied.
        #expect(allowed == 128)
    }

    @Test("an attacker who pushes spent sources out of the table does not lift their limit")
    func attackerWhoPushesSpentSourcesOutOfTheTableDoesNotLiftTheirLimit() throws {
        var limits = Self.limits
        limits.sources = 8
        limits.totalBurst = 1_000_000
        limits.totalPerMinute = 60_000_000
        var limiter = SourceLimiter(limits, seed: 1)
        let attacker = try self.address("192.0.2.1")
        var allowed = 0
        // In ten minutes eight places give 8 × 2 at once, and 8 × 6 in each minute.
        for step in 0..<6_000 as Range<Int64> {
            let now = step * Self.second / 10
            if limiter.evaluate(attacker, at: now).isAllowed { allowed += 1 }
            let other = try self.address("198.51.\(step / 200).\(step % 200)")
            if limiter.evaluate(other, at: now).isAllowed { allowed += 1 }
        }
        #expect(allowed <= 8 * 2 + 8 * 60)
        #expect(allowed > 8 * 2)
    }

    @Test("a source that is active keeps its place among others that come once")
    func sourceThatIsActiveKeepsItsPlaceAmongOthersThatComeOnce() throws {
        var limits = Self.limits
        limits.sources = 8
        var limiter = SourceLimiter(limits, seed: 1)
        let active = try self.address("192.0.2.1")
        _ = [limiter.evaluate(active, at: 0), limiter.evaluate(active, at: 0)]
        for number in 0..<7 {
            let answer = limiter.evaluate(try self.address("198.51.100.\(number)"), at: 0)
            #expect(answer.isAllowed)
        }
        let answer = limiter.evaluate(active, at: 0)
        #expect(answer.retryAfter == 10)
    }

    @Test("a clock that goes back stands still; one that runs to its end does not trap")
    func clockThatGoesBackStandsStillOneThatRunsToItsEndDoesNotTrap() throws {
        var limiter = SourceLimiter(Self.limits, seed: 1)
        let phone = try self.address("192.0.2.1")
        _ = [limiter.evaluate(phone, at: 100 * Self.second), limiter.evaluate(phone, at: 100 * Self.second)]
        let back = limiter.evaluate(phone, at: 0)
        #expect(back.retryAfter == 10)
        let negative = limiter.evaluate(phone, at: .min)
        #expect(negative.retryAfter == 20)
        let end = (0..<3).map { _ in limiter.evaluate(phone, at: .max).retryAfter }
        #expect(end == [nil, nil, 10])
    }

    @Test("limits that make no sense are the nearest that do")
    func limitsThatMakeNoSenseAreTheNearestThatDo() throws {
        var limits = SourceLimiter.Limits()
        (limits.sourceBurst, limits.sourcePerMinute, limits.totalBurst, limits.totalPerMinute) = (0, 0, -1, .max)
        (limits.sampleEvery, limits.samplesPerMinute, limits.sources) = (0, -5, .max)
        var limiter = SourceLimiter(limits, seed: 1)
        #expect(limiter.capacity == 1_048_576)
        let phone = try self.address("192.0.2.1")
        let answers = (0..<2).map { _ in limiter.evaluate(phone, at: 0) }
        #expect(answers[0].isAllowed)
        #expect(answers[1] == .sample(retryAfter: 60))
        // The cost of a body comes from outside as well.
        var other = SourceLimiter(limits, seed: 1)
        let admission = try #require(other.evaluate(phone, at: 0).admission)
        for tokens in [Int.min, -1, 0] { #expect(other.charge(tokens, phone, admission, at: 0).isAllowed) }
        for _ in 0..<3 { _ = other.charge(.max, phone, admission, at: .max) }
    }

    @Test("two instances take together what one would, and one that is left takes it all")
    func twoInstancesTakeTogetherWhatOneWouldAndOneThatIsLeftTakesItAll() throws {
        var limits = SourceLimiter.Limits()
        limits.sourceBurst = 1_000
        limits.totalBurst = 10
        limits.totalPerMinute = 60
        limits.sampleEvery = 1_000_000
        var instances = (0..<2).map { SourceLimiter(limits, seed: UInt64($0)) }
        let address = try #require(SourceAddress(bytes: [192, 0, 2, 1]))
        func taken(until second: Int64) -> Int {
            (0..<2).reduce(0) { sum, index in
                sum
                    + (0..<1_000).count { _ in instances[index].evaluate(address, at: second * 1_000_000_000).isAllowed
                    }
            }
        }
        for index in instances.indices { instances[index].share(among: 2) }
        #expect(taken(until: 0) == 10)
        #expect(taken(until: 4) == 4)
        instances[0].share(among: 1)
        instances[1].share(among: 1_000_000)
        #expect(taken(until: 3_600) == 10 + 1)
    }
}

extension SourceLimiter.Answer {
    fileprivate var admission: SourceLimiter.Admission? {
        guard case .allow(let admission) = self else { return nil }
        return admission
    }

    fileprivate var isAllowed: Bool { self.admission != nil }

    fileprivate var isSample: Bool {
        guard case .sample = self else { return false }
        return true
    }

    /// The time after which a client that is turned away may come back.
    fileprivate var retryAfter: Int64? {
        switch self {
        case .allow: nil
        case .refuse(let seconds), .sample(let seconds): seconds
        }
    }
}
