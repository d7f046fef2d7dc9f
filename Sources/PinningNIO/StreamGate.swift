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
    private let mark: String?
    private var state = State.pending
    private var context: ChannelHandlerContext?
    private var held: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []
    private var isFlushed = false

    init(gate: ConnectionGate, mark: String?) {
        self.gate = gate
        self.mark = mark
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
        case .open: context.write(data, promise: promise)
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
        guard let mark = self.mark, case .head(var head) = self.unwrapInboundIn(data), self.gate.connection != nil
        else { return context.fireChannelRead(data) }
        head.headers.mark(mark)
        context.fireChannelRead(self.wrapInboundOut(.head(head)))
    }
}
#endif
