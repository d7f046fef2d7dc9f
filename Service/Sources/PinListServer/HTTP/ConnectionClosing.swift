// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection after the answer that says so, and after the answer to the request that says so (RFC 9112,
/// section 9.6). What is over a limit is not read to its end.
///
/// The other side may still be sending: it is given time to see the answer, for a connection that is closed with bytes
/// unread is reset, and the answer with it.
final class ConnectionClosing: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let linger: TimeAmount
    private var requestsInProgress = 0
    private var isLastRequest = false
    private var isLastAnswer = false
    private var isClosing = false

    /// A handler for one connection.
    ///
    /// - Parameter linger: From the last answer to the close of a connection whose other side does not close it.
    init(linger: TimeAmount) { self.linger = linger }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isClosing else { return }
        if case .head(let request) = self.unwrapInboundIn(data) {
            self.requestsInProgress += 1
            if Self.saysClose(request.headerFields) { self.isLastRequest = true }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !self.isClosing else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch self.unwrapOutboundIn(data) {
        case .head(let response): if Self.saysClose(response.headerFields) { self.isLastAnswer = true }
        case .body: break
        case .end:
            self.requestsInProgress -= 1
            if self.isLastAnswer || (self.isLastRequest && self.requestsInProgress <= 0) {
                self.close(context, after: data, promise)
                return
            }
        }
        context.write(data, promise: promise)
    }

    private func close(_ context: ChannelHandlerContext, after data: NIOAny, _ promise: EventLoopPromise<Void>?) {
        self.isClosing = true
        let channel = context.channel
        let linger = self.linger
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.whenComplete { _ in
            channel.close(mode: .output, promise: nil)
            channel.eventLoop.scheduleTask(in: linger) { channel.close(promise: nil) }
        }
        context.writeAndFlush(data, promise: written)
    }

    private static func saysClose(_ fields: HTTPFields) -> Bool {
        guard let connection = fields[.connection] else { return false }
        return connection.lowercased().split(separator: ",").contains { $0.filter { $0 != " " } == "close" }
    }
}
