// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOHTTP1
import PinListClient

/// The handler for requests on a connection of HTTP/1.1: it refuses those for other hosts, marks responses, and ends
/// the connection between two requests once new rules refuse it.
final class HTTP1RequestWatch: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let marksResponses: Bool
    /// The check whether a request is for the host that the connection is evaluated for.
    private let hosts: RequestHostCheck?
    private var context: ChannelHandlerContext?
    private var isBusy = false
    private var isRetired = false

    /// The connection, once it was allowed.
    var connection: PinnedConnection?

    init(hosts: RequestHostCheck?, marksResponses: Bool) {
        self.hosts = hosts
        self.marksResponses = marksResponses
    }

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
            if let refusal = self.hosts?.refusal(of: head) { return self.fail(refusal, promise, context) }
            self.isBusy = true
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
        case .head(var head) where self.marksResponses || self.isRetired:
            // The pool must not keep it.
            if self.isRetired { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            if self.marksResponses, self.connection != nil { head.version.mark() }
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

/// A request met a connection that new rules refuse. Not a byte of it was sent.
struct ConnectionRetiredError: Error {}

/// The mark of a response that came over a connection with an allowing decision: its minor version has two digits,
/// which no server can send. It never leaves the process.
extension HTTPVersion {
    private static let mark = 0x4000

    /// Whether the response is marked.
    var isMarked: Bool { self.minor & Self.mark != 0 }

    /// Marks a response.
    mutating func mark() { self.minor |= Self.mark }

    /// Removes the mark.
    mutating func unmark() { self.minor &= ~Self.mark }
}
#endif
