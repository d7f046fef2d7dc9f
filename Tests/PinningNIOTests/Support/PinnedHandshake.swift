// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOCore
import NIOPosix
import NIOTLS
import PinningNIO

/// A handshake of a pipeline that nothing but `PinnedTLS` was added to.
enum PinnedHandshake {
    /// Connects to a host on loopback.
    ///
    /// - Returns: The decision on the connection, which is closed.
    /// - Throws: What the pipeline's handlers see when the handshake fails.
    static func decision(_ tls: PinnedTLS, _ host: String, port: Int) async throws -> PinningDecision? {
        try await self.with(tls, host, port: port) { try await $0.pinningDecision().get() }
    }

    /// Connects to a host on loopback, does something with the channel, and closes it.
    static func with<Result>(
        _ tls: PinnedTLS, _ host: String, port: Int, _ body: (any Channel) async throws -> Result
    ) async throws -> Result {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let done = loop.makePromise(of: Void.self)
        let connection = ClientBootstrap(group: loop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try tls.addHandlers(to: channel, for: host, port: port)
                try channel.pipeline.syncOperations.addHandler(End(done))
            }
        }.connect(host: "127.0.0.1", port: port)
        connection.whenFailure { done.fail($0) }
        try await done.futureResult.get()
        let channel = try await connection.get()
        let result = try await body(channel)
        try? await channel.close()
        return result
    }

    /// Waits for the end of the handshake.
    private final class End: ChannelInboundHandler {
        typealias InboundIn = NIOAny
        let done: EventLoopPromise<Void>

        init(_ done: EventLoopPromise<Void>) { self.done = done }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSUserEvent { self.done.succeed() }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            self.done.fail(error)
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { self.done.fail(ChannelError.eof) }
    }
}
#endif
