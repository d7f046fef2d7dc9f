// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
public import NIOCore
import NIOHTTP2
import NIOSSL
import NIOTLS
import PinListClient

/// A handler after the TLS handler of a pinned connection: it holds the decision, reports a refusal as `PinningError`,
/// and registers the connection. What is written before the verdict waits in the TLS handler; from the first write on the
/// channel is unwritable until then (``WriteBrake``).
final class PinnedConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias InboundOut = NIOAny
    typealias OutboundIn = NIOAny
    typealias OutboundOut = NIOAny

    private let server: ServerEvaluator
    private let registry: ConnectionRegistry
    private let reached: @Sendable () -> HandshakeVerdict?
    private var context: ChannelHandlerContext?
    private var isRefused = false
    private var brake: WriteBrake?
    private(set) var connection: PinnedConnection?

    /// Creates the handler.
    ///
    /// - Parameters:
    ///   - server: The server of the connection.
    ///   - registry: The registry of open connections.
    ///   - reached: The verdict, once there is one; without one it is derived from the TLS handler.
    init(
        server: ServerEvaluator, registry: ConnectionRegistry, reached: @escaping @Sendable () -> HandshakeVerdict?
    ) {
        self.server = server
        self.registry = registry
        self.reached = reached
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.brake = nil
        // The connection holds this handler.
        self.connection = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted? = event as? TLSUserEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        // A handshake that was completed without an allowing verdict: the callback was not called, or its answer was
        // ignored. Or one during which new rules came into force: a connection that they refuse is never announced.
        let verdict = (self.reached() ?? self.verdict(in: context)).map { self.server.upToDate($0) }
        guard let verdict, verdict.isAllowed else {
            let decision =
                verdict?.decision
                ?? self.server.refusal(.noCertificates, "the connection carries no decision").decision
            return self.refuse(decision, in: context)
        }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let connection = PinnedConnection(self.server, verdict, on: context.channel) { handler.value.drain($0) }
        self.registry.add(connection)
        // Rules may have come into force since the verdict.
        guard !connection.isRetired else { return self.refuse(connection.decision, in: context) }
        self.connection = connection
        context.fireUserInboundEventTriggered(event)
        let brake = self.brake
        self.brake = nil
        brake?.release()
    }

    private func refuse(_ decision: PinningDecision, in context: ChannelHandlerContext) {
        self.isRefused = true
        context.fireErrorCaught(PinningError(decision))
        context.close(promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !self.isRefused else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(data, promise: promise)
        guard self.connection == nil, self.brake == nil, !self.isRefused else { return }
        // A handler that was added after the verdict waits for nothing.
        guard let tls = self.tls(in: context), tls.peerValidatedCertificateChain == nil else { return }
        self.brake = WriteBrake.pull(below: tls, on: context.channel)
    }

    func flush(context: ChannelHandlerContext) {
        // A handler that flushes when it gets the refusal would send what waits in the TLS handler for the verdict.
        guard !self.isRefused else { return }
        context.flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A closing connection still delivers bytes on their way. gRPC treats the first settings of a server as a
        // connection.
        guard !self.isRefused else { return }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard self.connection == nil, let verdict = self.reached(), !verdict.isAllowed else {
            return context.fireErrorCaught(error)
        }
        context.fireErrorCaught(PinningError(verdict.decision))
    }

    /// The verdict on a path that a transport's own TLS handler validated with our callback.
    private func verdict(in context: ChannelHandlerContext) -> HandshakeVerdict? {
        guard let chain = self.tls(in: context)?.peerValidatedCertificateChain else { return nil }
        let path = ValidatedPath(uncheckedValidatedPath: chain.compactMap { try? $0.toDERBytes() })
        return self.server.verdictAgain(on: path)
    }

    private func tls(in context: ChannelHandlerContext) -> NIOSSLClientHandler? {
        try? context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
    }

    /// Notifies the users of the connection. A client of HTTP/2 gets a GOAWAY.
    private func drain(_ decision: PinningDecision) {
        // One that was never announced has none.
        guard let context = self.context, self.connection != nil else { return }
        context.fireUserInboundEventTriggered(PinnedConnectionRetirement(decision: decision))
        HTTP2Farewell.send(in: context.pipeline.syncOperations)
    }
}

/// Sends a client of HTTP/2 a GOAWAY, as its server would: open streams go on, and no new one
/// begins on this connection.
enum HTTP2Farewell {
    /// Shows the handlers behind HTTP/2's own a GOAWAY.
    static func send(in pipeline: ChannelPipeline.SynchronousOperations) {
        guard let context = try? pipeline.context(handlerType: NIOHTTP2Handler.self) else { return }
        let farewell = HTTP2Frame(
            streamID: .rootStream,
            payload: .goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil))
        context.fireChannelRead(NIOAny(farewell))
        // Handlers behind act at the end of a read: gRPC would begin one more RPC.
        context.fireChannelReadComplete()
    }

    /// Shows AsyncHTTPClient a stream that is opened and closed at once: after a GOAWAY it closes a connection whose last
    /// stream was closed.
    static func closeIfIdle(in pipeline: ChannelPipeline.SynchronousOperations) {
        guard let context = try? pipeline.context(handlerType: NIOHTTP2Handler.self) else { return }
        context.fireUserInboundEventTriggered(
            NIOHTTP2StreamCreatedEvent(
                streamID: .maxID, localInitialWindowSize: nil, remoteInitialWindowSize: nil))
        context.fireUserInboundEventTriggered(StreamClosedEvent(streamID: .maxID, reason: nil))
    }
}

extension Channel {
    /// The newest decision on this connection; `nil` before the handshake is over, and on one that is not pinned, or
    /// closed. On the channel's event loop the future is already completed, so the connection cannot close before it.
    public func pinningDecision() -> EventLoopFuture<PinningDecision?> {
        let decision = { @Sendable () -> PinningDecision? in
            (try? self.pipeline.syncOperations.handler(type: PinnedConnectionHandler.self))?.connection?.decision
        }
        guard self.eventLoop.inEventLoop else { return self.eventLoop.submit(decision) }
        return self.eventLoop.makeSucceededFuture(decision())
    }
}
#endif
