// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinReportAnalysis

@Suite("The number of installations that reported in an hour")
struct ReportRateTests {
    private static func change(_ hour: Int64, _ perMillion: Int64, by list: String = "a", seconds: Int64 = 0)
        -> ReportRate.Change
    {
        ReportRate.Change(
            by: list, since: Timestamp(secondsSince1970: hour * 3_600 + seconds), perMillion: perMillion)
    }

    @Test("an hour has the number that was published when it began")
    func hourHasTheNumberThatWasPublishedWhenItBegan() {
        let rate = ReportRate([Self.change(20, 1_000_000), Self.change(10, 10_000, seconds: 1)])
        #expect(
            [9, 10, 11, 19, 20].map { rate.perMillion(in: $0) } == [1_000_000, 1_000_000, 10_000, 10_000, 1_000_000])
        #expect(rate.factor(of: 11) == 100)
        #expect(rate.factors(of: 5..<30).map(\.hours) == [5..<11, 11..<20, 20..<30])
        #expect(rate.factors(of: 5..<30).map(\.factor) == [1, 100, 1])
        #expect(rate.factors(of: 12..<13).map(\.factor) == [100])
        #expect(ReportRate().factors(of: 0..<9).map(\.factor) == [1])
    }

    @Test("of two lists with one host the one that lets most installations report counts")
    func ofTwoListsWithOneHostTheOneThatLetsMostInstallationsReportCounts() {
        let rate = ReportRate([Self.change(1, 10), Self.change(1, 500, by: "b"), Self.change(5, 1, by: "b")])
        #expect([1, 5].map { rate.perMillion(in: $0) } == [500, 10])
    }

    @Test("a host that left its list is multiplied no more, but by another list that has it")
    func hostThatLeftItsListIsMultipliedNoMoreButByAnotherListThatHasIt() {
        let left = [Self.change(1, 10), Self.change(5, ReportRate.unlisted, seconds: -60)]
        #expect([4, 5].map { ReportRate(left).perMillion(in: $0) } == [10, 1_000_000])
        let other = ReportRate(left + [Self.change(1, 2, by: "b")])
        #expect([4, 5].map { other.perMillion(in: $0) } == [10, 2])
    }

    @Test("a host that was out of its list for a day is as usual as before: its alarm needs no hundred times as much")
    func hostThatWasOutOfItsListForADayIsAsUsualAsBefore() {
        let rate = ReportRate([Self.change(1, 10), Self.change(30, ReportRate.unlisted), Self.change(54, 10)])
        #expect(rate.perMillion(in: 40) == 1_000_000)
        #expect(rate.perMillion(in: 2...100) == 10...10)
    }

    @Test("a damaged number in the database multiplies by no nonsense", arguments: [Int64.min, 0, 2_000_000, .max])
    func damagedNumberInTheDatabaseMultipliesByNoNonsense(perMillion: Int64) {
        let factor = ReportRate([Self.change(1, perMillion)]).factor(of: 2)
        #expect((1...1_000_000).contains(factor))
    }

    // MARK: Alarms

    private static let now: Int64 = 1_000

    /// A host that had `before` reports an hour all week until a list that was published some hours ago changed how many
    /// installations report, and `after` since; a part of the installations followed at once.
    private static func rate(
        _ before: Int64, from: Int64 = 1_000_000, to: Int64, after: [Int64], unsampled: Int64 = 0
    ) -> HostRate {
        var counts: [Int64: (all: Int64, pins: Int64)] = [:]
        for ago in Int64(0)...168 {
            let place = after.count - 1 - Int(ago)
            let count = place >= 0 ? after[place] : before
            if count > 0 { counts[Self.now - ago] = (count + unsampled, count + unsampled) }
        }
        return HostRate(
            "a", counts, unsampled: counts.mapValues { _ in unsampled },
            rate: ReportRate([
                Self.change(0, from), Self.change(Self.now - Int64(after.count) + 1, to),
            ]), hour: Self.now, part: 1)
    }

    @Test("a publisher who turns the volume down causes no silence")
    func publisherWhoTurnsTheVolumeDownCausesNoSilence() {
        // 300 an hour become 3, and then by chance there is none for some hours.
        let rate = Self.rate(300, to: 10_000, after: [3, 3, 0, 0, 0])
        #expect(!rate.isSilent && !rate.isAboveUsual)
        #expect((2.9...3.1).contains(rate.usual))
        #expect(Self.rate(300, to: 1_000_000, after: [3, 3, 0, 0, 0]).isSilent, "it would be, without the change")
        // Where enough are left that none of them can be chance, it is silence.
        #expect(Self.rate(3_000, to: 10_000, after: [30, 30, 0, 0, 0]).isSilent)
    }

    @Test("installations that still hold the list before, by which all report, are no storm")
    func installationsThatStillHoldTheListBeforeByWhichAllReportAreNoStorm() {
        let slow = Self.rate(300, to: 10_000, after: [300, 300, 300])
        #expect(!slow.isAboveUsual)
        #expect(slow.lastHour == 300)
        #expect(Self.rate(300, to: 10_000, after: [300, 300, 3_000]).isAboveUsual)
    }

    @Test("turning the volume up again is no storm either, in the hour of the publication and after it")
    func turningTheVolumeUpAgainIsNoStormEitherInTheHourOfThePublicationAndAfterIt() {
        #expect(!Self.rate(3, from: 10_000, to: 1_000_000, after: [300]).isAboveUsual)
        #expect(!Self.rate(3, from: 10_000, to: 1_000_000, after: [3, 100, 300]).isAboveUsual)
        let counts: [Int64: (all: Int64, pins: Int64)] = [
            Self.now: (all: Int64(300), pins: Int64(300)), Self.now - 100: (all: 3, pins: 3),
        ]
        let hour = HostRate(
            "a", counts, rate: ReportRate([Self.change(0, 10), Self.change(Self.now, 1_000_000, seconds: 1_800)]),
            hour: Self.now, part: 1)
        #expect(!hour.isAboveUsual, "it was published in this hour")
        #expect(Self.rate(3, from: 10_000, to: 1_000_000, after: [3, 100, 2_000]).isAboveUsual)
    }

    @Test("charts show what would have been reported; what all installations report is not multiplied")
    func chartsShowWhatWouldHaveBeenReportedWhatAllInstallationsReportIsNotMultiplied() {
        let rate = Self.rate(200, to: 10_000, after: [3, 2], unsampled: 5)
        #expect(rate.hours.suffix(3) == [205, 8, 7])
        #expect(rate.multiplied.hours.suffix(3) == [205, 305, 205])
        #expect(rate.multiplied.lastHour == 205 && rate.multiplied.pinFailures == 205)
        #expect((204...206).contains(rate.multiplied.usual))
        #expect(rate.multiplied.factors == [1, 100])
        #expect(rate.lastHour == 7 && rate.pinFailures == 7)
    }
}
