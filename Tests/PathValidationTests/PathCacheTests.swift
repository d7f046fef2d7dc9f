// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import PathValidation
import Testing

@Suite("A cache of validated paths")
struct PathCacheTests {
    static let now = Timestamp(secondsSince1970: TestCertificate.time)

    /// A validated path, and what it was found for.
    private struct Found {
        let presented: [[UInt8]]
        let roots: RootStore
        let outcome: PathOutcome

        init(_ change: (inout TestCertificate.Form) -> Void = { _ in }) async throws {
            let root = try TestCertificate.authority("root")
            let issuer = try TestCertificate.authority("issuing", by: root)
            let leaf = try TestCertificate.server(by: issuer, change)
            self.presented = [leaf.der, issuer.der]
            self.roots = RootStore(certificates: [root.der])
            self.outcome = try await PathValidator(roots: self.roots) { 0 }
                .validate(presented: self.presented, as: .host(HostName("api.example.com")), at: PathCacheTests.now)
        }

        func key(
            _ host: String = "api.example.com", presented: [[UInt8]]? = nil, roots: [UInt8]? = nil,
            limits: PathLimits = .standard
        ) throws -> PathCache.Key {
            PathCache.Key(
                presented: presented ?? self.presented, identity: .host(try HostName(host)),
                roots: roots ?? self.roots.digest, limits: limits)
        }
    }

    private func time(_ seconds: Int64) -> Timestamp {
        Timestamp(secondsSince1970: TestCertificate.time + seconds)
    }

    @Test("gives the path for the same chain, host, roots and settings, and for nothing else")
    func givesThePathForTheSameChainHostRootsAndSettingsAndForNothingElse() async throws {
        let found = try await Found()
        var cache = PathCache()
        cache.keep(found.outcome, for: try found.key(), at: Self.now)
        #expect(cache.path(for: try found.key(), at: Self.now) == (try found.outcome.result.get()))
        var limits = PathLimits.standard
        limits.pathLength = 9
        let others = [
            try found.key("www.example.com"), try found.key(presented: found.presented.reversed()),
            try found.key(presented: [found.presented[0]]),
            // The same bytes, cut elsewhere.
            try found.key(presented: [Array(found.presented.joined())]),
            try found.key(roots: RootStore(certificates: []).digest), try found.key(limits: limits),
        ]
        for other in others { #expect(cache.path(for: other, at: Self.now) == nil) }
        #expect(cache.hits == 1)
        #expect(cache.misses == others.count)
    }

    @Test("gives a path only while every certificate of it is valid")
    func givesAPathOnlyWhileEveryCertificateOfItIsValid() async throws {
        let found = try await Found { form in
            form.notBefore = TestCertificate.time - 10
            form.notAfter = TestCertificate.time + 100
        }
        var cache = PathCache()
        cache.keep(found.outcome, for: try found.key(), at: Self.now)
        #expect(cache.path(for: try found.key(), at: self.time(100)) != nil)
        #expect(cache.path(for: try found.key(), at: self.time(101)) == nil)
        #expect(cache.path(for: try found.key(), at: self.time(-11)) == nil)
    }

    @Test("gives a path for a day at most, and never for a time before it was found")
    func givesAPathForADayAtMostAndNeverForATimeBeforeItWasFound() async throws {
        let found = try await Found { form in form.notAfter = TestCertificate.time + 900_000 }
        var cache = PathCache()
        cache.keep(found.outcome, for: try found.key(), at: self.time(-3_600))
        #expect(cache.path(for: try found.key(), at: self.time(-3_601)) == nil)
        #expect(cache.path(for: try found.key(), at: self.time(-3_600 + PathCache.lifetime)) != nil)
        #expect(cache.path(for: try found.key(), at: self.time(-3_599 + PathCache.lifetime)) == nil)
    }

    @Test("a host that is called like a kind of question is another question")
    func hostThatIsCalledLikeAKindOfQuestionIsAnotherQuestion() async throws {
        let found = try await Found()
        let anyServer = PathCache.Key(
            presented: found.presented, identity: .uncheckedName, roots: found.roots.digest, limits: .standard)
        #expect(try found.key("\(ServerIdentity.uncheckedName)") != anyServer)
        #expect(try found.key("127.0.0.1") != (try found.key("127.0.0.1.example")))
        #expect(try found.key("::ffff:192.0.2.1") == (try found.key("192.0.2.1")))
    }

    @Test("keeps no refusal that cost little")
    func keepsNoRefusalThatCostLittle() async throws {
        let found = try await Found { form in form.notAfter = TestCertificate.time - 1 }
        var cache = PathCache()
        cache.keep(found.outcome, for: try found.key(), at: Self.now)
        #expect(cache.count == 0)
    }

    @Test("keeps 1,024 paths, those that were used last")
    func keeps1024PathsThoseThatWereUsedLast() async throws {
        let found = try await Found()
        var cache = PathCache()
        for number in 0..<PathCache.capacity {
            cache.keep(found.outcome, for: try found.key("host\(number).example.com"), at: Self.now)
        }
        #expect(cache.path(for: try found.key("host0.example.com"), at: Self.now) != nil)
        cache.keep(found.outcome, for: try found.key("one.more.example.com"), at: Self.now)
        #expect(cache.count == PathCache.capacity)
        #expect(cache.path(for: try found.key("host0.example.com"), at: Self.now) != nil)
        #expect(cache.path(for: try found.key("host1.example.com"), at: Self.now) == nil)
        cache.removeAll()
        #expect(cache.count == 0)
    }

    /// A validation that took over half of its steps, of a chain that leads nowhere.
    private func costly(
        limits: PathLimits, _ change: (inout TestCertificate.Form) -> Void = { _ in }, others: [[UInt8]] = [],
        host: String = "api.example.com", step: UInt64 = 0
    ) async throws -> PathOutcome {
        let root = try TestCertificate.authority("root")
        let issuers = try (0..<8).map { _ in try TestCertificate.authority("issuing", by: root, change) }
        let leaf = try TestCertificate.server(by: try TestCertificate.authority("issuing", by: root))
        let ticks = Ticks()
        let validator = PathValidator(
            roots: RootStore(certificates: [root.der]), limits: limits,
            monotonicNanoseconds: { ticks.next(step: step) })
        return await validator.validate(
            presented: [leaf.der] + issuers.map(\.der) + others, as: .host(try HostName(host)), at: Self.now)
    }

    private func limits(_ candidateSteps: Int) -> PathLimits {
        var limits = PathLimits.standard
        limits.candidateSteps = candidateSteps
        return limits
    }

    @Test("a refusal that took over half of a limit is kept for a minute, for the same question alone")
    func refusalThatTookOverHalfOfALimitIsKeptForAMinuteForTheSameQuestionAlone() async throws {
        let found = try await Found()
        var cache = PathCache()
        let key = try found.key()
        // Eight candidates: more than half of 15, and over a limit of 7.
        for steps in [15, 7] {
            let outcome = try await self.costly(limits: self.limits(steps))
            cache.keep(outcome, for: key, at: Self.now)
            #expect(cache.refusal(for: key, at: Self.now) == outcome.refusal)
            #expect(cache.refusal(for: key, at: self.time(60)) == outcome.refusal)
            #expect(cache.refusal(for: key, at: self.time(61)) == nil)
            #expect(cache.refusal(for: key, at: self.time(-1)) == nil)
            #expect(cache.refusal(for: try found.key("www.example.com"), at: Self.now) == nil)
            #expect(cache.path(for: key, at: Self.now) == nil)
            cache.removeAll()
            #expect(cache.refusal(for: key, at: Self.now) == nil)
        }
        cache.keep(try await self.costly(limits: self.limits(16)), for: key, at: Self.now)
        #expect(cache.refusal(for: key, at: Self.now) == nil)
    }

    @Test("none that the time, the host's name or the deadline decided, however much it cost")
    func noneThatTheTimeTheHostsNameOrTheDeadlineDecidedHoweverMuchItCost() async throws {
        let found = try await Found()
        let key = try found.key()
        var limits = self.limits(15)
        limits.nanoseconds = 100
        let outcomes = [
            // The time is over half spent where the host is compared, and over where signatures are checked.
            try await self.costly(limits: limits, host: "other.example", step: 8),
            try await self.costly(limits: limits, step: 8),
            // All issuers have expired.
            try await self.costly(limits: limits, { $0.notAfter = TestCertificate.time - 1 }, step: 8),
        ]
        for outcome in outcomes {
            var cache = PathCache()
            cache.keep(outcome, for: key, at: Self.now)
            #expect(cache.refusal(for: key, at: Self.now) == nil, "\(outcome.result)")
        }
        #expect(outcomes[0].refusal?.detail.contains("another server") == true)
        #expect(outcomes[1].refusal?.detail == "more than 0 ms")
        #expect(outcomes[2].refusal?.detail.contains("expired") == true)
    }

    @Test("nor one that a certificate may change which begins to be valid within the minute", arguments: [60, 61])
    func norOneThatACertificateMayChangeWhichBeginsToBeValidWithinTheMinute(seconds: Int64) async throws {
        let next = try TestCertificate.authority("issuing") { $0.notBefore = TestCertificate.time + seconds }
        let outcome = try await self.costly(limits: self.limits(15), others: [next.der, [0x30, 0]])
        var cache = PathCache()
        let key = try await Found().key()
        cache.keep(outcome, for: key, at: Self.now)
        #expect((cache.refusal(for: key, at: Self.now) != nil) == (seconds == 61))
    }

    @Test("keeps 256 refusals, the newest")
    func keeps256RefusalsTheNewest() async throws {
        let found = try await Found()
        let outcome = try await self.costly(limits: self.limits(15))
        var cache = PathCache()
        cache.keep(found.outcome, for: try found.key(), at: Self.now)
        for number in 0...PathCache.refusalCapacity {
            cache.keep(outcome, for: try found.key("host\(number).example.com"), at: self.time(number < 2 ? 0 : 1))
        }
        let kept = try (0...PathCache.refusalCapacity).filter {
            cache.refusal(for: try found.key("host\($0).example.com"), at: self.time(2)) != nil
        }
        #expect(kept.count == PathCache.refusalCapacity)
        #expect(Array(kept.suffix(255)) == Array(2...PathCache.refusalCapacity))
        #expect(cache.path(for: try found.key(), at: Self.now) != nil)
    }
}
#endif
