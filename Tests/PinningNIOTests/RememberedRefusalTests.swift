// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import PathValidation
import PinListClient
import PinningTesting
import Testing

@testable import PinningNIO

/// The clock of a validator, which goes on by a step whenever it is read: one that was not read says that nothing was
/// validated.
private final class ReadClock: Sendable {
    private let box: NIOLockedValueBox<(reads: Int, step: UInt64)>

    init(step: UInt64 = 0) { self.box = NIOLockedValueBox((0, step)) }

    /// How often it was read.
    var reads: Int { self.box.withLockedValue { $0.reads } }

    func read() -> UInt64 {
        self.box.withLockedValue { box in
            box.reads += 1
            return UInt64(box.reads) * box.step
        }
    }
}

/// A server with a good chain, and a chain that costs a validator more than it may.
private struct CostlyPeer {
    static let host = "api.example.com"
    static let otherHost = "www.example.com"
    /// When the certificates that cost so much expire, in seconds from the start.
    static let junkSeconds: Int64 = 20

    let pki: TestPKI
    /// In front of the good one stand twenty issuers with its key, below twenty that signed none of them.
    let presented: [[UInt8]]
    /// The start.
    let time = Timestamp(secondsSince1970: TestPKI.now)

    init() throws {
        let now = self.time.secondsSince1970
        self.pki = try TestPKI([Self.host, Self.otherHost])
        let key = self.pki.intermediate.key
        let strangers = try (0..<20).map { _ in try TestCertificate.authority("upper") { $0.around(now) } }
        let issuers = try (0..<20).map { number in
            try TestCertificate.authority("test issuing", by: TestCertificate.authority("upper"), key: key) { form in
                form.notBefore = now - 86_400 - Int64(number)
                form.notAfter = now + Self.junkSeconds
            }
        }
        let certificates = [self.pki.leaf] + issuers + strangers + [self.pki.intermediate]
        self.presented = certificates.map(\.der)
    }

    /// A finder that trusts the root.
    func finder(_ clock: ReadClock) -> CachingPathValidator {
        CachingPathValidator(PathValidator(roots: RootStore(certificates: [self.pki.root.der])) { clock.read() })
    }
}

@Suite("A refusal that cost much")
struct RememberedRefusalTests {
    /// The outcome of a handshake.
    private struct Ending: Equatable {
        let reason: PinningDecision.Reason?
        let isAllowed: Bool
    }

    /// Asks what TLS asks in a handshake.
    private func handshake(_ presented: [[UInt8]], _ server: ServerEvaluator) async throws -> Ending {
        let reason = NIOLockedValueBox<PinningDecision.Reason?>(nil)
        let answer = MultiThreadedEventLoopGroup.singleton.any()
            .makePromise(of: NIOSSLVerificationResultWithMetadata.self)
        let callback = PinnedTLS.callback(server) { verdict in
            reason.withLockedValue { $0 = verdict.decision.reason }
        }
        callback(try presented.map { try NIOSSLCertificate(bytes: $0, format: .der) }, answer)
        guard case .certificateVerified = try await answer.futureResult.get() else {
            return Ending(reason: reason.withLockedValue { $0 }, isAllowed: false)
        }
        return Ending(reason: reason.withLockedValue { $0 }, isAllowed: true)
    }

    @Test("is not found again for a minute: a peer that presents such a chain again and again is refused for nothing")
    func isNotFoundAgainForAMinute() async throws {
        let peer = try CostlyPeer()
        let clock = ReadClock()
        let scene = try PinnedScene([PinnedScene.entry(CostlyPeer.host, [peer.pki.leaf.pin])], roots: [peer.pki.root])
        scene.clock.now = peer.time
        let server = ServerEvaluator(
            pinning: scene.pinning, finder: peer.finder(clock), host: try HostName(CostlyPeer.host), port: 443)
        let refused = Ending(reason: .overBudget, isAllowed: false)
        #expect(try await self.handshake(peer.presented, server) == refused)
        let reads = clock.reads
        #expect(reads > 0)
        // The costly refusal has expired after the first half minute, and nothing looks it up.
        for seconds: Int64 in [0, 30, 30] {
            scene.clock.advance(by: seconds)
            #expect(try await self.handshake(peer.presented, server) == refused)
            #expect(clock.reads == reads)
        }
        scene.clock.advance(by: 1)
        #expect(try await self.handshake(peer.presented, server) == Ending(reason: .pinMatch, isAllowed: true))
        #expect(clock.reads > reads)
    }

    @Test("is one of that chain and that host alone, and of no other client")
    func isOneOfThatChainAndThatHostAloneAndOfNoOtherClient() async throws {
        let peer = try CostlyPeer()
        let clock = ReadClock()
        let finder = peer.finder(clock)
        func reason(
            _ presented: [[UInt8]], _ host: String = CostlyPeer.host, in finder: CachingPathValidator,
            after seconds: Int64
        ) async throws -> PinningDecision.Reason? {
            let question = finder.question(presented, for: try HostName(host))
            switch await finder.find(question, at: peer.time.advanced(by: seconds)) {
            case .success: return nil
            case .failure(let refusal): return refusal.reason
            }
        }
        #expect(try await reason(peer.presented, in: finder, after: 0) == .overBudget)
        let later = CostlyPeer.junkSeconds + 10
        #expect(try await reason(peer.presented, in: finder, after: later) == .overBudget)
        // A hash of all that was presented: not the same again in another order.
        let turned = [peer.presented[0]] + peer.presented.dropFirst().reversed()
        #expect(try await reason(turned, in: finder, after: later) == nil)
        #expect(try await reason(peer.presented, CostlyPeer.otherHost, in: finder, after: later) == nil)
        #expect(try await reason(peer.pki.chain.map(\.der), in: finder, after: later) == nil)
        #expect(try await reason(peer.presented, in: peer.finder(clock), after: later) == nil)
    }

    /// What decided a refusal that may be another the next time.
    enum Passing: CaseIterable { case time, hostName, deadline }

    @Test("is found again each time where the time, the host's name or a deadline decided", arguments: Passing.allCases)
    func isFoundAgainEachTimeWhereTheTimeTheHostsNameOrADeadlineDecided(_ passing: Passing) async throws {
        let pki = try TestPKI([CostlyPeer.host])
        // Time goes by so fast that over half of it is gone for any question.
        var limits = PathLimits.standard
        limits.nanoseconds = 1_000
        let clock = ReadClock(step: passing == .deadline ? 1_001 : 501)
        let validator = PathValidator(roots: RootStore(certificates: [pki.root.der]), limits: limits) { clock.read() }
        let finder = CachingPathValidator(validator)
        let question = finder.question(
            // Without others than the leaf no clock is read before its time and its name are looked at.
            passing == .deadline ? pki.chain.map(\.der) : [pki.leaf.der],
            for: try HostName(passing == .hostName ? "other.example.net" : CostlyPeer.host))
        let expected: (PinningDecision.Reason, String) =
            switch passing {
            case .time: (.chainInvalid, "expired")
            case .hostName: (.chainInvalid, "another server")
            case .deadline: (.overBudget, " ms")
            }
        let time = Timestamp(secondsSince1970: TestPKI.now + (passing == .time ? 91 * 86_400 : 0))
        for _ in 1...3 {
            let reads = clock.reads
            guard case .failure(let refusal) = await finder.find(question, at: time) else {
                Issue.record("there is a path")
                return
            }
            #expect(refusal.reason == expected.0)
            #expect(refusal.detail.contains(expected.1), "\(refusal)")
            #expect(clock.reads > reads)
        }
    }

    @Test("is told from one that cost little, which is found again")
    func isToldFromOneThatCostLittleWhichIsFoundAgain() async throws {
        let (pki, other) = (try TestPKI([CostlyPeer.host]), try TestPKI([CostlyPeer.host], name: "other"))
        let clock = ReadClock()
        let finder = CachingPathValidator(
            PathValidator(roots: RootStore(certificates: [other.root.der])) { clock.read() })
        let question = finder.question(pki.chain.map(\.der), for: try HostName(CostlyPeer.host))
        for _ in 1...3 {
            let reads = clock.reads
            guard case .failure = await finder.find(question, at: Timestamp(secondsSince1970: TestPKI.now))
            else {
                Issue.record("there is a path")
                return
            }
            #expect(clock.reads > reads)
        }
    }
}
#endif
