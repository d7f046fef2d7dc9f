// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinReportAnalysis

@Suite("The spread of a list")
struct AdoptionEstimateTests {
    /// Half a day, as lists have it.
    private static let window: Int64 = 43_200
    private static let now = Timestamp(secondsSince1970: 1_795_219_200)
    private static let versions = ["one": Int64(1), "two": 2, "three": 3]

    /// Counts of an hour, so many hours ago.
    private func counts(
        _ hoursAgo: Int64, _ counts: [String: Int64], _ source: ListRequestKey.Source = .installation
    ) -> [ListRequestKey: Int64] {
        Dictionary(
            uniqueKeysWithValues: counts.map { digest, count in
                (ListRequestKey(name: "a", hour: Self.now.hour - hoursAgo, source: source, digest: digest), count)
            })
    }

    private func estimate(
        _ parts: [ListRequestKey: Int64]..., newest: Int64 = 2, publishedHoursAgo: Int64 = 6
    ) -> AdoptionEstimate {
        AdoptionEstimate.make(
            parts.reduce(into: [:]) { $0.merge($1) { $0 + $1 } }, versions: Self.versions,
            newest: (newest, Timestamp(secondsSince1970: Self.now.secondsSince1970 - publishedHoursAgo * 3_600)),
            window: Self.window, at: Self.now)
    }

    private func hours(_ estimate: AdoptionEstimate) -> Double? {
        estimate.everybodyAt.map { Double($0.secondsSince1970 - Self.now.secondsSince1970) / 3_600 }
    }

    @Test("published this moment: no installation holds it, and nothing is forecast before two windows are measured")
    func publishedThisMomentNoInstallationHoldsItAndNothingIsForecast() {
        let estimate = self.estimate(self.counts(1, ["one": 100]), publishedHoursAgo: 0)
        #expect(estimate.state == .measured(base: 100))
        #expect(estimate.share(of: 2) == 0)
        #expect(estimate.share(of: 1) == 1)
        #expect(!estimate.isStalled)
        #expect(estimate.isYoung && estimate.everybodyAt == nil)
        let parts = [self.counts(3, ["one": 40, "two": 60]), self.counts(13, ["one": 80, "two": 20])]
        let young = self.estimate(parts[0], parts[1], publishedHoursAgo: 23)
        #expect(young.isYoung && young.everybodyAt == nil && young.share(of: 2) == 0.6)
        let alone = self.estimate(parts[0], publishedHoursAgo: 30)
        #expect(alone.isYoung && alone.everybodyAt == nil)
        let enough = self.estimate(parts[0], parts[1], publishedHoursAgo: 24)
        #expect(!enough.isYoung && enough.everybodyAt != nil)
    }

    @Test("half hold it: 0.5; none did in the window before, so six more windows bring 99 %")
    func halfHoldIt05NoneDidInTheWindowBeforeSoSixMoreWindowsBring99() throws {
        let estimate = self.estimate(
            self.counts(0, ["two": 30]), self.counts(11, ["one": 50, "two": 20]), self.counts(12, ["one": 100]),
            self.counts(23, ["one": 5]), publishedHoursAgo: 24)
        #expect(estimate.state == .measured(base: 100))
        #expect(estimate.share(of: 2) == 0.5)
        #expect(estimate.share(of: 3) == 0)
        #expect(!estimate.isStalled)
        // The missing share halves with each window: log(0.01 / 0.5) / log(0.5) = 5.644 windows of 12 hours.
        let hours = try #require(self.hours(estimate))
        #expect(abs(hours - 67.73) < 0.01)
    }

    @Test("all hold it: nothing is left to come; 99 % count as all")
    func allHoldItNothingIsLeftToCome99CountAsAll() {
        for (old, isReached) in [(Int64(0), true), (1, true), (2, false)] {
            let estimate = self.estimate(
                self.counts(2, ["two": 100 - old, "one": old]), self.counts(14, ["one": 100]), publishedHoursAgo: 48)
            #expect(estimate.share(of: 2) == Double(100 - old) / 100)
            #expect((estimate.everybodyAt == nil) == isReached)
            #expect(!estimate.isStalled)
        }
    }

    @Test("a share that stands still is stalled when all have had the time to ask thrice, and not before")
    func shareThatStandsStillIsStalledWhenAllHaveHadTheTimeToAskThriceAndNotBefore() {
        let parts = [self.counts(3, ["one": 40, "two": 60]), self.counts(13, ["one": 40, "two": 60])]
        let early = self.estimate(parts[0], parts[1], publishedHoursAgo: 36)
        #expect(!early.isStalled)
        #expect(self.hours(early) == 12)
        let late = self.estimate(parts[0], parts[1], publishedHoursAgo: 37)
        #expect(late.isStalled)
        #expect(late.everybodyAt == nil)
        // 98 of 100 that are missing still are: that is no progress; 97 of 100 are some.
        let crawling = self.counts(13, ["one": 100, "two": 100])
        let stuck = self.estimate(self.counts(3, ["one": 98, "two": 102]), crawling, publishedHoursAgo: 37)
        #expect(stuck.isStalled)
        let moving = self.estimate(self.counts(3, ["one": 97, "two": 103]), crawling, publishedHoursAgo: 37)
        #expect(!moving.isStalled)
        #expect(moving.everybodyAt != nil)
    }

    @Test("a holder of a newer list than is asked for holds enough; a version in between is held with the next one")
    func holderOfANewerListThanIsAskedForHoldsEnoughAVersionInBetweenIsHeldWithTheNextOne() {
        let estimate = self.estimate(self.counts(1, ["one": 20, "three": 80]), newest: 3)
        #expect(estimate.share(of: 2) == 0.8)
        #expect(estimate.share(of: 3) == 0.8)
        #expect(estimate.share(of: 4) == 0)
    }

    @Test("through caches for more than a tenth there is no measure, until their logs are fed in")
    func throughCachesForMoreThanATenthThereIsNoMeasureUntilTheirLogsAreFedIn() {
        let direct = self.counts(1, ["one": 30, "two": 60])
        let few = self.estimate(direct, self.counts(1, ["two": 10], .edge))
        #expect(few.state == .measured(base: 90))
        #expect(few.share(of: 2) == 60.0 / 90)
        let many = self.estimate(direct, self.counts(1, ["two": 11], .edge))
        #expect(
            many.state
                == .notMeasured(
                    why: "11 of 101 requests came through a cache; feed its log in with tumbler adoption import"))
        #expect(many.shares.isEmpty)
        #expect(many.share(of: 2) == nil)
        let fed = self.estimate(direct, self.counts(1, ["two": 1_100], .edge), self.counts(2, ["two": 110], .log))
        #expect(fed.state == .measured(base: 200))
        #expect(fed.share(of: 2) == 0.85)
    }

    @Test("made-up digests count as not holding any: they delay, and hurry nothing; naming nothing counts for nothing")
    func madeUpDigestsCountAsNotHoldingAnyTheyDelayAndHurryNothing() {
        let estimate = self.estimate(
            self.counts(1, ["two": 60, "fake": 30, ListRequestKey.others: 5, ListRequestKey.nothing: 1_000]),
            self.counts(4, ["fake": 5]))
        #expect(estimate.state == .measured(base: 100))
        #expect(estimate.share(of: 2) == 0.6)
        #expect(estimate.share(of: 1) == 0.6)
        #expect(estimate.unverified.map { "\($0.digest) \($0.count)" } == ["fake 35", "other 5"])
        #expect(estimate.unverified.first?.lastSeen == Timestamp(secondsSince1970: (Self.now.hour - 1) * 3_600))
    }

    @Test("too few requests, and no list, say nothing")
    func tooFewRequestsAndNoListSayNothing() {
        #expect(
            self.estimate(self.counts(1, ["two": 9])).state
                == .notMeasured(why: "9 requests in the last window are too few"))
        #expect(self.estimate(self.counts(1, ["two": 10])).state == .measured(base: 10))
        // Twelve hours ago is another window.
        #expect(
            self.estimate(self.counts(12, ["two": 100])).state
                == .notMeasured(why: "0 requests in the last window are too few"))
        let none = AdoptionEstimate.make([:], versions: [:], newest: nil, window: Self.window, at: Self.now)
        #expect(none.state == .notMeasured(why: "no list is published"))
    }
}
