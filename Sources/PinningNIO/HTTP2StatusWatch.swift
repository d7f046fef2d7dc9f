// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
package import NIOCore
import NIOHTTP1
package import NIOHTTP2

/// Refuses an answer of HTTP/2 whose status is not three digits (RFC 9110, section 15), and closes its connection.
///
/// What reads it next, NIOHTTP2's codec or gRPC, ends the process for a negative status, and the codec for an empty one.
/// One handler stands in a connection of AsyncHTTPClient's: in each stream it would be the largest cost of a request.
package final class HTTP2StatusWatch: ChannelInboundHandler {
    package typealias InboundIn = HTTP2Frame
    package typealias InboundOut = HTTP2Frame

    /// Watches a connection of AsyncHTTPClient's, after its settings. A connection that cannot be watched is closed.
    static func watch(_ channel: any Channel) {
        let pipeline = channel.pipeline.syncOperations
        do {
            let connection = try pipeline.handler(type: NIOHTTP2Handler.self)
            try pipeline.addHandler(HTTP2StatusWatch(), position: .after(connection))
        } catch {
            channel.close(promise: nil)
        }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = self.unwrapInboundIn(data)
        guard frame.payload.hasMalformedStatus else { return context.fireChannelRead(data) }
        let error = HTTPParserError.invalidStatus
        context.fireErrorCaught(NIOHTTP2Errors.streamError(streamID: frame.streamID, baseError: error))
        context.close(promise: nil)
    }

    /// The same in one stream, which it closes: gRPC's connections have no frames in their pipelines.
    package final class OfStream: ChannelInboundHandler {
        package typealias InboundIn = HTTP2Frame.FramePayload
        package typealias InboundOut = HTTP2Frame.FramePayload

        package init() {}

        package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard self.unwrapInboundIn(data).hasMalformedStatus else { return context.fireChannelRead(data) }
            context.fireErrorCaught(HTTPParserError.invalidStatus)
            context.close(promise: nil)
        }
    }
}

extension HTTP2Frame.FramePayload {
    /// Whether these are the fields of an answer with a status that is not three digits.
    fileprivate var hasMalformedStatus: Bool {
        guard case .headers(let headers) = self,
            let status = headers.headers.first(where: { $0.name == ":status" })?.value.utf8
        else { return false }
        return status.count != 3 || !status.allSatisfy { (0x30...0x39).contains($0) }
    }
}
#endif
