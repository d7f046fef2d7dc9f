// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTPTypes

/// Closes connections that ask slowly, or take their answer slowly: a head, or a body, that is sent byte by byte holds
/// nobody up for longer than a deadline that no byte moves.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let head: TimeAmount
    private let body: TimeAmount
    private let answer: TimeAmount
    private var deadline = NIODeadline.distantFuture
    private var check: Scheduled<Void>?
    private var requestsInProgress = 0

    /// A handler for one connection.
    init(_ deadlines: ServiceConfiguration.Deadlines) {
        self.head = TimeAmount(deadlines.head)
        self.body = TimeAmount(deadlines.body)
        self.answer = TimeAmount(deadlines.answer)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.wait(self.head, context)
        self.scheduleCheck(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.check?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        self.check?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head:
            self.requestsInProgress += 1
            self.wait(self.body, context)
        case .body: break
        case .end: self.wait(self.answer, context)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = self.unwrapOutboundIn(data) {
            self.requestsInProgress -= 1
            if self.requestsInProgress <= 0 { self.wait(self.head, context) }
        }
        context.write(data, promise: promise)
    }

    private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        self.deadline = context.eventLoop.now + time
    }

    /// Looks for the deadline where it could be passed at the earliest: each request moves it three times, and a timer of
    /// its own for each would take more time than the answer to most.
    private func scheduleCheck(_ context: ChannelHandlerContext) {
        let soonest = context.eventLoop.now + min(self.head, self.body, self.answer)
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        self.check = context.eventLoop.scheduleTask(deadline: min(self.deadline, soonest)) {
            let (handler, context) = bound.value
            guard context.eventLoop.now < handler.deadline else {
                context.channel.close(promise: nil)
                return
            }
            handler.scheduleCheck(context)
        }
    }
}
