// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOEmbedded
import NIOHTTP2
@testable import PinningNIO
import Testing

@Suite("The farewell to a client of HTTP/2")
struct HTTP2FarewellTests {
    @Test("is a whole read: a client that acts on nothing before the end of one, as gRPC's, hears of it at once")
    func isAWholeReadAClientThatActsOnNothingBeforeTheEndOfOneAsGRPCsHearsOfItAtOnce() throws {
        let channel = EmbeddedChannel()
        let client = Listener()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([NIOHTTP2Handler(mode: .client), client])
        HTTP2Farewell.send(in: pipeline)
        #expect(client.heard == ["goaway", "end"])
        _ = try? channel.finish()
    }

    @Test("ends with a stream that is opened and closed: AsyncHTTPClient closes a connection after its last one")
    func endsWithAStreamThatIsOpenedAndClosed() throws {
        let channel = EmbeddedChannel()
        let client = Listener()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([NIOHTTP2Handler(mode: .client), client])
        HTTP2Farewell.closeIfIdle(in: pipeline)
        #expect(client.heard == ["opened", "closed"])
        _ = try? channel.finish()
    }

    /// Notes what arrives.
    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame
        var heard: [String] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .goAway(_, .noError, _) = self.unwrapInboundIn(data).payload { self.heard.append("goaway") }
        }

        func channelReadComplete(context: ChannelHandlerContext) { self.heard.append("end") }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is NIOHTTP2StreamCreatedEvent { self.heard.append("opened") }
            if event is StreamClosedEvent { self.heard.append("closed") }
        }
    }
}
#endif
