// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Tells a client that waits for it to send its body (`Expect: 100-continue`, RFC 9110, section 10.1.1). Otherwise each
/// report of such a client takes a second longer.
final class ContinueAnswering: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var requestsInProgress = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let request) = self.unwrapInboundIn(data) {
            self.requestsInProgress += 1
            // Between the answers to others it would be taken for one. A client that pipelines requests does not wait
            // for one.
            if self.requestsInProgress == 1, Self.waits(request.headerFields) {
                context.writeAndFlush(self.wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
            }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = self.unwrapOutboundIn(data) { self.requestsInProgress -= 1 }
        context.write(data, promise: promise)
    }

    /// A client is not asked for a body that is over every limit: it gets the error instead.
    private static func waits(_ fields: HTTPFields) -> Bool {
        guard fields[.expect]?.lowercased() == "100-continue" else { return false }
        guard let length = fields[.contentLength] else { return true }
        return Int(length).map { $0 <= EnvelopeArray.maximumBytes } ?? false
    }
}
