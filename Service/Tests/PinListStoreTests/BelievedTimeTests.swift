// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListStore

@Suite("The believed time")
struct BelievedTimeTests {
    private static let start: Int64 = 1_795_219_200
    private static let day: Int64 = 86_400

    private static func time(_ seconds: Int64) -> Timestamp { Timestamp(secondsSince1970: Self.start + seconds) }

    /// Looks every quarter of a minute for so many seconds, by a clock that is ahead.
    private static func look(_ believed: inout BelievedTime, from begin: Int64, for seconds: Int64, ahead: Int64 = 0) {
        for passed in stride(from: begin, through: begin + seconds, by: 15) {
            believed.look(at: Self.time(passed + ahead))
        }
    }

    @Test("follows a clock that goes on, also after a night without the service, and one that is set by hours")
    func followsAClockThatGoesOnAlsoAfterANightWithoutTheServiceAndOneThatIsSetByHours() {
        var believed = BelievedTime(Self.time(0))
        for seconds in [15, 30, 43_230, 100, 43_300] as [Int64] {
            believed.look(at: Self.time(seconds))
            #expect(believed.time == Self.time(seconds) && believed.jump == nil)
            #expect(believed.time(by: Self.time(seconds + 15)) == Self.time(seconds + 15))
        }
    }

    @Test("a clock that jumps a hundred days is believed after a day of looks, and not before", arguments: [-100, 100])
    func clockThatJumpsAHundredDaysIsBelievedAfterADayOfLooksAndNotBefore(days: Int64) {
        var believed = BelievedTime(Self.time(0))
        Self.look(&believed, from: 15, for: Self.day - 15, ahead: days * Self.day)
        #expect(believed.time == Self.time(0))
        let (now, begin) = (Self.time(Self.day + days * Self.day), Self.time(min(0, Self.day + days * Self.day)))
        #expect(believed.time(by: now) == begin)
        Self.look(&believed, from: Self.day + 15, for: 0, ahead: days * Self.day)
        #expect(believed == BelievedTime(Self.time(Self.day + 15 + days * Self.day)))
    }

    @Test("a clock that jumps at each look, or goes a hundred times too fast, is not believed by minutes of looks")
    func clockThatJumpsAtEachLookOrGoesAHundredTimesTooFastIsNotBelievedByMinutesOfLooks() {
        var believed = BelievedTime(Self.time(0))
        for number in 1...100 as ClosedRange<Int64> { believed.look(at: Self.time(number * Self.day)) }
        #expect(believed.time == Self.time(0))
        believed = BelievedTime(Self.time(0))
        // Twenty minutes of looks, in which the clock shows that nearly two days have passed.
        for number in 1...80 as ClosedRange<Int64> { believed.look(at: Self.time(100 * Self.day + number * 2_000)) }
        #expect(believed.time == Self.time(0))
    }

    @Test(
        "a clock that steps on by eleven hours at each look, or goes a hundred times too fast, gains no day",
        arguments: [39_600, 1_500])
    func clockThatStepsOnByElevenHoursAtEachLookOrGoesTooFastGainsNoDay(step: Int64) {
        var believed = BelievedTime(Self.time(0))
        for number in 1...500 as ClosedRange<Int64> { believed.look(at: Self.time(number * step)) }
        #expect(believed.time <= Self.time(Self.day))
        let wrong = Self.time(501 * step)
        #expect(!believed.isBelieved(wrong) && believed.shared(by: wrong) == believed.time)
        // The clock is right again.
        let right = Timestamp(secondsSince1970: believed.time.secondsSince1970 + 15)
        believed.look(at: right)
        #expect(believed.time == right && believed.jump == nil)
    }

    @Test("a service that runs eight hours a day believes its clock every third day, and one look is never enough")
    func serviceThatRunsEightHoursADayBelievesItsClockEveryThirdDayAndOneLookIsNeverEnough() {
        var believed = BelievedTime(Self.time(0))
        var days: [Int64] = []
        for day in 1...7 as ClosedRange<Int64> {
            Self.look(&believed, from: day * Self.day, for: 8 * 3_600 + 15)
            if believed.jump == nil { days.append(day) }
        }
        #expect(days == [3, 6])
        // Nearly a day of looks, and then a clock that is wrong for a moment.
        believed = BelievedTime(Self.time(0))
        Self.look(&believed, from: 30 * Self.day, for: Self.day - 15)
        let wrong = Self.time(130 * Self.day)
        believed.look(at: wrong)
        Self.look(&believed, from: 31 * Self.day, for: 0)
        #expect(believed.time == Self.time(0))
        believed.look(at: wrong)
        #expect(believed.time(by: wrong) == Self.time(0))
    }

    @Test("while an instance looks whose clock goes on, another one's that is wrong is never believed")
    func whileAnInstanceLooksWhoseClockGoesOnAnotherOnesThatIsWrongIsNeverBelieved() {
        var believed = BelievedTime(Self.time(0))
        for passed in stride(from: 15, through: 3 * Self.day, by: 15) {
            believed.look(at: Self.time(passed + 100 * Self.day))
            believed.look(at: Self.time(passed))
        }
        #expect(believed == BelievedTime(Self.time(3 * Self.day)))
    }

    @Test("times from the ends of time are jumps, and nothing traps")
    func timesFromTheEndsOfTimeAreJumpsAndNothingTraps() {
        let (first, last) = (Timestamp(secondsSince1970: .min), Timestamp(secondsSince1970: .max))
        for (time, now) in [(first, last), (last, first)] {
            var believed = BelievedTime(time)
            believed.look(at: now)
            #expect(believed.time == time)
            #expect(believed.time(by: now) == first)
        }
    }
}
