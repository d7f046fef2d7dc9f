// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOCore
import NIOSSL
import PinListClient

/// A handler after the TLS handler of AsyncHTTPClient's connections, which holds all bytes until the verdict.
///
/// AsyncHTTPClient has no hook for verification. Its debugging hook shows each connection after the handshake and
/// before any request; the hook must never fail (AsyncHTTPClient would connect again until its deadline, and can stop
/// the process), so the hook always succeeds, and this handler holds the bytes of both directions. With the first
/// written bytes the channel becomes unwritable (``WriteBrake``): the head of a request is held here, and its body
/// waits at its source.
final class ConnectionGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The bytes and events that wait for the verdict.
    private struct Held {
        var writes: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
        var isFlushed = false
        var reads: [ByteBuffer] = []
        var readBytes = 0
        var isReadWanted = false
    }

    private enum State {
        case pending(Held)
        case open(PinnedConnection)
        // Indirect, so that a copy of the state is small; one is made for each read and write.
        indirect case refused(PinningError)
        case closed
    }

    /// The maximum number of bytes that are held from a server: before a request it sends only HTTP/2's settings.
    private static let heldBytes = 262_144
    /// The time for which a refused connection waits for a request that AsyncHTTPClient may be about to send on it.
    private static let refusalDelay = TimeAmount.milliseconds(50)

    private let tls: NIOSSLClientHandler
    /// Whether requests are on streams, so that bytes that are written here need not belong to a request.
    private let speaksHTTP2: Bool
    private var state = State.pending(Held())
    private var context: ChannelHandlerContext?
    private var brake: WriteBrake?
    private var waiting: [(Result<Void, any Error>) -> Void] = []
    /// The number of streams that wait for the verdict.
    private var waitingStreams = 0

    /// Creates a gate for the place behind a TLS handler.
    init(behind tls: NIOSSLClientHandler, speaksHTTP2: Bool) {
        self.tls = tls
        self.speaksHTTP2 = speaksHTTP2
    }

    /// The connection, once it was allowed.
    var connection: PinnedConnection? {
        guard case .open(let connection) = self.state else { return nil }
        return connection
    }

    /// Whether the connection still waits for its verdict.
    var isPending: Bool {
        guard case .pending = self.state else { return false }
        return true
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.brake = nil
        self.end(ChannelError.ioOnClosedChannel)
    }

    /// A stream of HTTP/2 that waits was opened, or closed.
    func streamOpened() { self.waitingStreams += 1 }
    func streamClosed() { self.waitingStreams -= 1 }

    // MARK: The verdict

    /// Calls back when the connection is allowed or refused; at once when that is known. On the event loop.
    func whenDecided(_ body: @escaping (Result<Void, any Error>) -> Void) {
        switch self.state {
        case .open: body(.success(()))
        case .refused(let error): body(.failure(error))
        case .closed: body(.failure(ChannelError.ioOnClosedChannel))
        case .pending: self.waiting.append(body)
        }
    }

    private func decided(_ result: Result<Void, any Error>) {
        let waiting = self.waiting
        self.waiting = []
        for body in waiting { body(result) }
    }

    /// Opens the gate: sends the held bytes first, lets all through, and leaves the pipeline.
    func open(_ connection: PinnedConnection) {
        guard case .pending(let held) = self.state, let context = self.context else { return }
        self.state = .open(connection)
        // Requests are admitted before a byte of them is sent.
        self.decided(.success(()))
        for write in held.writes { context.write(self.wrapOutboundOut(write.bytes), promise: write.promise) }
        if held.isFlushed { context.flush() }
        let brake = self.brake
        self.brake = nil
        brake?.release()
        for bytes in held.reads { context.fireChannelRead(self.wrapInboundOut(bytes)) }
        if !held.reads.isEmpty { context.fireChannelReadComplete() }
        if held.isReadWanted { context.read() }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    /// Refuses: drops the held bytes, reports the reason, and closes.
    func refuse(_ error: PinningError) {
        guard case .pending(let held) = self.state else { return }
        self.state = .refused(error)
        let hasRequest = self.speaksHTTP2 ? self.waitingStreams > 0 : !held.writes.isEmpty
        for write in held.writes { write.promise?.fail(error) }
        self.decided(.failure(error))
        guard let context = self.context else { return }
        if !held.writes.isEmpty { context.fireErrorCaught(error) }
        // Not at once: AsyncHTTPClient may be about to send its request on this connection, and then gets the reason.
        // Its pool must also know a connection before it closes.
        let gate = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: hasRequest ? .zero : Self.refusalDelay) {
            gate.value.context?.close(promise: nil)
        }
    }

    private func end(_ error: any Error) {
        guard case .pending(let held) = self.state else { return }
        self.state = .closed
        for write in held.writes { write.promise?.fail(error) }
        self.decided(.failure(error))
    }

    // MARK: Reads and writes

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.state {
        case .open: context.write(data, promise: promise)
        case .pending(var held):
            self.state = .closed
            held.writes.append((self.unwrapOutboundIn(data), promise))
            self.state = .pending(held)
            guard self.brake == nil else { return }
            self.brake = WriteBrake.pull(below: self.tls, on: context.channel)
            // Without it the held bytes would be unbounded.
            if context.channel.isWritable { context.close(promise: nil) }
        case .refused(let error):
            promise?.fail(error)
            // The gates of the streams report it themselves, and the connection is about to be closed.
            guard !self.speaksHTTP2 else { return }
            context.fireErrorCaught(error)
            context.close(promise: nil)
        case .closed: promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    func flush(context: ChannelHandlerContext) {
        switch self.state {
        case .open: context.flush()
        case .pending(var held):
            self.state = .closed
            held.isFlushed = true
            self.state = .pending(held)
        case .refused, .closed: break
        }
    }

    func read(context: ChannelHandlerContext) {
        guard case .pending(var held) = self.state else { return context.read() }
        self.state = .closed
        held.isReadWanted = true
        self.state = .pending(held)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.state {
        case .open: context.fireChannelRead(data)
        case .pending(var held):
            let bytes = self.unwrapInboundIn(data)
            self.state = .closed
            held.reads.append(bytes)
            held.readBytes += bytes.readableBytes
            self.state = .pending(held)
            if held.readBytes > Self.heldBytes { context.close(promise: nil) }
        case .refused, .closed: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        switch self.state {
        case .open: context.fireChannelReadComplete()
        // The gate is put in between a read and its end: handlers behind it wait for the end of that read.
        case .pending(let held) where held.reads.isEmpty: context.fireChannelReadComplete()
        case .pending, .refused, .closed: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end(ChannelError.ioOnClosedChannel)
        context.fireChannelInactive()
    }
}
#endif
