// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import Crypto

/// Counts the networks that reported the same failure in a day, without keeping any address.
///
/// A network is the /24 or the /48 of an address, told apart by a keyed hash of it and of the group: HMAC-SHA-256, cut
/// to 64 bits, under a key that is only in memory and is replaced each day. So what is in memory cannot be turned back
/// without the key, days cannot be joined, and what leaves is a number.
///
/// Groups are counted by the rules of ``GroupQuota``: those of published lists and their hosts have a part of their own, and
/// no host takes all of it. Where there is no room a group with few networks leaves: of the levels one, two or three, four to
/// seven networks, and so on, the oldest of the lowest one that has, with those below it, a quarter of the groups. So a
/// newcomer always has room, and stays until that quarter is full of later ones; and groups that strangers make up from a
/// few networks take no more than a quarter in place of groups that more networks reported.
///
/// When the service starts again on the same day it counts anew: a store keeps the highest number of a day.
package struct NetworkCounter: Sendable {
    /// The maximum number of networks that are told apart in a group; then it is `256 or more`.
    package static let maximumNetworks = 256
    /// The maximum number of groups that are counted on a day: 20 MiB of hashes at the most.
    package static let maximumGroups = ReportGroup.maximumGroups
    /// The time by which the clock may fall back over midnight before that counts as another day, in seconds: clocks
    /// are set by less than this all the time, and every change of the key forgets what was counted.
    package static let toleratedFall: Int64 = 3_600

    /// The number of a day.
    package struct Count: Hashable, Sendable {
        /// The day, in whole days since 1970-01-01 in UTC.
        package let day: Int64
        /// The number of networks.
        package let networks: BoundedCount

        /// States a number.
        package init(day: Int64, networks: BoundedCount) {
            self.day = day
            self.networks = networks
        }
    }

    private struct Group {
        let share: GroupQuota.Share
        /// Counts up: the oldest group has the lowest.
        let arrival: UInt64
        /// Sorted.
        var hashes: [UInt64]

        var level: Int { NetworkCounter.level(of: self.hashes.count) }
    }

    /// The place where a group that leaves is looked for.
    private enum Place: Hashable {
        case share(GroupQuota.Share)
        case part(GroupQuota.Part)

        /// Both places of a group.
        static func all(of share: GroupQuota.Share) -> [Self] { [.share(share), .part(share.part)] }
    }

    /// The groups of a place.
    private struct Line {
        /// An entry of a group.
        typealias Entry = (id: String, arrival: UInt64)

        /// The number of groups that are there, by level.
        var counts = [Int](repeating: 0, count: NetworkCounter.levels)
        /// The groups of each level, in the order in which they came to it. Some have left since, or have more networks by
        /// now: such an entry goes when it is looked at.
        var levels = [ArraySlice<Entry>](repeating: [], count: NetworkCounter.levels)

        /// The number of groups that are there.
        var count: Int { self.counts.reduce(0, +) }
        /// The number of entries.
        var entryCount: Int { self.levels.reduce(0) { $0 + $1.count } }
    }

    private static let daySeconds: Int64 = 86_400
    /// The number of levels: the last one is that of ``maximumNetworks``.
    private static let levels = NetworkCounter.level(of: NetworkCounter.maximumNetworks) + 1
    /// The part of the groups of a place that newcomers may take, one in so many.
    private static let newcomersPart = 4

    /// The keyed hash of no bytes, under the key of the day: a copy goes on with what is hashed.
    private var keyed: HMAC<SHA256>
    private var day: Int64
    /// By the group's id.
    private var groups: [String: Group] = [:]
    private var quota = GroupQuota(listed: 0, other: 0)
    private var lines: [Place: Line] = [:]
    /// The number of entries that were looked at today.
    private(set) var looks = 0
    private var arrivals: UInt64 = 0

    /// A counter for the day of a time.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - random: The random source of the key: the system's generator, but in tests.
    package init(at now: Timestamp, using random: inout some RandomNumberGenerator) {
        self.day = Self.day(of: now)
        self.keyed = HMAC(key: Self.newKey(using: &random))
    }

    /// Counts the network of an address for a group.
    ///
    /// - Parameters:
    ///   - address: The address of the report's sender.
    ///   - group: The group of the failure.
    ///   - isListed: Whether it belongs to a published list (`AcceptedReport.isListed`).
    ///   - now: The time. A day that has passed, or a clock that jumped to another one, ends what was counted.
    ///   - random: The random source of the next day's key.
    /// - Returns: The number so far. `nil` is for a share of no group at all, which none is: a newcomer has room.
    package mutating func count(
        _ address: SourceAddress, in group: ReportGroup, isListed: Bool, at now: Timestamp,
        using random: inout some RandomNumberGenerator
    ) -> Count? {
        self.count(
            address, of: group.id, in: GroupQuota.Share(of: group, isListed: isListed), at: now, using: &random)
    }

    /// Counts the network of an address for a key that reports name. There are few such keys, and no stranger chooses them.
    ///
    /// - Parameter key: The key's pin.
    /// - Returns: As ``count(_:in:isListed:at:using:)``.
    package mutating func count(
        _ address: SourceAddress, naming key: String, at now: Timestamp, using random: inout some RandomNumberGenerator
    ) -> Count? {
        self.count(address, of: key, in: GroupQuota.Share(ofKey: key), at: now, using: &random)
    }

    private mutating func count(
        _ address: SourceAddress, of id: String, in share: @autoclosure () -> GroupQuota.Share, at now: Timestamp,
        using random: inout some RandomNumberGenerator
    ) -> Count? {
        self.turn(to: now, using: &random)
        if self.groups[id] == nil, !self.makeRoom(for: share(), id) { return nil }
        let hash = self.hash(address, id)
        guard var hashes = self.groups[id]?.hashes else { return nil }
        let place = Self.place(of: hash, in: hashes)
        let isNew = place == hashes.count || hashes[place] != hash
        if isNew, hashes.count < Self.maximumNetworks {
            hashes.insert(hash, at: place)
            self.groups[id]?.hashes = hashes
            self.rise(id, from: Self.level(of: hashes.count - 1))
        }
        // At the bound the next one may be new or not.
        return Count(
            day: self.day, networks: BoundedCount(hashes.count, isMore: hashes.count == Self.maximumNetworks))
    }

    /// The number of groups that are counted today.
    package var groupCount: Int { self.groups.count }

    /// The number of entries in all lines.
    var entryCount: Int { self.lines.values.reduce(0) { $0 + $1.entryCount } }

    /// Adds a group, in the place of another one where there is no room.
    ///
    /// - Returns: Whether it was added.
    private mutating func makeRoom(for share: GroupQuota.Share, _ id: String) -> Bool {
        switch self.quota.room(for: share, holding: self.lines[.share(share)]?.count ?? 0) {
        case .free: self.quota.add(share)
        case .whenOneLeaves(let scope):
            let place = scope == .share ? Place.share(share) : Place.part(share.part)
            guard let leaving = self.leaving(in: place), let group = self.groups.removeValue(forKey: leaving)
            else { return false }
            for place in Place.all(of: group.share) {
                self.lines[place]?.counts[group.level] -= 1
                if self.lines[place]?.count == 0 { self.lines[place] = nil }
            }
        }
        self.arrivals += 1
        self.groups[id] = Group(share: share, arrival: self.arrivals, hashes: [])
        for place in Place.all(of: share) { self.join(place, (id: id, arrival: self.arrivals), at: 0) }
        return true
    }

    /// Takes the group that leaves out of a line. Each entry is looked at once.
    private mutating func leaving(in place: Place) -> String? {
        guard let counts = self.lines[place]?.counts else { return nil }
        let all = counts.reduce(0, +)
        var below = 0
        for (level, count) in counts.enumerated() {
            below += count
            guard below * Self.newcomersPart >= all else { continue }
            while let next = self.lines[place]?.levels[level].popFirst() {
                self.looks += 1
                if self.isThere(next, at: level) { return next.id }
            }
        }
        return nil
    }

    /// Puts a group that has one network more on its level.
    private mutating func rise(_ id: String, from level: Int) {
        guard let group = self.groups[id], group.level != level else { return }
        for place in Place.all(of: group.share) {
            self.lines[place]?.counts[level] -= 1
            self.join(place, (id: id, arrival: group.arrival), at: group.level)
        }
    }

    /// Puts a group at the end of a level. A group that left through its other line, or is on another level by now, still
    /// stands in this one, so a line with more than twice as many entries as groups is cleared of those. Each time most of it
    /// goes: a newcomer costs a few looks.
    private mutating func join(_ place: Place, _ entry: Line.Entry, at level: Int) {
        var line = self.lines.removeValue(forKey: place) ?? Line()
        line.counts[level] += 1
        if line.entryCount > 2 * line.count + 16 {
            self.looks += line.entryCount
            for level in line.levels.indices { line.levels[level].removeAll { !self.isThere($0, at: level) } }
        }
        line.levels[level].append(entry)
        self.lines[place] = line
    }

    private func isThere(_ entry: Line.Entry, at level: Int) -> Bool {
        guard let group = self.groups[entry.id] else { return false }
        return group.arrival == entry.arrival && group.level == level
    }

    /// The level of a number of networks: 0 for one, 1 for two and three, 2 for four to seven, and so on.
    private static func level(of networks: Int) -> Int {
        Int.bitWidth - 1 - max(networks, 1).leadingZeroBitCount
    }

    private mutating func turn(to now: Timestamp, using random: inout some RandomNumberGenerator) {
        let today = Self.day(of: now)
        guard today != self.day else { return }
        let start = self.day.multipliedReportingOverflow(by: Self.daySeconds).partialValue
        if today == self.day - 1, start - now.secondsSince1970 <= Self.toleratedFall { return }
        self.day = today
        self.keyed = HMAC(key: Self.newKey(using: &random))
        self.groups = [:]
        self.quota = GroupQuota(listed: 0, other: 0)
        self.lines = [:]
        self.looks = 0
    }

    private func hash(_ address: SourceAddress, _ group: String) -> UInt64 {
        var hash = self.keyed
        hash.update(data: address.site + Array(group.utf8))
        return hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The place of a hash in a sorted array, or the place to insert it.
    private static func place(of hash: UInt64, in hashes: [UInt64]) -> Int {
        var low = 0
        var high = hashes.count
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle] < hash { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func day(of time: Timestamp) -> Int64 {
        let seconds = time.secondsSince1970
        return seconds / self.daySeconds - (seconds % self.daySeconds < 0 ? 1 : 0)
    }

    private static func newKey(using random: inout some RandomNumberGenerator) -> SymmetricKey {
        SymmetricKey(data: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }
}
