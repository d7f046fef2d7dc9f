// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOHTTP1
import PinListClient

/// Stands in a stream of HTTP/2 and lets nothing of its request through until the verdict on the connection; marks the
/// response.
///
/// The stream is never failed before AsyncHTTPClient has begun its request on it, which would stop the process; from
/// then on it takes our error for the request's.
final class StreamGate: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private enum State {
        case pending
        case open
        case refused(any Error)
    }

    private let gate: ConnectionGate
    /// Whether the head of the response is still to be marked.
    private var marksResponse: Bool
    private var state = State.pending
    private var context: ChannelHandlerContext?
    private var held: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []
    private var isFlushed = false
    private var isFirstWrite = true

    init(gate: ConnectionGate, marksResponse: Bool) {
        self.gate = gate
        self.marksResponse = marksResponse
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.gate.streamOpened()
        self.gate.whenDecided { result in
            switch result {
            case .success: self.open()
            case .failure(let error): self.refuse(error)
            }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.gate.streamClosed()
        self.fail(ChannelError.ioOnClosedChannel)
    }

    private func open() {
        self.state = .open
        for write in self.held { self.context?.write(write.data, promise: write.promise) }
        self.held = []
        if self.isFlushed { self.context?.flush() }
    }

    private func refuse(_ error: any Error) {
        self.state = .refused(error)
        guard !self.held.isEmpty else { return }
        self.fail(error)
        self.context?.fireErrorCaught(error)
    }

    private func fail(_ error: any Error) {
        let held = self.held
        self.held = []
        for write in held { write.promise?.fail(error) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.state {
        case .open:
            guard !self.isFirstWrite || self.gate.connection?.mayTakeRequest() ?? true else {
                // Not a byte of it was sent.
                promise?.fail(ConnectionRetired())
                return context.fireErrorCaught(ConnectionRetired())
            }
            self.isFirstWrite = false
            context.write(data, promise: promise)
        case .pending: self.held.append((data, promise))
        case .refused(let error):
            promise?.fail(error)
            context.fireErrorCaught(error)
        }
    }

    func flush(context: ChannelHandlerContext) {
        if case .open = self.state { context.flush() } else { self.isFlushed = true }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.marksResponse, case .head(var head) = self.unwrapInboundIn(data), self.gate.connection != nil
        else { return context.fireChannelRead(data) }
        head.version.mark()
        if head.status.code >= 200 { self.marksResponse = false }
        context.fireChannelRead(self.wrapInboundOut(.head(head)))
    }
}
#endif
