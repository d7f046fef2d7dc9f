// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Limits the rate of reports from one source, and from all together, in memory whose size no client influences.
///
/// A source is an IPv4 address or an IPv6 /64. Each has a token bucket in a table of fixed size; its place is one of
/// ``ways`` that a hash gives it. A source that finds no place takes that of the bucket that is fullest, the least
/// active one, and begins **with what is left in it**: a full one is as good as none, and taking a place that is not
/// full brings no token. So a sender with many addresses cannot push out a spent bucket to begin anew, and all sources
/// of a place together never get more than its rate.
///
/// One token admits a body (``evaluate(_:at:)``). What it holds beyond one usual report is charged when it was read
/// (``charge(_:_:_:at:)``). A bucket that was full when the body was admitted may be overdrawn, once: so an array of 128
/// gets through, and nothing else does until it is paid back. Any other body is refused whole when the tokens are not
/// there. So a source never stores more than its burst, its rate, and one body.
///
/// Against those who have more addresses than the table has places there is the limit for all; while it is reached,
/// others are turned away, too. What is turned away is asked to come back, later the more were turned away
/// (``WaitingLine``), and one in N of it is kept: clients send a report once a day and come back, and what an operator
/// sees of a flood is in proportion to it. A source that is over its own limit does not make the line of all longer.
package struct SourceLimiter: Sendable {
    /// The number of places that a source may have.
    static let ways = 8

    /// The KiB of documents that are kept of a source at once, and as many in an hour (formats.md, section 7): of some fifty
    /// usual reports with two chains.
    static let keptKibibytes = 1_024
    private static let keptRate = TokenBucket.Rate(burst: Self.keptKibibytes, perMinute: Self.keptKibibytes / 60)

    /// The limits on rates.
    package struct Limits: Hashable, Sendable {
        /// The maximum number of reports of a source at once. Many phones share the address of a mobile network.
        package var sourceBurst = 120
        /// The number of tokens for reports that come to a source in a minute.
        package var sourcePerMinute = 60
        /// The maximum number of reports of all sources at once.
        package var totalBurst = 10_000
        /// The number of reports of all sources in a minute: what one disk writes with room to spare.
        package var totalPerMinute = 60_000
        /// One in so many that are over a limit is kept.
        package var sampleEvery = 100
        /// The number of samples in a minute, at the most: a flood must not fill the disk.
        package var samplesPerMinute = 60
        /// The number of sources that are known at a time; rounded up to a multiple of 8. 32 bytes each.
        package var sources = 16_384

        /// The defaults.
        package init() {}
    }

    /// The admission of a body.
    package struct Admission: Hashable, Sendable {
        /// Whether its source's bucket was full.
        let sourceWasFull: Bool
        /// Whether the bucket of all was full.
        let totalWasFull: Bool
        /// Whether this body has overdrawn its source's bucket: what it costs beyond is owed as well.
        fileprivate(set) var sourceOwes = false
        /// Whether it has overdrawn that of all; likewise.
        fileprivate(set) var totalOwes = false
    }

    /// Whether a body is taken.
    package enum Answer: Hashable, Sendable {
        /// The body is taken.
        case allow(Admission)
        /// 429, with the seconds of `Retry-After` before chance is added (``RetryTime``).
        case refuse(retryAfter: Int64)
        /// One report of it is kept as a sample of what is over the limit, and it is answered with 429 all the same.
        case sample(retryAfter: Int64)
    }

    private struct Place: Sendable {
        var source: UInt64 = 0
        var bucket = TokenBucket()
        var line = WaitingLine()
        var kept = TokenBucket()

        /// Whether more is left in its bucket, or, where that is the same, it was turned away earlier.
        func isFuller(than other: Place) -> Bool {
            (self.bucket.fullAt, self.line.endsAt) < (other.bucket.fullAt, other.line.endsAt)
        }
    }

    /// The maximum number of samples at once; at most 60 come in a minute (formats.md, section 7).
    private static let sampleBurst = 10

    private let sourceRate: TokenBucket.Rate
    private let limits: Limits
    private var totalRate: TokenBucket.Rate
    private var sampleRate: TokenBucket.Rate
    private let sampleEvery: Int
    private let seed: UInt64
    private var places: [Place]
    private var total = TokenBucket()
    private var totalLine = WaitingLine()
    private var samples = TokenBucket()
    private var refused = 0
    private var latest: Int64 = 0

    /// A limiter without any sources yet.
    ///
    /// - Parameters:
    ///   - limits: The limits.
    ///   - seed: A random number, so that no client knows which sources share a place.
    package init(_ limits: Limits = Limits(), seed: UInt64) {
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
    package mutating func share(among instances: Int) {
        let number = max(instances, 1)
        self.totalRate = TokenBucket.Rate(
            burst: self.limits.totalBurst / number, perMinute: self.limits.totalPerMinute / number)
        self.sampleRate = TokenBucket.Rate(
            burst: Self.sampleBurst, perMinute: self.limits.samplesPerMinute / number)
    }

    /// The number of sources that can be known: it never changes.
    var capacity: Int { self.places.count }

    /// Evaluates whether a body is read: it costs one token.
    ///
    /// - Parameters:
    ///   - address: The address of the sender.
    ///   - now: Nanoseconds of a clock that only goes forward. One that goes back stands still instead.
    package mutating func evaluate(_ address: SourceAddress, at now: Int64) -> Answer {
        let now = self.advance(to: now)
        let (source, index) = self.place(of: address)
        let admission = Admission(
            sourceWasFull: self.places[index].bucket.isFull(at: now), totalWasFull: self.total.isFull(at: now))
        let waits = (
            source: self.places[index].bucket.wait(self.sourceRate, at: now),
            total: self.total.wait(self.totalRate, at: now)
        )
        guard waits == (0, 0) else { return self.turnAway(source, index, for: 1, waits, at: now) }
        self.places[index].source = source
        self.take(1, index, at: now)
        return .allow(admission)
    }

    /// Evaluates whether a body is taken that was admitted and read, and takes what it costs beyond its first token.
    ///
    /// - Parameters:
    ///   - tokens: The cost beyond what was taken for it.
    ///   - address: The address of the sender.
    ///   - admission: The admission of the body.
    ///   - now: As for ``evaluate(_:at:)``.
    package mutating func charge(
        _ tokens: Int, _ address: SourceAddress, _ admission: Admission, at now: Int64
    ) -> Answer {
        guard tokens > 0 else { return .allow(admission) }
        let tokens = Int64(min(tokens, 1_000_000))
        let now = self.advance(to: now)
        let (source, index) = self.place(of: address)
        let bucket = self.places[index].bucket
        let isOverdrawn = self.isOverdrawn(index, at: now)
        let mayOwe = (
            source: admission.sourceOwes || admission.sourceWasFull && !isOverdrawn.source,
            total: admission.totalOwes || admission.totalWasFull && !isOverdrawn.total
        )
        let waits = (
            source: mayOwe.source ? 0 : bucket.wait(self.sourceRate, for: tokens, at: now),
            total: mayOwe.total ? 0 : self.total.wait(self.totalRate, for: tokens, at: now)
        )
        guard waits == (0, 0) else { return self.turnAway(source, index, for: tokens, waits, at: now) }
        self.places[index].source = source
        self.take(tokens, index, at: now)
        var charged = admission
        let after = self.isOverdrawn(index, at: now)
        if after.source, !isOverdrawn.source { charged.sourceOwes = true }
        if after.total, !isOverdrawn.total { charged.totalOwes = true }
        return .allow(charged)
    }

    /// Evaluates whether the document of a report is kept, which is one of the first of its group.
    ///
    /// A report is charged for the work that it is. What a large one leaves on the disk until retention takes it is bounded
    /// here: otherwise one source would fill the database within a day, and push the reports of all others out of it. The
    /// report itself is stored and counted.
    ///
    /// - Parameters:
    ///   - bytes: The length of the document, about. One of less than a KiB is always kept.
    ///   - address: The address of the sender.
    ///   - now: As for ``evaluate(_:at:)``.
    package mutating func keeps(_ bytes: Int, of address: SourceAddress, at now: Int64) -> Bool {
        let kibibytes = Int64(bytes / 1_024)
        guard kibibytes > 0 else { return true }
        let (now, index) = (self.advance(to: now), self.place(of: address).index)
        guard self.places[index].kept.wait(Self.keptRate, for: kibibytes, at: now) == 0 else { return false }
        self.places[index].kept.take(Self.keptRate, kibibytes, at: now)
        return true
    }

    private func isOverdrawn(_ index: Int, at now: Int64) -> (source: Bool, total: Bool) {
        (
            self.places[index].bucket.isOverdrawn(self.sourceRate, at: now),
            self.total.isOverdrawn(self.totalRate, at: now)
        )
    }

    private mutating func take(_ tokens: Int64, _ index: Int, at now: Int64) {
        self.places[index].bucket.take(self.sourceRate, tokens, at: now)
        self.total.take(self.totalRate, tokens, at: now)
    }

    /// Says when to come back, and whether this one is kept as a sample.
    private mutating func turnAway(
        _ source: UInt64, _ index: Int, for tokens: Int64, _ waits: (source: Int64, total: Int64), at now: Int64
    ) -> Answer {
        if waits.source == 0 {
            // It takes the place with what is left in the bucket, and a line of its own, so that it is known next time.
            if self.places[index].source != source {
                self.places[index].source = source
                self.places[index].line = WaitingLine()
            }
            // A source joins the line of all once in its own interval: no stranger decides how long others wait.
            if self.places[index].line.wait(at: now) == 0 {
                self.totalLine.join(for: tokens, after: waits.total, self.totalRate, at: now)
            }
        }
        let own = waits.source > 0 ? waits.source : tokens * self.sourceRate.interval
        self.places[index].line.join(for: tokens, after: own, self.sourceRate, at: now)
        let line = max(
            waits.source > 0 ? self.places[index].line.wait(at: now) : 0,
            waits.total > 0 ? max(self.totalLine.wait(at: now), waits.total) : 0)
        let retryAfter = min((line + 999_999_999) / 1_000_000_000, RetryTime.maximumLine)
        self.refused += 1
        guard self.refused >= self.sampleEvery, self.samples.wait(self.sampleRate, at: now) == 0 else {
            return .refuse(retryAfter: retryAfter)
        }
        self.refused = 0
        self.samples.take(self.sampleRate, at: now)
        return .sample(retryAfter: retryAfter)
    }

    private mutating func advance(to now: Int64) -> Int64 {
        self.latest = min(max(now, self.latest), .max / 4)
        return self.latest
    }

    /// A source's number, and where it stands; else the place that is fullest, whose bucket it will go on with.
    private func place(of address: SourceAddress) -> (source: UInt64, index: Int) {
        let source = self.number(of: address)
        let first = Int(source % UInt64(self.places.count / Self.ways)) * Self.ways
        var fullest = first
        for index in first..<(first + Self.ways) {
            if self.places[index].source == source { return (source, index) }
            if self.places[index].isFuller(than: self.places[fullest]) { fullest = index }
        }
        return (source, fullest)
    }

    /// A number for a source that no client can predict. Never 0, which is an empty place.
    private func number(of address: SourceAddress) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(self.seed)
        hasher.combine(address.limited)
        return max(UInt64(bitPattern: Int64(hasher.finalize())), 1)
    }
}
