// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinningTesting
import Testing

@testable import PinReportAnalysis

@Suite("Networks, counted without being kept")
struct NetworkCounterTests {
    private static let day: Int64 = 86_400
    /// 2026-11-21T00:00:00Z.
    private static let start = Timestamp(secondsSince1970: 1_795_219_200)
    private static let dayNumber: Int64 = 20_778

    /// A counter, and the generator that its keys come from.
    private struct Scene {
        var random = SeededGenerator(seed: 1)
        var counter: NetworkCounter

        init() { self.counter = NetworkCounter(at: NetworkCounterTests.start, using: &self.random) }

        mutating func count(
            _ address: String, _ host: String = "g", version: String = "", isListed: Bool = true,
            after seconds: Int64 = 0
        ) -> NetworkCounter.Count? {
            guard let address = SourceAddress(address) else { return nil }
            let group = ReportGroup(
                id: "\(host) \(version)", kind: .pin, reason: "no-matching-pin", notedHostname: host, appID: "",
                appVersion: version, listName: "", listVersion: nil, issuer: "", issuerPin: nil)
            return self.counter.count(
                address, in: group, isListed: isListed, at: NetworkCounterTests.start.advanced(by: seconds),
                using: &self.random)
        }

        /// The number after an address was counted.
        mutating func number(_ address: String, _ host: String = "g", after seconds: Int64 = 0) -> Int? {
            self.count(address, host, after: seconds)?.networks.number
        }
    }

    @Test("a /24 and a /48 are one network; an IPv4-mapped address is the IPv4 address; each group counts for itself")
    func of24AndA48AreOneNetworkAnIPv4MappedAddressIsTheIPv4Address() {
        var scene = Scene()
        let steps: [(String, Int)] = [
            ("192.0.2.1", 1), ("192.0.2.254", 1), ("::ffff:192.0.2.9", 1), ("192.0.3.1", 2), ("2001:db8:1::1", 3),
            ("2001:db8:1:ffff::9", 3), ("2001:db8:2::1", 4), ("[2001:DB8:2::2]", 4), ("fe80::1%eth0", 5),
            ("c000:2ff::", 6),
        ]
        for (address, number) in steps {
            let counted = scene.number(address)
            #expect(counted == number, "\(address)")
        }
        let other = scene.number("192.0.2.1", "other")
        #expect(other == 1)
        #expect(SourceAddress("example.com") == nil)
        #expect(SourceAddress("192.0.2") == nil)
        #expect(SourceAddress("") == nil)
        #expect(SourceAddress(bytes: [1, 2, 3]) == nil)
    }

    @Test("256 networks are told apart, and no more are remembered")
    func of256NetworksAreToldApartAndNoMoreAreRemembered() {
        var scene = Scene()
        var last: NetworkCounter.Count?
        for number in 0..<255 { last = scene.count("10.0.\(number).1") }
        #expect(last?.networks == BoundedCount(255))
        for number in 0..<200 { last = scene.count("10.1.\(number).1") }
        #expect(last?.networks == BoundedCount(256, isMore: true))
        #expect(last?.networks.description == "256 or more")
        #expect(last?.day == Self.dayNumber)
    }

    @Test("a sender of made-up hosts fills the part for hosts of no list, and no listed host goes without a number")
    func senderOfMadeUpHostsFillsThePartForHostsOfNoListAndNoListedHostGoesWithoutANumber() {
        var scene = Scene()
        for number in 0..<2 * NetworkCounter.maximumGroups {
            _ = scene.count("192.0.2.1", "\(number).invented.test", isListed: false)
        }
        #expect(scene.counter.groupCount == NetworkCounter.maximumGroups / 2)
        #expect(scene.number("192.0.2.1", "a.example") == 1)
        #expect(scene.number("198.51.100.1", "a.example") == 2)
        #expect(scene.counter.groupCount == NetworkCounter.maximumGroups / 2 + 1)
        // The next day has room again.
        #expect(scene.number("192.0.2.1", "a.example", after: Self.day) == 1)
        #expect(scene.counter.groupCount == 1)
    }

    @Test("made-up versions for one listed host push out no group that two networks reported, and no other host")
    func madeUpVersionsForOneListedHostPushOutNoGroupThatTwoNetworksReported() {
        var scene = Scene()
        _ = scene.count("192.0.2.1", "a.example", version: "7")
        _ = scene.count("198.51.100.1", "a.example", version: "7")
        for number in 0..<2_000 { _ = scene.count("203.0.113.1", "a.example", version: "0.\(number)") }
        let share = GroupQuota(listed: 0, other: 0).maximumOfShare(isListed: true)
        #expect(scene.counter.groupCount == share)
        #expect(scene.count("192.0.3.1", "a.example", version: "7")?.networks == BoundedCount(3))
        // A genuine group that comes late finds a place, for the made-up ones have one network each.
        #expect(scene.count("192.0.2.1", "a.example", version: "8")?.networks == BoundedCount(1))
        #expect(scene.count("198.51.100.1", "a.example", version: "8")?.networks == BoundedCount(2))
        #expect(scene.counter.groupCount == share)
        #expect(scene.number("192.0.2.1", "b.example") == 1)
    }

    @Test(
        "made-up groups of two or seven networks each do not fill the share of their host: a genuine one pushes them out"
    )
    func madeUpGroupsOfTwoOrSevenNetworksEachDoNotFillTheShareOfTheirHost() {
        for networks in [2, 7] {
            var scene = Scene()
            for number in 0..<1_000 {
                for network in 0..<networks {
                    _ = scene.count("203.0.\(network).1", "a.example", version: "0.\(number)")
                }
            }
            #expect(scene.counter.groupCount == GroupQuota(listed: 0, other: 0).maximumOfShare(isListed: true))
            // The genuine group comes late, and others are made up beside it all the time.
            for network in 0..<20 {
                let count = scene.count("192.0.\(network).1", "a.example", version: "8")
                #expect(count?.networks == BoundedCount(network + 1))
                for place in 0..<networks {
                    _ = scene.count("203.0.\(place).1", "a.example", version: "1.\(network)")
                }
            }
            #expect(scene.number("192.0.2.1", "b.example") == 1)
        }
    }

    @Test("a share full of groups of two networks gives newcomers a quarter, and has each group looked at a few times")
    func shareFullOfGroupsOfTwoNetworksGivesNewcomersAQuarter() {
        var scene = Scene()
        let (share, flood) = (GroupQuota(listed: 0, other: 0).maximumOfShare(isListed: true), 5_000)
        for number in 0..<share {
            _ = scene.count("203.0.113.1", "a.example", version: "0.\(number)")
            _ = scene.count("198.51.100.1", "a.example", version: "0.\(number)")
        }
        for number in 0..<flood {
            #expect(scene.count("192.0.2.1", "a.example", version: "1.\(number)")?.networks == BoundedCount(1))
        }
        #expect(scene.counter.groupCount == share)
        #expect(scene.counter.looks <= 4 * (share + flood))
        // The oldest quarter left; the others are counted on.
        let counts = (0..<share).reversed().map { number in
            scene.count("192.0.3.1", "a.example", version: "0.\(number)")?.networks.number
        }
        #expect(counts.prefix(share * 3 / 4 - 1).allSatisfy { $0 == 3 })
        #expect(counts.last == 1)
        // Another day begins with room.
        _ = scene.count("192.0.2.1", "a.example", after: Self.day)
        #expect(scene.counter.looks == 0)
        #expect(scene.counter.groupCount == 1)
    }

    @Test("a full part of groups of two networks gives hosts that are new a quarter, at a few looks each")
    func fullPartOfGroupsOfTwoNetworksGivesHostsThatAreNewAQuarter() {
        var scene = Scene()
        let (part, newcomers) = (NetworkCounter.maximumGroups / 2, 5_000)
        for number in 0..<part {
            _ = scene.count("203.0.113.1", "\(number).invented.test", isListed: false)
            if number > 0 { _ = scene.count("198.51.100.1", "\(number).invented.test", isListed: false) }
        }
        for number in 0..<newcomers {
            #expect(scene.count("192.0.2.1", "\(number).new.test", isListed: false)?.networks == BoundedCount(1))
        }
        #expect(scene.counter.groupCount == part)
        #expect(scene.counter.looks <= 4 * (part + newcomers))
        let last = scene.count("192.0.2.1", "\(part - 1).invented.test", isListed: false)
        #expect(last?.networks == BoundedCount(3))
        let first = scene.count("192.0.2.1", "1.invented.test", isListed: false)
        #expect(first?.networks == BoundedCount(1))
    }

    @Test("a flood at one host leaves few entries behind it, and has few looked at, where its part has room")
    func floodAtOneHostLeavesFewEntriesBehindItAndHasFewLookedAt() {
        var scene = Scene()
        let (share, flood) = (GroupQuota(listed: 0, other: 0).maximumOfShare(isListed: true), 10_000)
        for number in 0..<flood { _ = scene.count("203.0.113.1", "a.example", version: "0.\(number)") }
        #expect(scene.counter.groupCount == share)
        // Each group stands in two lines.
        #expect(scene.counter.entryCount <= 2 * (2 * share + 17))
        #expect(scene.counter.looks <= 4 * flood)
    }

    @Test("a day ends with what was counted on it, and with its key")
    func dayEndsWithWhatWasCountedOnItAndWithItsKey() {
        var scene = Scene()
        _ = scene.count("192.0.2.1")
        let last = scene.count("198.51.100.1", after: Self.day - 1)
        #expect(last == .init(day: Self.dayNumber, networks: BoundedCount(2)))
        let first = scene.count("198.51.100.1", after: Self.day)
        #expect(first == .init(day: Self.dayNumber + 1, networks: BoundedCount(1)))
    }

    @Test("a clock that is set back by seconds over midnight does not begin a day anew")
    func clockThatIsSetBackBySecondsOverMidnightDoesNotBeginADayAnew() {
        var scene = Scene()
        _ = scene.count("192.0.2.1", after: Self.day)
        let after = scene.count("198.51.100.1", after: Self.day - 3_600)
        #expect(after == .init(day: Self.dayNumber + 1, networks: BoundedCount(2)))
    }

    @Test("a clock that jumps a day or a year ahead and comes back is counted by where it is, and is not stuck")
    func clockThatJumpsADayOrAYearAheadAndComesBackIsCountedByWhereItIsAndIsNotStuck() {
        var scene = Scene()
        _ = scene.count("192.0.2.1")
        for seconds in [Self.day * 400, 0, -Self.day, Self.day - 3_601, Int64.min / 2, Int64.max / 2, 0] {
            _ = scene.count("203.0.113.1", after: seconds)
            let count = scene.count("192.0.2.1", after: seconds)
            #expect(count?.networks == BoundedCount(2))
        }
        let end = scene.count("192.0.2.1")
        #expect(end?.day == Self.dayNumber)
    }
}
