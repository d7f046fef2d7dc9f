// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOHTTP1
import PinListClient

/// Watches the requests on a connection of HTTP/1.1: marks responses, and ends the connection between two requests once
/// rules came into force that refuse it.
final class HTTP1RequestWatch: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let gate: ConnectionGate
    private let mark: String?
    private var context: ChannelHandlerContext?
    private var isBusy = false
    private var isRetired = false

    init(gate: ConnectionGate, mark: String?) {
        self.gate = gate
        self.mark = mark
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Takes the connection out of use. On the event loop.
    func retire() {
        self.isRetired = true
        if !self.isBusy { self.context?.close(promise: nil) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head = self.unwrapOutboundIn(data) {
            guard !self.isRetired else {
                // Not a byte of it was sent.
                promise?.fail(ConnectionRetired())
                context.fireErrorCaught(ConnectionRetired())
                return context.close(promise: nil)
            }
            self.isBusy = true
        }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(var head):
            if let mark = self.mark, self.gate.connection != nil { head.headers.mark(mark) }
            // So that the pool does not keep it.
            if self.isRetired { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            context.fireChannelRead(self.wrapInboundOut(.head(head)))
        case .end(let trailers):
            self.isBusy = false
            context.fireChannelRead(self.wrapInboundOut(.end(trailers)))
            if self.isRetired { context.close(promise: nil) }
        case .body:
            context.fireChannelRead(data)
        }
    }
}

/// A request met a connection that rules which came into force refuse. Not a byte of it was sent.
struct ConnectionRetired: Error {}

/// The mark of a response that came over a connection with a decision for its host.
enum ResponseMark {
    /// The member of a response's head that carries the mark. It never leaves the process.
    static let name = "tumbler-decided"
}

extension HTTPHeaders {
    /// Replaces whatever the server may have sent under the name.
    mutating func mark(_ mark: String) { self.replaceOrAdd(name: ResponseMark.name, value: mark) }
}
#endif
