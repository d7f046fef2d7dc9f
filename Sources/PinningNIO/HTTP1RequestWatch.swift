// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOHTTP1
import PinListClient

/// The handler for requests on a connection of HTTP/1.1: it refuses those for other hosts, admits the others, and ends the
/// connection between two requests once new rules refuse it.
final class HTTP1RequestWatch: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let check: RequestCheck
    private var context: ChannelHandlerContext?
    private var isBusy = false
    private var isRetired = false

    /// The connection, once it was allowed.
    var connection: PinnedConnection? {
        // A request was written while the verdict was awaited.
        didSet { if self.isBusy, self.connection != nil { self.check.admit() } }
    }

    init(_ check: RequestCheck) { self.check = check }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        // The connection holds this handler.
        self.connection = nil
    }

    /// Retires the connection. On the event loop.
    func retire() {
        self.isRetired = true
        if !self.isBusy { self.context?.close(promise: nil) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Parts of a request that is already being sent are not checked.
        if !self.isBusy, case .head(let head) = self.unwrapOutboundIn(data) {
            // Not a byte of it was sent.
            guard !self.isRetired, self.connection?.mayTakeRequest() ?? true else {
                return self.fail(ConnectionRetiredError(), promise, context)
            }
            if let refusal = self.check.refusal(of: head) { return self.fail(refusal, promise, context) }
            self.isBusy = true
            if self.connection != nil { self.check.admit() }
        }
        context.write(data, promise: promise)
    }

    private func fail(_ error: any Error, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        promise?.fail(error)
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(var head) where self.isRetired:
            // The pool must not keep it.
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            context.fireChannelRead(self.wrapInboundOut(.head(head)))
        case .end:
            self.isBusy = false
            context.fireChannelRead(data)
            if self.isRetired { context.close(promise: nil) }
        case .head, .body:
            context.fireChannelRead(data)
        }
    }
}
#endif
