// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A server that does on each connection what a script says, at any moment of it.
final class HostileServer: Sendable {
    /// What happens on a connection.
    enum Event {
        /// It was accepted; nothing was said yet.
        case accepted
        /// The handshake is over.
        case handshake
        /// Decrypted bytes came; raw ones on a server without TLS.
        case bytes(ByteBuffer)
    }

    /// A connection as a script sees it, on its event loop.
    struct Connection {
        /// From 1.
        let number: Int
        let channel: any Channel
        let server: HostileServer

        /// Says something.
        func write(_ bytes: [UInt8]) { self.channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

        /// Ends it, the polite way where there is TLS.
        func close() { self.channel.close(promise: nil) }

        /// Reads nothing more.
        func stall() { try? self.channel.syncOptions?.setOption(.autoRead, value: false) }

        /// Ends it by a reset.
        func reset() {
            self.channel.resetOnClose()
            // Not through the TLS handler, which would say farewell first.
            (try? self.channel.pipeline.syncOperations.context(handlerType: Listener.First.self))?
                .close(mode: .all, promise: nil)
        }
    }

    /// What the server does.
    typealias Script = @Sendable (Connection, Event) -> Void

    private struct State {
        var listener: (any Channel)?
        var connections: [Int: any Channel] = [:]
        var count = 0
        var bytes = 0
    }

    private let state = NIOLockedValueBox(State())
    private let identity: LoopbackServer.Identity?
    private let protocols: [String]
    private let script: Script

    private init(_ identity: LoopbackServer.Identity?, _ protocols: [String], _ script: @escaping Script) {
        self.identity = identity
        self.protocols = protocols
        self.script = script
    }

    /// Runs a server while something is done with it. Its connections are closed at the end.
    ///
    /// - Parameters:
    ///   - identity: What it presents; `nil` for a server without TLS.
    ///   - http2: Whether it negotiates HTTP/2.
    ///   - script: What it does.
    static func with<Result>(
        _ identity: LoopbackServer.Identity?, http2: Bool = false, _ script: @escaping Script,
        _ body: (HostileServer) async throws -> Result
    ) async throws -> Result {
        let server = HostileServer(identity, http2 ? ["h2"] : ["http/1.1"], script)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { server.initialize($0) }
            .bind(host: "127.0.0.1", port: 0).get()
        server.state.withLockedValue { $0.listener = channel }
        defer { server.closeAll() }
        do {
            let result = try await body(server)
            try await channel.close()
            return result
        } catch {
            try? await channel.close()
            throw error
        }
    }

    /// The port, chosen by the system.
    var port: Int { self.state.withLockedValue { $0.listener?.localAddress?.port } ?? 0 }

    /// How many connections were accepted.
    var count: Int { self.state.withLockedValue { $0.count } }

    /// How many bytes came after handshakes.
    var bytes: Int { self.state.withLockedValue { $0.bytes } }

    /// A connection that is open, by its number.
    func channel(_ number: Int) -> (any Channel)? { self.state.withLockedValue { $0.connections[number] } }

    /// Closes all connections.
    func closeAll() {
        for channel in self.state.withLockedValue({ Array($0.connections.values) }) { channel.close(promise: nil) }
    }

    fileprivate func note(_ bytes: Int) { self.state.withLockedValue { $0.bytes += bytes } }

    private func initialize(_ channel: any Channel) -> EventLoopFuture<Void> {
        let number = self.state.withLockedValue { state in
            state.count += 1
            state.connections[state.count] = channel
            return state.count
        }
        channel.closeFuture.whenComplete { _ in self.state.withLockedValue { $0.connections[number] = nil } }
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(Listener.First())
            if let identity = self.identity {
                var configuration = TLSConfiguration.makeServerConfiguration(
                    certificateChain: identity.chain.map { .certificate($0) }, privateKey: .privateKey(identity.key))
                configuration.applicationProtocols = self.protocols
                try pipeline.addHandler(NIOSSLServerHandler(context: NIOSSLContext(configuration: configuration)))
            }
            let connection = Connection(number: number, channel: channel, server: self)
            try pipeline.addHandler(Listener(connection, self.script))
        }
    }

    /// Tells the script.
    private final class Listener: ChannelInboundHandler {
        /// Stands in front of everything, to close behind TLS's back.
        final class First: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
        }

        typealias InboundIn = ByteBuffer
        let connection: Connection
        let script: Script

        init(_ connection: Connection, _ script: @escaping Script) {
            self.connection = connection
            self.script = script
        }

        func channelActive(context: ChannelHandlerContext) { self.script(self.connection, .accepted) }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSUserEvent { self.script(self.connection, .handshake) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = self.unwrapInboundIn(data)
            self.connection.server.note(bytes.readableBytes)
            self.script(self.connection, .bytes(bytes))
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
#endif
