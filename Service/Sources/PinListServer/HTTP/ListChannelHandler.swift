// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import PinListStore

/// Answers questions about lists where they arrive, on the event loop of their connection: the way into a task and back
/// takes three times as long as the answer. Most are answered before, by ``ListByteHandler``: these have fields that it
/// does not read, such as those of a proxy, or come behind something else. It adds that handler and ``ReportByteHandler``,
/// and ``PartedWrites``.
///
/// A request behind one that has no answer yet, or from a client that does not read its answers, goes through the
/// framework: answers keep the order of their requests, and the memory held for a connection is bounded.
final class ListChannelHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let lists: ListResponder
    private let reports: ReportResponder
    private var peer: IPAddress?
    /// Requests that were handed on and have no answer yet.
    private var requestsInProgress = 0
    /// The answer to the request that is being read.
    private var answer: PreparedResponse?
    private var isWritten = false
    /// Bytes of bodies that were written and not flushed.
    private var unflushed = 0

    /// A handler for one connection.
    init(_ lists: ListResponder, _ reports: ReportResponder) {
        self.lists = lists
        self.reports = reports
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.peer = context.channel.peerAddress
        let pipeline = context.pipeline.syncOperations
        PartedWrites.add(to: pipeline)
        // The encoder is the first handler that knows of HTTP. Without it, or what watches over deadlines, nothing is
        // answered from bytes.
        guard let encoder = try? pipeline.handler(type: HTTPResponseEncoder.self),
            let deadline = try? pipeline.handler(type: RequestDeadline.self)
        else { return }
        try? pipeline.addHandlers(
            ListByteHandler(self.lists, deadline, self.lists.asker(self.peer)),
            ReportByteHandler(self.reports, deadline, self.peer),
            position: .before(encoder))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let request):
            self.answer = self.answer(to: request, context)
            if self.answer == nil { self.requestsInProgress += 1 }
        // A body says nothing here.
        case .body: break
        case .end:
            guard let answer = self.answer else { break }
            self.answer = nil
            self.write(answer, context)
            return
        }
        if self.answer == nil { context.fireChannelRead(data) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.flushAnswers(context)
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = self.unwrapOutboundIn(data) { self.requestsInProgress -= 1 }
        context.write(data, promise: promise)
    }

    private func answer(to request: HTTPRequest, _ context: ChannelHandlerContext) -> PreparedResponse? {
        guard self.requestsInProgress == 0, context.channel.isWritable, request.targetDoubt == nil else { return nil }
        return self.lists.answer(to: request, from: self.peer)
    }

    private func write(_ answer: PreparedResponse, _ context: ChannelHandlerContext) {
        self.isWritten = true
        context.write(self.wrapOutboundOut(.head(answer.head(at: self.lists.clock.now))), promise: nil)
        if let body = answer.body { context.write(self.wrapOutboundOut(.body(body)), promise: nil) }
        context.write(self.wrapOutboundOut(.end(nil)), promise: nil)
        self.unflushed += answer.body?.readableBytes ?? 0
        // As for those that are answered from their bytes.
        if self.unflushed >= ListByteHandler.flushedBytes { self.flushAnswers(context) }
    }

    private func flushAnswers(_ context: ChannelHandlerContext) {
        guard self.isWritten else { return }
        self.isWritten = false
        self.unflushed = 0
        context.flush()
    }
}
