// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOConcurrencyHelpers
import PinListClient
import PinningIntegrity
import PinningNIO
import PinningTesting
import Testing

@Suite("Connections that a monitor watches")
struct WatchedConnectionTests {
    private static let host = "api.example.com"

    /// Sees what a test tells it.
    private struct Told: TamperDetector {
        let name = "told"
        let cost: DetectorCost
        let seen: NIOLockedValueBox<Bool>

        func look(at machine: any ObservedMachine) -> DetectorAnswer {
            guard self.seen.withLockedValue({ $0 }) else { return DetectorAnswer() }
            return DetectorAnswer([TamperSignal(.hookedFunction, .high, "told so")])
        }
    }

    /// The outcome of a request, before and after an intruder is seen.
    private static func outcomes(
        _ cost: DetectorCost, _ policy: TamperPolicy, between: (IntegrityMonitor) async -> Void
    ) async throws -> [PinningDecision.Reason?] {
        let pki = try TestPKI([Self.host])
        let entry = try PinnedScene.entry(Self.host, [pki.leaf.pin])
        let seen = NIOLockedValueBox(false)
        let monitor = IntegrityMonitor(
            DetectorSet([Told(cost: cost, seen: seen)]), on: LinuxMachine(), policy: policy)
        let scene = try PinnedScene([entry], roots: [pki.root], configure: { $0.watch(monitor) })
        return try await LoopbackServer.with(.init(pki.chain)) { server in
            let tls = try PinnedTLS(by: scene.pinning, configuration: try scene.tls)
            var outcomes: [PinningDecision.Reason?] = []
            for isSeen in [false, true] {
                seen.withLockedValue { $0 = isSeen }
                if isSeen { await between(monitor) }
                do {
                    outcomes.append(try await PinnedHandshake.decision(tls, Self.host, port: server.port)?.reason)
                } catch let error as PinningError {
                    outcomes.append(error.decision.reason)
                }
            }
            return outcomes
        }
    }

    @Test("a tool that came since the last connection is seen before the next one, which is refused")
    func toolThatCameSinceTheLastConnectionIsSeenBeforeTheNextOneWhichIsRefused() async throws {
        let outcomes = try await Self.outcomes(.connection, TamperPolicy(TamperPolicy.refusing.rules)) { _ in }
        #expect(outcomes == [.pinMatch, .tampering])
    }

    @Test("what only a look at everything sees refuses the next connection, too")
    func whatOnlyALookAtEverythingSeesRefusesTheNextConnectionToo() async throws {
        let policy = TamperPolicy(TamperPolicy.refusing.rules)
        let unseen = try await Self.outcomes(.occasional, policy) { _ in }
        #expect(unseen == [.pinMatch, .pinMatch])
        let seen = try await Self.outcomes(.occasional, policy) { await $0.look() }
        #expect(seen == [.pinMatch, .tampering])
    }

    @Test("without such a policy nothing is refused")
    func withoutSuchAPolicyNothingIsRefused() async throws {
        #expect(try await Self.outcomes(.connection, TamperPolicy()) { _ in } == [.pinMatch, .pinMatch])
    }
}
#endif
