// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The number of requests of one source that count for adoption in an hour, in memory whose size no client influences
/// (formats.md, section 7).
///
/// A source is an IPv4 address or an IPv6 /64, for one list. Each has a count in a table of fixed size; its place is
/// one of ``ways`` that a hash gives it. A source that finds no place takes that of the lowest count, and goes on
/// **with that count** (the Space-Saving algorithm). So what is counted for a source is never lower than what it sent:
/// no source gets more than ``maximumRequests``, however many other addresses push it out.
///
/// A flood from many addresses uses up the table only after about ``places`` × ``maximumRequests`` requests in an hour,
/// 15.7 million; until then a source that was not there before has requests left. After that, requests are
/// ``Answer/crowded``: they are not counted, and it is said how many there were.
package struct ListRequestQuota: Sendable {
    /// The maximum number of requests of a source in an hour that count (formats.md, section 7; decision 0042).
    package static let maximumRequests = 120
    /// The number of places that a source may have.
    static let ways = 8
    /// The number of counts: 2 MiB.
    package static let places = 131_072

    /// Whether a request counts.
    package enum Answer: Hashable, Sendable {
        /// The request counts.
        case counts
        /// The request does not count, and is the first of this source that does not: those before it were as many as
        /// count.
        case exhausted
        /// The request does not count: the source has sent more than count already.
        case surplus
        /// The request does not count: so many sources asked that it cannot be said whether this one has sent as many
        /// as count.
        case crowded
    }

    private struct Place: Sendable {
        var source: UInt64 = 0
        var count: UInt8 = 0
        /// Whether the count began as that of another source.
        var isShared = false
    }

    private let seed: UInt64
    private let places: Int
    private var table: [Place]

    /// A quota of which nothing is used.
    ///
    /// - Parameters:
    ///   - seed: A random number, so that no client knows which sources share a bucket.
    ///   - places: The number of counts; rounded up to a multiple of ``ways``.
    package init(seed: UInt64, places: Int = Self.places) {
        self.seed = seed
        self.places = (min(max(places, 1), 1_048_576) + Self.ways - 1) / Self.ways * Self.ways
        self.table = []
    }

    /// The number of sources that the table tells apart: what it takes in memory. 0 before the first one.
    var capacity: Int { self.table.count }

    /// Forgets what was counted: the next hour begins. The table is made when the first source of it is counted.
    package mutating func reset() { self.table = [] }

    /// Counts a request of a source for a list.
    package mutating func take(_ address: SourceAddress, for name: String) -> Answer {
        if self.table.isEmpty { self.table = Array(repeating: Place(), count: self.places) }
        let source = self.number(of: address, for: name)
        let index = self.place(of: source)
        if self.table[index].source != source {
            self.table[index].isShared = self.table[index].source != 0
            self.table[index].source = source
        }
        guard self.table[index].count < Self.maximumRequests else {
            if self.table[index].isShared { return .crowded }
            guard self.table[index].count == Self.maximumRequests else { return .surplus }
            // One more than counts says that the source was told of.
            self.table[index].count += 1
            return .exhausted
        }
        self.table[index].count += 1
        return .counts
    }

    /// The place of a source; else the place with the lowest count, which it goes on with.
    private func place(of source: UInt64) -> Int {
        let first = Int(truncatingIfNeeded: source % UInt64(self.table.count / Self.ways)) * Self.ways
        var lowest = first
        for index in first..<(first + Self.ways) {
            if self.table[index].source == source { return index }
            if self.table[index].count < self.table[lowest].count { lowest = index }
        }
        return lowest
    }

    /// A number for a source that no client can predict. Never 0, which is an empty place.
    private func number(of address: SourceAddress, for name: String) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(self.seed)
        hasher.combine(address.limited)
        hasher.combine(name)
        return max(UInt64(bitPattern: Int64(hasher.finalize())), 1)
    }
}
