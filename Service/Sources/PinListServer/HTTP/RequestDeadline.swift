// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTPTypes

/// Closes connections that ask slowly, or take their answer slowly: a head, or a body, that is sent byte by byte ends
/// at a deadline that no byte extends.
///
/// An answer is over when its last byte was handed to the system, not when it was written into a buffer: a client that
/// reads a large list slowly has the time of the answer for it, and only then that of the next head begins, or that of a
/// request which came behind: the deadline is that of the oldest one without an answer.
///
/// When the service ends, a connection without a request is closed at once, and one with a request after its answer, or
/// when ``ServiceConfiguration/Deadlines/shutdown`` is over.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let head: TimeAmount
    private let body: TimeAmount
    private let answer: TimeAmount
    private let shutdown: TimeAmount
    private var deadline = NIODeadline.distantFuture
    /// The time at which a service that ends waits no longer; `nil` before that.
    private var end: NIODeadline?
    private var check: Scheduled<Void>?
    /// Requests whose answers were not handed to the system whole.
    private var requestsInProgress = 0
    /// Whether the body of the newest request was read to its end.
    private var isNewestWhole = true
    /// The context of this handler, as long as it is in a pipeline.
    private var context: ChannelHandlerContext?

    /// A handler for one connection.
    init(_ deadlines: ServiceConfiguration.Deadlines) {
        self.head = TimeAmount(deadlines.head)
        self.body = TimeAmount(deadlines.body)
        self.answer = TimeAmount(deadlines.answer)
        self.shutdown = TimeAmount(deadlines.shutdown)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.wait(self.head, context)
        self.scheduleCheck(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.check?.cancel()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.check?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head:
            self.isNewestWhole = false
            self.requestsInProgress += 1
            if self.requestsInProgress == 1 { self.waitForOldest(context) }
        case .body: break
        case .end:
            self.isNewestWhole = true
            if self.requestsInProgress == 1 { self.waitForOldest(context) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = self.unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        let written = promise ?? context.eventLoop.makePromise()
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        written.futureResult.whenSuccess { bound.value.answered(1) }
        context.write(data, promise: written)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ChannelShouldQuiesceEvent else { return context.fireUserInboundEventTriggered(event) }
        guard self.requestsInProgress > 0 else { return context.close(promise: nil) }
        self.end = context.eventLoop.now + self.shutdown
        self.check?.cancel()
        self.scheduleCheck(context)
    }

    /// Counts requests that were read whole before this handler, and are answered there.
    func began(_ count: Int) {
        self.requestsInProgress += count
        self.isNewestWhole = true
        if let context, self.requestsInProgress == count { self.waitForOldest(context) }
    }

    /// Counts answers that were handed to the system whole.
    func answered(_ count: Int) {
        self.requestsInProgress -= count
        guard let context else { return }
        guard self.requestsInProgress <= 0 else { return self.waitForOldest(context) }
        if self.end != nil { return context.close(promise: nil) }
        self.wait(self.head, context)
    }

    /// Begins the time of the oldest request without an answer: what comes behind it begins none.
    private func waitForOldest(_ context: ChannelHandlerContext) {
        self.wait(self.requestsInProgress > 1 || self.isNewestWhole ? self.answer : self.body, context)
    }

    private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        self.deadline = context.eventLoop.now + time
    }

    /// Checks the deadline where it could be passed at the earliest: each request moves it three times, and a timer of
    /// its own for each would take more time than the answer to most.
    private func scheduleCheck(_ context: ChannelHandlerContext) {
        let soonest = context.eventLoop.now + min(self.head, self.body, self.answer)
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        self.check = context.eventLoop.scheduleTask(deadline: min(self.deadline, soonest, self.end ?? soonest)) {
            let (handler, context) = bound.value
            let now = context.eventLoop.now
            guard now < handler.deadline, handler.end.map({ now < $0 }) ?? true else {
                context.channel.close(promise: nil)
                return
            }
            handler.scheduleCheck(context)
        }
    }
}
