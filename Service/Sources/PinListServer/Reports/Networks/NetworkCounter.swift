// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Crypto

/// How many networks reported the same failure in a day, without keeping any address.
///
/// A network is the /24 or the /48 of an address, told apart by a keyed hash of it and of the group: HMAC-SHA-256, cut
/// to 64 bits, under a key that is only in memory and is replaced each day. So what is in memory cannot be turned back
/// without the key, days cannot be joined, and what leaves is a number.
///
/// When the service starts again on the same day it counts anew: whoever stores the numbers keeps the highest of a day.
public struct NetworkCounter: Sendable {
    /// The most networks that are told apart in a group; then it is `256 or more`.
    public static let mostNetworks = 256
    /// The most groups that are counted on a day: 20 MiB of hashes at the most.
    public static let mostGroups = ReportGroup.mostGroups
    /// How far the clock may fall back over midnight before that counts as another day, in seconds: clocks are set by
    /// less than this all the time, and every change of the key forgets what was counted.
    public static let toleratedFall: Int64 = 3_600

    /// The number of a day.
    public struct Count: Hashable, Sendable {
        /// The day, in whole days since 1970-01-01 in UTC.
        public let day: Int64
        /// How many networks.
        public let networks: BoundedCount

        /// States a number.
        public init(day: Int64, networks: BoundedCount) {
            self.day = day
            self.networks = networks
        }
    }

    private static let daySeconds: Int64 = 86_400

    private var key: SymmetricKey
    private var day: Int64
    /// Sorted hashes for each group.
    private var groups: [String: [UInt64]] = [:]

    /// A counter for the day of a time.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - random: Where the key comes from: the system's generator, but in tests.
    public init(at now: Timestamp, using random: inout some RandomNumberGenerator) {
        self.day = Self.day(of: now)
        self.key = Self.newKey(using: &random)
    }

    /// Counts the network of an address for a group.
    ///
    /// - Parameters:
    ///   - address: Where a report came from.
    ///   - group: ``ReportGroup/id``.
    ///   - now: The time. A day that has passed, or a clock that jumped to another one, ends what was counted.
    ///   - random: Where the next day's key comes from.
    /// - Returns: The number so far; `nil` when ``mostGroups`` are counted already and this is another one.
    public mutating func count(
        _ address: SourceAddress, in group: String, at now: Timestamp, using random: inout some RandomNumberGenerator
    ) -> Count? {
        self.turn(to: now, using: &random)
        var hashes = self.groups[group] ?? []
        guard !hashes.isEmpty || self.groups.count < Self.mostGroups else { return nil }
        let hash = self.hash(address, group)
        let place = Self.place(of: hash, in: hashes)
        let isNew = place == hashes.count || hashes[place] != hash
        if isNew, hashes.count < Self.mostNetworks {
            hashes.insert(hash, at: place)
            self.groups[group] = hashes
        }
        // At the bound nobody knows whether the next one is new.
        return Count(
            day: self.day, networks: BoundedCount(hashes.count, isMore: hashes.count == Self.mostNetworks))
    }

    /// How many groups are counted today.
    public var groupCount: Int { self.groups.count }

    private mutating func turn(to now: Timestamp, using random: inout some RandomNumberGenerator) {
        let today = Self.day(of: now)
        guard today != self.day else { return }
        let start = self.day.multipliedReportingOverflow(by: Self.daySeconds).partialValue
        if today == self.day - 1, start - now.secondsSince1970 <= Self.toleratedFall { return }
        self.day = today
        self.key = Self.newKey(using: &random)
        self.groups = [:]
    }

    private func hash(_ address: SourceAddress, _ group: String) -> UInt64 {
        let code = HMAC<SHA256>.authenticationCode(for: address.site + Array(group.utf8), using: self.key)
        return code.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Where a hash stands in a sorted array, or would.
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
