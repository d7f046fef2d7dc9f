// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PinListServer

@Suite("How many reports are taken from whom")
struct SourceLimiterTests {
    private static let second: Int64 = 1_000_000_000

    /// Two at once, then one in ten seconds; all together a hundred at once.
    private static var limits: SourceLimiter.Limits {
        var limits = SourceLimiter.Limits()
        limits.sourceBurst = 2
        limits.sourcePerMinute = 6
        limits.totalBurst = 100
        limits.totalPerMinute = 60
        limits.sampleEvery = 10
        limits.sources = 64
        return limits
    }

    private func address(_ text: String) throws -> SourceAddress { try #require(SourceAddress(text)) }

    @Test("a burst, then a rate; the wait is said in whole seconds, and after it there is room")
    func rate() throws {
        var limiter = SourceLimiter(Self.limits, seed: 1)
        let phone = try self.address("192.0.2.1")
        let answers = (0..<3).map { _ in limiter.judge(phone, at: 0) }
        #expect(answers == [.allow, .allow, .refuse(retryAfter: 10)])
        let early = limiter.judge(phone, at: 9 * Self.second + 1)
        #expect(early == .refuse(retryAfter: 1))
        let then = limiter.judge(phone, at: 10 * Self.second)
        #expect(then == .allow)
        let rested = (0..<3).map { _ in limiter.judge(phone, at: 100 * Self.second) }
        #expect(rested == [.allow, .allow, .refuse(retryAfter: 10)])
    }

    @Test("an IPv6 /64 is one source, since one machine has all of it; IPv4 addresses are told apart")
    func sources() throws {
        var limiter = SourceLimiter(Self.limits, seed: 1)
        let sameSite = try ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map(self.address)
        let answers = sameSite.map { limiter.judge($0, at: 0) }
        #expect(answers == [.allow, .allow, .refuse(retryAfter: 10)])
        let neighbours = try ["192.0.2.1", "192.0.2.2", "::ffff:192.0.2.1", "192.0.2.1"].map(self.address)
        let others = neighbours.map { limiter.judge($0, at: 0) }
        #expect(others == [.allow, .allow, .allow, .refuse(retryAfter: 10)])
    }

    @Test("of what is over the limit one in ten is kept, and not more than so many in a minute")
    func samples() throws {
        var limits = Self.limits
        limits.samplesPerMinute = 1
        var limiter = SourceLimiter(limits, seed: 1)
        let flood = try self.address("192.0.2.1")
        var answers: [SourceLimiter.Answer] = []
        for _ in 0..<102 { answers.append(limiter.judge(flood, at: 0)) }
        #expect(answers.filter { $0 == .allow }.count == 2)
        #expect(answers.filter { $0 == .sample(retryAfter: 10) }.count == 10)
        // The samples' own bucket is empty now.
        for _ in 0..<1_000 {
            let answer = limiter.judge(flood, at: 1)
            #expect(answer == .refuse(retryAfter: 10))
        }
    }

    @Test("all sources together have a limit, and one that is refused by it has lost nothing of its own")
    func total() throws {
        var limits = Self.limits
        limits.sources = 4_096
        var limiter = SourceLimiter(limits, seed: 1)
        for number in 0..<100 {
            let answer = limiter.judge(try self.address("10.0.\(number).1"), at: 0)
            #expect(answer == .allow)
        }
        let late = try self.address("192.0.2.1")
        let refused = limiter.judge(late, at: 0)
        #expect(refused == .refuse(retryAfter: 1))
        let again = (1...2).map { limiter.judge(late, at: $0 * Self.second) }
        #expect(again == [.allow, .allow])
    }

    @Test(
        "100,000 addresses take no more memory than one, and get no more than the table's places and their rate allow")
    func manyAddresses() throws {
        var limits = Self.limits
        limits.totalBurst = 1_000_000
        limits.totalPerMinute = 60_000_000
        var limiter = SourceLimiter(limits, seed: 1)
        let capacity = limiter.capacity
        #expect(capacity == 64)
        var allowed = 0
        for number in 0..<100_000 {
            let bytes = [10, UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
            let answer = limiter.judge(try #require(SourceAddress(bytes: bytes)), at: 0)
            if answer == .allow { allowed += 1 }
        }
        #expect(limiter.capacity == capacity)
        // Two at once for each place of the table: no address begins with a full bucket that another one had emptied.
        #expect(allowed == 128)
    }

    @Test("an attacker who pushes spent sources out of the table does not lift their limit")
    func eviction() throws {
        var limits = Self.limits
        limits.sources = 8
        limits.totalBurst = 1_000_000
        limits.totalPerMinute = 60_000_000
        var limiter = SourceLimiter(limits, seed: 1)
        let attacker = try self.address("192.0.2.1")
        var allowed = 0
        // In ten minutes eight places give 8 × 2 at once, and 8 × 6 in each minute.
        for step in 0..<6_000 as Range<Int64> {
            let now = step * Self.second / 10
            if limiter.judge(attacker, at: now) == .allow { allowed += 1 }
            let other = try self.address("198.51.\(step / 200).\(step % 200)")
            if limiter.judge(other, at: now) == .allow { allowed += 1 }
        }
        #expect(allowed <= 8 * 2 + 8 * 60)
        #expect(allowed > 8 * 2)
    }

    @Test("a source that is active keeps its place among others that come once")
    func activeSource() throws {
        var limits = Self.limits
        limits.sources = 8
        var limiter = SourceLimiter(limits, seed: 1)
        let active = try self.address("192.0.2.1")
        _ = [limiter.judge(active, at: 0), limiter.judge(active, at: 0)]
        for number in 0..<7 {
            let answer = limiter.judge(try self.address("198.51.100.\(number)"), at: 0)
            #expect(answer == .allow)
        }
        let answer = limiter.judge(active, at: 0)
        #expect(answer == .refuse(retryAfter: 10))
    }

    @Test("a clock that goes back stands still; one that runs to its end does not trap")
    func clock() throws {
        var limiter = SourceLimiter(Self.limits, seed: 1)
        let phone = try self.address("192.0.2.1")
        _ = [limiter.judge(phone, at: 100 * Self.second), limiter.judge(phone, at: 100 * Self.second)]
        let back = limiter.judge(phone, at: 0)
        #expect(back == .refuse(retryAfter: 10))
        let negative = limiter.judge(phone, at: .min)
        #expect(negative == .refuse(retryAfter: 10))
        let end = (0..<3).map { _ in limiter.judge(phone, at: .max) }
        #expect(end == [.allow, .allow, .refuse(retryAfter: 10)])
    }

    @Test("limits that make no sense are the nearest that do")
    func senselessLimits() throws {
        var limits = SourceLimiter.Limits()
        (limits.sourceBurst, limits.sourcePerMinute, limits.totalBurst, limits.totalPerMinute) = (0, 0, -1, .max)
        (limits.sampleEvery, limits.samplesPerMinute, limits.sources) = (0, -5, .max)
        var limiter = SourceLimiter(limits, seed: 1)
        #expect(limiter.capacity == 1_048_576)
        let phone = try self.address("192.0.2.1")
        let answers = (0..<2).map { _ in limiter.judge(phone, at: 0) }
        #expect(answers == [.allow, .sample(retryAfter: 60)])
    }

    @Test("two instances take together what one would, and one that is left takes it all")
    func shared() throws {
        var limits = SourceLimiter.Limits()
        limits.sourceBurst = 1_000
        limits.totalBurst = 10
        limits.totalPerMinute = 60
        limits.sampleEvery = 1_000_000
        var instances = (0..<2).map { SourceLimiter(limits, seed: UInt64($0)) }
        let address = try #require(SourceAddress(bytes: [192, 0, 2, 1]))
        func taken(until second: Int64) -> Int {
            (0..<2).reduce(0) { sum, index in
                sum + (0..<1_000).count { _ in instances[index].judge(address, at: second * 1_000_000_000) == .allow }
            }
        }
        for index in instances.indices { instances[index].share(among: 2) }
        #expect(taken(until: 0) == 10)
        #expect(taken(until: 4) == 4)
        instances[0].share(among: 1)
        instances[1].share(among: 1_000_000)
        #expect(taken(until: 3_600) == 10 + 1)
    }
}
