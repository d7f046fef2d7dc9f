// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting
import Testing

/// Collects what comes out of a pinned pipeline.
private final class Collector: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let errors = NIOLockedValueBox<[any Error]>([])
    let text = NIOLockedValueBox("")
    let retirements = NIOLockedValueBox<[PinnedConnectionRetirement]>([])
    let isAnnounced = NIOLockedValueBox(false)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data)
        self.text.withLockedValue { $0 += String(buffer: bytes) }
        if self.text.withLockedValue({ $0.hasSuffix("hello") }) { context.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { self.isAnnounced.withLockedValue { $0 = true } }
        if let event = event as? PinnedConnectionRetirement { self.retirements.withLockedValue { $0.append(event) } }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.errors.withLockedValue { $0.append(error) }
        context.close(promise: nil)
    }
}

@Suite("A pinned channel")
struct PinnedTLSTests {
    static let host = "api.example.com"
    static let request = "GET / HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n\r\n"

    /// Connects, and asks for a page as soon as the connection is there: TLS holds it until the verdict.
    private func ask(
        _ tls: PinnedTLS, _ host: String = Self.host, port: Int
    ) async throws -> (text: String, errors: [any Error], decision: PinningDecision?) {
        let collector = Collector()
        let decision = NIOLockedValueBox<PinningDecision?>(nil)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try tls.addHandlers(to: channel, for: host, port: port)
                    try channel.pipeline.syncOperations.addHandler(collector)
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        // On its loop: a thread that waits for its turn between the two would ask a channel that is closed.
        channel.eventLoop.execute {
            channel.writeAndFlush(ByteBuffer(string: Self.request)).whenSuccess {
                channel.pinningDecision().whenSuccess { found in decision.withLockedValue { $0 = found } }
            }
        }
        try? await channel.closeFuture.get()
        return (
            collector.text.withLockedValue { $0 }, collector.errors.withLockedValue { $0 },
            decision.withLockedValue { $0 }
        )
    }

    @Test("carries its request after the verdict, and its decision for who asks", arguments: TestPKI.Keys.allCases)
    func carriesItsRequestAfterTheVerdictAndItsDecisionForWhoAsks(_ keys: TestPKI.Keys) async throws {
        let pki = try TestPKI([Self.host], keys: keys)
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.intermediate.pin])], roots: [pki.root])
        var configuration = try scene.tls
        configuration.verifySignatureAlgorithms = [
            .ecdsaSecp256R1Sha256, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .ed25519,
        ]
        let tls = try PinnedTLS(by: scene.pinning, configuration: configuration)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            for _ in 1...3 {
                let answer = try await self.ask(tls, port: server.port)
                #expect(answer.text.hasSuffix("hello"))
                #expect(answer.decision?.matched?.index == 1)
                #expect(answer.decision?.path.certificates == pki.path.map(\.der))
            }
        }
        #expect(tls.pathCounts.hits == 2)
        #expect(tls.pathCounts.misses == 1)
        #expect(scene.pinning.decisionCounts == [.pinMatch: 3])
    }

    @Test("tells its refusal by name, and nothing of the request leaves")
    func tellsItsRefusalByNameAndNothingOfTheRequestLeaves() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root])
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            for _ in 1...2 {
                let answer = try await self.ask(tls, port: server.port)
                #expect((answer.errors.first as? PinningError)?.decision.reason == .noMatchingPin)
                #expect(answer.decision == nil)
            }
            #expect(server.counts.requestBytes == 0)
        }
    }

    @Test("evaluates pins at every handshake: a remembered path does not carry a verdict")
    func evaluatesPinsAtEveryHandshakeARememberedPathDoesNotCarryAVerdict() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            #expect(try await self.ask(tls, port: server.port).text.hasSuffix("hello"))
            let root = try pki.root.pin
            try await scene.publish { list in list.denied = [DeniedKey(root)] }
            let answer = try await self.ask(tls, port: server.port)
            #expect((answer.errors.first as? PinningError)?.decision.reason == .deniedKey)
            #expect(tls.pathCounts.hits == 1)
            #expect(server.counts.requests == 1)
        }
    }

    @Test("is refused when the certificate is another server's, a matching address or pin notwithstanding")
    func isRefusedWhenTheCertificateIsAnotherServers() async throws {
        // The trap: NIOSSL accepts an address in the certificate that equals the one that was dialled.
        let pki = try TestPKI(["evil.example.net"], addresses: [[127, 0, 0, 1]])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let answer = try await self.ask(tls, port: server.port)
            #expect((answer.errors.first as? PinningError)?.decision.reason == .chainInvalid)
            let refusal = await #expect(throws: PinningError.self) {
                try await client.text("https://\(Self.host):\(server.port)/")
            }
            #expect(refusal?.decision.reason == .chainInvalid)
            #expect(server.counts.requestBytes == 0)
        }
        try await client.shutdown()
    }

    @Test("to an address is evaluated by the addresses of the certificate")
    func toAnAddressIsEvaluatedByTheAddressesOfTheCertificate() async throws {
        let pki = try TestPKI([Self.host], addresses: [[127, 0, 0, 1]])
        let scene = try PinnedScene([PinnedScene.entry("127.0.0.1", [pki.leaf.pin])], roots: [pki.root])
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        let client = try scene.client([])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            #expect(try await self.ask(tls, "127.0.0.1", port: server.port).text.hasSuffix("hello"))
            let answer = try await self.ask(tls, "127.0.0.2", port: server.port)
            #expect((answer.errors.first as? PinningError)?.decision.reason == .chainInvalid)
            let text = try await client.text("https://127.0.0.1:\(server.port)/")
            #expect(text == "hello")
        }
        try await client.shutdown()
    }

    @Test("that rules refuse which came into force during its handshake is never announced")
    func thatRulesRefuseWhichCameIntoForceDuringItsHandshakeIsNeverAnnounced() async throws {
        let pki = try TestPKI([Self.host])
        let (strange, root) = (PinnedScene.strangePin, try pki.root.pin)
        let edits: [@Sendable (inout PinList) -> Void] = [
            { list in list.domains[0].entry.pins.append(KnownPin(strange)) },
            { list in list.domains[0].entry.pins = [KnownPin(strange)] },
            { list in list.denied = [DeniedKey(root)] },
        ]
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            for (edit, reason) in zip(edits, [nil, PinningDecision.Reason.noMatchingPin, .deniedKey]) {
                let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
                try await Self.connect(scene, to: server, refusedFor: reason) { try await scene.publish(edit) }
            }
        }
    }

    @Test("that a suspension let through which ended during its handshake is never announced")
    func thatASuspensionLetThroughWhichEndedDuringItsHandshakeIsNeverAnnounced() async throws {
        let pki = try TestPKI([Self.host])
        let until = Timestamp(secondsSince1970: TestPKI.now + 3_600)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let ends: [(Int64, PinningDecision.Reason?)] = [(-1, nil), (0, .noMatchingPin)]
            for (seconds, reason) in ends {
                let entry = try PinnedScene.entry(Self.host, [PinnedScene.strangePin])
                let scene = try PinnedScene([entry], roots: [pki.root]) { list in
                    list.suspended = [Suspension(.everything, until: until, reason: "incident")]
                }
                try await Self.connect(scene, to: server, refusedFor: reason) {
                    scene.clock.now = until.advanced(by: seconds)
                }
            }
        }
    }

    /// Makes a connection whose handshake ends when something was done. It is announced where there is no reason to refuse it.
    private static func connect(
        _ scene: PinnedScene, to server: LoopbackServer, refusedFor reason: PinningDecision.Reason?,
        meanwhile: @escaping @Sendable () async throws -> Void
    ) async throws {
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        let collector = Collector()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try tls.addHandlers(to: channel, for: Self.host, port: server.port)
                    let pipeline = channel.pipeline.syncOperations
                    let handshake = try pipeline.handler(type: NIOSSLClientHandler.self)
                    try pipeline.addHandler(SlowHandshake(isClosing: true, meanwhile), position: .after(handshake))
                    try pipeline.addHandler(collector)
                }
            }
            .connect(host: "127.0.0.1", port: server.port).get()
        try await channel.closeFuture.get()
        #expect(collector.isAnnounced.withLockedValue { $0 } == (reason == nil))
        let error = collector.errors.withLockedValue { $0.first } as? PinningError
        #expect(error?.decision.reason == reason)
        #expect(collector.retirements.withLockedValue { $0.isEmpty })
    }

    @Test("is told when new rules refuse it, and closed within half a minute")
    func isToldWhenNewRulesRefuseItAndClosedWithinHalfAMinute() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let collector = Collector()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try tls.addHandlers(to: channel, for: Self.host, port: server.port)
                        try channel.pipeline.syncOperations.addHandler(collector)
                    }
                }
                .connect(host: "127.0.0.1", port: server.port).get()
            try await channel.writeAndFlush(ByteBuffer(string: "GET /wait HTTP/1.1\r\n\r\n")).get()
            let strange = PinnedScene.strangePin
            try await scene.publish { list in list.domains[0].entry.pins = [KnownPin(strange)] }
            // What sleeps is the end of the half minute.
            await scene.clock.untilSleeping()
            #expect(channel.isActive)
            scene.clock.advance(by: 30)
            try await channel.closeFuture.get()
            #expect(collector.retirements.withLockedValue { $0.map(\.decision.reason) } == [.noMatchingPin])
        }
    }
}
#endif
