// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListServer
import PinningTesting
import Testing

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

        mutating func count(_ address: String, _ group: String = "g", after seconds: Int64 = 0) -> NetworkCounter.Count?
        {
            guard let address = SourceAddress(address) else { return nil }
            return self.counter.count(
                address, in: group, at: NetworkCounterTests.start.advanced(by: seconds), using: &self.random)
        }

        /// The number after an address was counted.
        mutating func number(_ address: String, _ group: String = "g", after seconds: Int64 = 0) -> Int? {
            self.count(address, group, after: seconds)?.networks.number
        }
    }

    @Test("a /24 and a /48 are one network; an IPv4-mapped address is the IPv4 address; each group counts for itself")
    func networks() {
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
    func manyNetworks() {
        var scene = Scene()
        var last: NetworkCounter.Count?
        for number in 0..<255 { last = scene.count("10.0.\(number).1") }
        #expect(last?.networks == BoundedCount(255))
        for number in 0..<200 { last = scene.count("10.1.\(number).1") }
        #expect(last?.networks == BoundedCount(256, isMore: true))
        #expect(last?.networks.description == "256 or more")
        #expect(last?.day == Self.dayNumber)
    }

    @Test("who makes up groups fills the table, not the memory; groups that are there go on being counted")
    func manyGroups() {
        var scene = Scene()
        for number in 0..<NetworkCounter.mostGroups { _ = scene.count("192.0.2.1", "group \(number)") }
        let another = scene.count("192.0.2.1", "one more")
        #expect(another == nil)
        let known = scene.number("198.51.100.1", "group 7")
        #expect(known == 2)
        #expect(scene.counter.groupCount == NetworkCounter.mostGroups)
        // The next day has room again.
        let next = scene.number("192.0.2.1", "one more", after: Self.day)
        #expect(next == 1)
        #expect(scene.counter.groupCount == 1)
    }

    @Test("a day ends with what was counted on it, and with its key")
    func newDay() {
        var scene = Scene()
        _ = scene.count("192.0.2.1")
        let last = scene.count("198.51.100.1", after: Self.day - 1)
        #expect(last == .init(day: Self.dayNumber, networks: BoundedCount(2)))
        let first = scene.count("198.51.100.1", after: Self.day)
        #expect(first == .init(day: Self.dayNumber + 1, networks: BoundedCount(1)))
    }

    @Test("a clock that is set back by seconds over midnight does not begin a day anew")
    func setBack() {
        var scene = Scene()
        _ = scene.count("192.0.2.1", after: Self.day)
        let after = scene.count("198.51.100.1", after: Self.day - 3_600)
        #expect(after == .init(day: Self.dayNumber + 1, networks: BoundedCount(2)))
    }

    @Test("a clock that jumps a day or a year ahead and comes back is counted by where it is, and is not stuck")
    func jumps() {
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
