// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Refuses an answer of HTTP/2 whose status is not three digits, and closes its connection.
///
/// NIOHTTP2's codec ends the process for an empty status and for a negative one. One handler stands in a connection, and none
/// in a stream, where it would cost each request.
final class HTTP2StatusWatch: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

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

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = self.unwrapInboundIn(data)
        guard case .headers(let headers) = frame.payload, let status = headers.headers.first(where: { $0.name == ":status" })?.value,
            !Self.isStatus(status)
        else { return context.fireChannelRead(data) }
        let error = HTTPParserError.invalidStatus
        context.fireErrorCaught(NIOHTTP2Errors.streamError(streamID: frame.streamID, baseError: error))
        context.close(promise: nil)
    }

    /// RFC 9110, section 15.
    private static func isStatus(_ status: String) -> Bool {
        status.utf8.count == 3 && status.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
#endif
