// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import NIOPosix
import NIOSSL
import PinListClient
import PinningNIO

/// A channel that begins to speak as soon as it is connected: it leaves all waiting to the pinned TLS below it.
final class SpokenChannel: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let request: ByteBuffer
    private let answer: EventLoopPromise<String>
    private var received = ""

    private init(_ request: ByteBuffer, _ answer: EventLoopPromise<String>) {
        self.request = request
        self.answer = answer
    }

    /// Sends the request of ``Transport``, by hand, and waits for its answer: the number of the body's bytes.
    static func post(by pinning: Pinning, on way: Way) async throws -> String {
        var settings = way.tls
        settings.applicationProtocols = [way.http2 ? "h2" : "http/1.1"]
        let tls = try PinnedTLS(by: pinning, configuration: settings)
        let answer = way.group.next().makePromise(of: String.self)
        let connection = ClientBootstrap(group: answer.futureResult.eventLoop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try tls.addHandlers(to: channel, for: Way.host, port: way.port)
                let request = way.http2 ? Self.frames : Self.text
                try channel.pipeline.syncOperations.addHandler(SpokenChannel(request, answer))
            }
        }.connect(host: way.address, port: way.port)
        connection.whenFailure { answer.fail($0) }
        let result: Result<String, any Error>
        do { result = .success(try await answer.futureResult.get()) } catch { result = .failure(error) }
        try? await connection.get().close()
        return try result.get()
    }

    private static let body = [UInt8](repeating: UInt8(ascii: "x"), count: Transport.bodyBytes)

    /// In HTTP/1.1.
    private static var text: ByteBuffer {
        ByteBuffer(
            string: "POST / HTTP/1.1\r\nHost: \(Way.host)\r\nContent-Length: \(Transport.bodyBytes)\r\n\r\n"
                + String(decoding: self.body, as: UTF8.self))
    }

    /// In HTTP/2 (RFC 9113): the preface, settings, and one stream.
    private static var frames: ByteBuffer {
        func frame(type: UInt8, flags: UInt8, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
            let length = payload.count
            return [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags, 0, 0, 0, stream]
                + payload
        }
        // RFC 7541, appendix A: POST, https, / by their indices, then the authority as text.
        let head: [UInt8] = [0x83, 0x87, 0x84, 0x41, UInt8(Way.host.utf8.count)] + Array(Way.host.utf8)
        return ByteBuffer(
            bytes: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(type: 4, flags: 0, stream: 0, [])
                + frame(type: 1, flags: 4, stream: 1, head) + frame(type: 0, flags: 1, stream: 1, self.body))
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(self.wrapOutboundOut(self.request), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.received += String(buffer: self.unwrapInboundIn(data))
        if self.received.contains("\(Transport.bodyBytes)") { self.answer.succeed("\(Transport.bodyBytes)") }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.answer.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { self.answer.fail(ChannelError.eof) }
}
#endif
