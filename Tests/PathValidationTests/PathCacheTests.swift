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
    func key() async throws {
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
    func validity() async throws {
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
    func lifetime() async throws {
        let found = try await Found { form in form.notAfter = TestCertificate.time + 900_000 }
        var cache = PathCache()
        cache.keep(found.outcome, for: try found.key(), at: self.time(-3_600))
        #expect(cache.path(for: try found.key(), at: self.time(-3_601)) == nil)
        #expect(cache.path(for: try found.key(), at: self.time(-3_600 + PathCache.lifetime)) != nil)
        #expect(cache.path(for: try found.key(), at: self.time(-3_599 + PathCache.lifetime)) == nil)
    }

    @Test("keeps no refusal")
    func refusal() async throws {
        let found = try await Found { form in form.notAfter = TestCertificate.time - 1 }
        var cache = PathCache()
        cache.keep(found.outcome, for: try found.key(), at: Self.now)
        #expect(cache.count == 0)
    }

    @Test("keeps 1,024 paths, those that were used last")
    func capacity() async throws {
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
}
#endif
