// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinReportAnalysis

@Suite("The groups that are kept")
struct GroupQuotaTests {
    /// Groups in memory, kept as a store keeps them.
    private struct Groups {
        struct Kept {
            let group: ReportGroup
            let share: GroupQuota.Share
            var count = 1
        }

        let maximum: Int
        /// The oldest first.
        private(set) var kept: [Kept] = []
        private(set) var overflow: [ReportGroup: Int] = [:]

        init(maximum: Int) { self.maximum = maximum }

        func holds(_ group: ReportGroup) -> Bool { self.kept.contains { $0.group.id == group.id } }

        func count(isListed: Bool) -> Int { self.kept.count { $0.share.isListed == isListed } }

        mutating func add(_ group: ReportGroup, isListed: Bool) {
            if let index = self.kept.firstIndex(where: { $0.group.id == group.id }) {
                self.kept[index].count += 1
                return
            }
            let share = GroupQuota.Share(of: group, isListed: isListed)
            var quota = GroupQuota(
                listed: self.count(isListed: true), other: self.count(isListed: false), maximum: self.maximum)
            switch quota.room(for: share, holding: self.kept.count { $0.share == share }) {
            case .free: quota.add(share)
            case .whenOneLeaves(let scope):
                let leaving = self.kept.firstIndex { kept in
                    kept.count == 1
                        && (scope == .share ? kept.share == share : kept.share.isListed == share.isListed)
                }
                guard let leaving else {
                    self.overflow[group.overflow(isListed: isListed), default: 0] += 1
                    return
                }
                self.kept.remove(at: leaving)
            }
            self.kept.append(Kept(group: group, share: share))
            #expect(quota.listed == self.count(isListed: true))
            #expect(quota.other == self.count(isListed: false))
        }
    }

    private func group(_ host: String, version: String = "1") throws -> ReportGroup {
        ReportGroup(
            try ReportText.report(
                "{\"hostname\":\"\(host)\",\"known-pins\":[],\"app-version\":\"\(version)\",\"validation-result\":1}"))
    }

    private func incident(of list: String, reason: String) throws -> ReportGroup {
        ReportGroup(try ReportText.report("{\"tumbler\":{\"list-name\":\"\(list)\",\"reason\":\"\(reason)\"}}"))
    }

    @Test("ten thousand invented hosts push out no group of a listed host, and keep none from being made")
    func tenThousandInventedHostsPushOutNoGroupOfAListedHostAndKeepNoneFromBeingMade() throws {
        var groups = Groups(maximum: 400)
        let known = try self.group("a.example")
        groups.add(known, isListed: true)
        for number in 0..<1_000 { groups.add(try self.group("\(number).invented.test"), isListed: false) }
        let late = try self.group("b.example")
        groups.add(late, isListed: true)
        #expect(groups.holds(known) && groups.holds(late))
        #expect(groups.count(isListed: false) == 200)
        #expect(groups.overflow.isEmpty)
    }

    @Test("a stranger who makes up versions of an app for one listed host leaves room for the other hosts")
    func strangerWhoMakesUpVersionsOfAnAppForOneListedHostLeavesRoomForTheOtherHosts() throws {
        var groups = Groups(maximum: 400)
        for number in 0..<500 { groups.add(try self.group("a.example", version: "0.\(number)"), isListed: true) }
        #expect(groups.count(isListed: true) == 25)
        let others = try (0..<20).map { try self.group("b\($0).example") }
        for other in others { groups.add(other, isListed: true) }
        #expect(others.allSatisfy { groups.holds($0) })
    }

    @Test("a group that is reported again outlives those that are reported once")
    func groupThatIsReportedAgainOutlivesThoseThatAreReportedOnce() throws {
        var groups = Groups(maximum: 400)
        let genuine = try self.group("a.example", version: "7")
        groups.add(genuine, isListed: true)
        groups.add(genuine, isListed: true)
        for number in 0..<500 { groups.add(try self.group("a.example", version: "0.\(number)"), isListed: true) }
        #expect(groups.holds(genuine))
        #expect(groups.holds(try self.group("a.example", version: "0.499")))
        #expect(!groups.holds(try self.group("a.example", version: "0.0")))
    }

    @Test("when each made-up group came twice, a listed host's failures are counted under its own name")
    func whenEachMadeUpGroupCameTwiceAListedHostsFailuresAreCountedUnderItsOwnName() throws {
        var groups = Groups(maximum: 400)
        for number in 0..<300 {
            let made = try self.group("a.example", version: "0.\(number)")
            groups.add(made, isListed: true)
            groups.add(made, isListed: true)
            let other = try self.group("\(number).invented.test")
            groups.add(other, isListed: false)
            groups.add(other, isListed: false)
        }
        let hosts = groups.overflow.keys.map(\.notedHostname)
        #expect(hosts.sorted() == ["", "a.example"])
        #expect(groups.overflow.keys.allSatisfy { $0.reason == ReportGroup.overflowReason })
        let listed = try self.group("a.example", version: "genuine").overflow(isListed: true)
        #expect(groups.overflow[listed] == 550)
    }

    @Test("incidents of a published list have a share of their own, and their overflow names the list")
    func incidentsOfAPublishedListHaveAShareOfTheirOwnAndTheirOverflowNamesTheList() throws {
        var groups = Groups(maximum: 400)
        for number in 0..<200 {
            groups.add(try self.incident(of: "com.example.app", reason: "made-up-\(number)"), isListed: true)
        }
        #expect(groups.count(isListed: true) == 25)
        let genuine = try self.incident(of: "com.example.other", reason: "rollback")
        groups.add(genuine, isListed: true)
        #expect(groups.holds(genuine))
        #expect(genuine.overflow(isListed: true).listName == "com.example.other")
        #expect(genuine.overflow(isListed: false).listName == "")
    }

    @Test("a group of few reports may leave a day after the last one, and one of many never")
    func groupOfFewReportsMayLeaveADayAfterTheLastOneAndOneOfManyNever() {
        let (now, day) = (ReportText.now, GroupQuota.smallGroupSeconds)
        for (reports, age, mayLeave) in [
            (1, 0, true), (2, day, false), (2, day + 1, true), (16, day + 1, true), (17, 90 * day, false),
        ] as [(Int64, Int64, Bool)] {
            #expect(
                GroupQuota.mayLeave(reports: reports, lastAt: now.before(age), at: now) == mayLeave,
                "\(reports) reports, \(age) s ago")
        }
    }

    @Test("the parts are never larger than all groups together, and one host has at least sixteen")
    func partsAreNeverLargerThanAllGroupsTogetherAndOneHostHasAtLeastSixteen() {
        for maximum in 0...1_000 {
            let quota = GroupQuota(listed: 0, other: 0, maximum: maximum)
            #expect(quota.maximumListed + quota.maximumOther == max(maximum, 2))
            #expect(quota.maximumListed >= quota.maximumOther && quota.maximumOther > 0)
            for isListed in [true, false] {
                let part = isListed ? quota.maximumListed : quota.maximumOther
                #expect(quota.maximumOfShare(isListed: isListed) >= min(16, part))
                #expect(quota.maximumOfShare(isListed: isListed) <= part)
            }
        }
        #expect(GroupQuota(listed: 0, other: 0).maximumListed == 5_000)
        #expect(GroupQuota(listed: 0, other: 0).maximumOfShare(isListed: true) == 625)
    }

    @Test("a sender who calls a reason overflow makes no group that is not counted")
    func senderWhoCallsAReasonOverflowMakesNoGroupThatIsNotCounted() throws {
        let report = try ReportText.report(
            "{\"hostname\":\"a.example\",\"tumbler\":{\"reason\":\"overflow\"},\"app-version\":\"1\"}")
        #expect(report.reason == "unnamed")
        let incident = try ReportText.report("{\"tumbler\":{\"reason\":\"overflow\"}}")
        #expect(incident.reason == "unnamed")
    }
}
