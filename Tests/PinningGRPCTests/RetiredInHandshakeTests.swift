// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if GRPC
import CertificatePinning
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import NIOTLS
import PinListClient
import PinListMetadata
import PinningGRPC
import Testing

@testable import PinningNIO

/// Keeps the end of a handshake, and what the server says after it, from the handlers behind it until something was done
/// and the server has said something.
private final class SlowHandshake: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let meanwhile: @Sendable () async throws -> Void
    private var end: Any?
    private var isDone = false
    private var said: [ByteBuffer] = []

    init(_ meanwhile: @escaping @Sendable () async throws -> Void) { self.meanwhile = meanwhile }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted? = event as? TLSUserEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        self.end = event
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.makeFutureWithTask { [meanwhile] in try await meanwhile() }.whenComplete { _ in
            bound.value.0.isDone = true
            bound.value.0.goOnIfDue(bound.value.1)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.end != nil else { return context.fireChannelRead(data) }
        self.said.append(self.unwrapInboundIn(data))
        self.goOnIfDue(context)
    }

    private func goOnIfDue(_ context: ChannelHandlerContext) {
        guard self.isDone, !self.said.isEmpty, let end = self.end else { return }
        self.end = nil
        context.fireUserInboundEventTriggered(end)
        for bytes in self.said { context.fireChannelRead(self.wrapInboundOut(bytes)) }
        self.said = []
        context.fireChannelReadComplete()
    }
}

/// Notes what of a connection gets to the handlers of gRPC.
private final class Announcement: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Whether the connection was announced, and how much of what the server said.
    let seen = NIOLockedValueBox((isAnnounced: false, bytes: 0))

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { self.seen.withLockedValue { $0.isAnnounced = true } }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data)
        self.seen.withLockedValue { $0.bytes += bytes.readableBytes }
        context.fireChannelRead(self.wrapInboundOut(bytes))
    }
}

@Suite("A connection of gRPC that rules refuse which came into force during its handshake")
struct RetiredInHandshakeTests {
    static let host = "api.example.com"

    /// What a list changes during a handshake, and why the connection is refused then; `nil` where it is not.
    enum Change: CaseIterable {
        case anotherPin, otherPins, deniedRoot

        var reason: PinningDecision.Reason? {
            switch self {
            case .anotherPin: nil
            case .otherPins: .noMatchingPin
            case .deniedRoot: .deniedKey
            }
        }

        func apply(to list: inout PinList, root: Pin) {
            let strange = KnownPin(PinnedScene.strangePin)
            switch self {
            case .anotherPin: list.domains[0].entry.pins.append(strange)
            case .otherPins: list.domains[0].entry.pins = [strange]
            case .deniedRoot: list.denied = [DeniedKey(root)]
            }
        }
    }

    @Test("is never announced, and carries no call", arguments: Change.allCases)
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func isNeverAnnouncedAndCarriesNoCall(_ change: Change) async throws {
        let pki = try TestPKI([Self.host])
        let root = try pki.root.pin
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let announcement = Announcement()
        var config = HTTP2ClientTransport.Posix.Config.defaults
        config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let pinned = try pipeline.handler(type: PinnedConnectionHandler.self)
                try pipeline.addHandler(announcement, position: .after(pinned))
                let publishing = SlowHandshake { try await scene.publish { change.apply(to: &$0, root: root) } }
                try pipeline.addHandler(publishing, position: .before(pinned))
            }
        }
        try await LoopbackGRPCServer.with(pki.chain) { server in
            let transport = try HTTP2ClientTransport.Posix.pinned(
                to: .ipv4(address: "127.0.0.1", port: server.port), by: scene.pinning, for: Self.host,
                port: server.port, tls: try scene.tls, config: config)
            try await withGRPCClient(transport: transport) { client in
                guard let reason = change.reason else {
                    let answer = try await client.call()
                    return #expect(answer == [1, 2, 3])
                }
                let error = try #require(await #expect(throws: RPCError.self) { try await client.call() })
                #expect(error.code == .unavailable)
                #expect(scene.pinning.refusal(for: error, host: Self.host)?.decision.reason == reason)
            }
            #expect(server.counts.streams == (change.reason == nil ? 1 : 0))
        }
        let seen = announcement.seen.withLockedValue { $0 }
        #expect(seen.isAnnounced == (change.reason == nil))
        #expect((seen.bytes > 0) == (change.reason == nil))
    }
}
#endif
