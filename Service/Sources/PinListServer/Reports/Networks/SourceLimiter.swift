// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How many reports are taken from one source, and from all together, with memory that nobody outside chooses.
///
/// A source is an IPv4 address or an IPv6 /64. Each has a token bucket in a table of fixed size; its place is one of
/// ``ways`` that a hash gives it. A source that finds no place takes that of the bucket that is fullest, the least
/// active one, and begins **with what is left in it**: a full one is as good as none, and taking a place that is not
/// full brings no token. So whoever comes from many addresses cannot push out a spent bucket to begin anew, and all
/// sources of a place together never get more than its rate.
///
/// Against those who have more addresses than the table has places there is the limit for all; while it is reached,
/// others are turned away, too. What is turned away is asked to come back, and one in N of it is kept: clients send a
/// report once a day and come back, and what an operator sees of a flood is in proportion to it.
public struct SourceLimiter: Sendable {
    /// How many places a source may stand in.
    static let ways = 8

    /// What is allowed.
    public struct Limits: Hashable, Sendable {
        /// The most reports of a source at once. Many phones share the address of a mobile network.
        public var sourceBurst = 120
        /// How many reports of a source come to it in a minute.
        public var sourcePerMinute = 60
        /// The most reports of all sources at once.
        public var totalBurst = 10_000
        /// How many reports of all sources in a minute: what one disk writes with room to spare.
        public var totalPerMinute = 60_000
        /// One in so many that are over a limit is kept.
        public var sampleEvery = 100
        /// How many samples in a minute, at the most: a flood must not fill the disk.
        public var samplesPerMinute = 60
        /// How many sources are known at a time; rounded up to a multiple of 8. 24 bytes each.
        public var sources = 16_384

        /// The defaults.
        public init() {}
    }

    /// What becomes of a request.
    public enum Answer: Hashable, Sendable {
        /// It is taken.
        case allow
        /// 429, with the seconds of `Retry-After`.
        case refuse(retryAfter: Int64)
        /// It is kept as a sample of what is over the limit, and answered with 429 all the same.
        case sample(retryAfter: Int64)
    }

    private struct Place: Sendable {
        var source: UInt64 = 0
        var bucket = TokenBucket()
    }

    /// The most samples at once.
    private static let sampleBurst = 10
    /// The longest `Retry-After`, in seconds: an hour.
    private static let longestWait: Int64 = 3_600

    private let sourceRate: TokenBucket.Rate
    private let limits: Limits
    private var totalRate: TokenBucket.Rate
    private var sampleRate: TokenBucket.Rate
    private let sampleEvery: Int
    private let seed: UInt64
    private var places: [Place]
    private var total = TokenBucket()
    private var samples = TokenBucket()
    private var refused = 0
    private var latest: Int64 = 0

    /// A limiter that has seen nobody.
    ///
    /// - Parameters:
    ///   - limits: What is allowed.
    ///   - seed: A random number, so that nobody outside knows who stands beside whom.
    public init(_ limits: Limits = Limits(), seed: UInt64) {
        self.limits = limits
        self.sourceRate = TokenBucket.Rate(burst: limits.sourceBurst, perMinute: limits.sourcePerMinute)
        self.totalRate = TokenBucket.Rate(burst: limits.totalBurst, perMinute: limits.totalPerMinute)
        self.sampleRate = TokenBucket.Rate(burst: Self.sampleBurst, perMinute: limits.samplesPerMinute)
        self.sampleEvery = max(limits.sampleEvery, 1)
        self.seed = seed
        let sets = (min(max(limits.sources, 1), 1_048_576) + Self.ways - 1) / Self.ways
        self.places = Array(repeating: Place(), count: sets * Self.ways)
    }

    /// Shares what all sources together may send among so many instances of the service.
    public mutating func share(among instances: Int) {
        let number = max(instances, 1)
        self.totalRate = TokenBucket.Rate(
            burst: self.limits.totalBurst / number, perMinute: self.limits.totalPerMinute / number)
        self.sampleRate = TokenBucket.Rate(
            burst: Self.sampleBurst, perMinute: self.limits.samplesPerMinute / number)
    }

    /// How many sources can be known: it never changes.
    var capacity: Int { self.places.count }

    /// Judges one request.
    ///
    /// - Parameters:
    ///   - address: Where it comes from.
    ///   - now: Nanoseconds of a clock that only goes forward. One that goes back stands still instead.
    public mutating func judge(_ address: SourceAddress, at now: Int64) -> Answer {
        self.latest = min(max(now, self.latest), .max / 4)
        let now = self.latest
        let source = self.number(of: address)
        let index = self.place(of: source)
        let wait = max(
            self.places[index].bucket.wait(self.sourceRate, at: now), self.total.wait(self.totalRate, at: now))
        guard wait > 0 else {
            self.places[index].source = source
            self.places[index].bucket.take(self.sourceRate, at: now)
            self.total.take(self.totalRate, at: now)
            return .allow
        }
        let retryAfter = min((wait + 999_999_999) / 1_000_000_000, Self.longestWait)
        self.refused += 1
        guard self.refused >= self.sampleEvery, self.samples.wait(self.sampleRate, at: now) == 0 else {
            return .refuse(retryAfter: retryAfter)
        }
        self.refused = 0
        self.samples.take(self.sampleRate, at: now)
        return .sample(retryAfter: retryAfter)
    }

    /// Where a source stands; else the place that is fullest, whose bucket it will go on with.
    private func place(of source: UInt64) -> Int {
        let first = Int(source % UInt64(self.places.count / Self.ways)) * Self.ways
        var fullest = first
        for index in first..<(first + Self.ways) {
            if self.places[index].source == source { return index }
            if self.places[index].bucket.fullAt < self.places[fullest].bucket.fullAt { fullest = index }
        }
        return fullest
    }

    /// A number for a source that nobody outside can tell. Never 0, which is nobody.
    private func number(of address: SourceAddress) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(self.seed)
        hasher.combine(address.limited)
        return max(UInt64(bitPattern: Int64(hasher.finalize())), 1)
    }
}
