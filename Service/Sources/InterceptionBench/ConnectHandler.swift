// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOCore

/// The first request to an HTTP proxy: `CONNECT HOST:PORT` makes a tunnel, and the interceptor stands at its end.
final class ConnectHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let play: InterceptionPlay
    private let tunnelsOthers: Bool
    private var head = ByteBuffer()
    private var isDone = false

    /// - Parameter tunnelsOthers: Whether other hosts are reached through it, without interception.
    init(_ play: InterceptionPlay, tunnelsOthers: Bool) {
        self.play = play
        self.tunnelsOthers = tunnelsOthers
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        self.head.writeBuffer(&bytes)
        guard !self.isDone else { return }
        let view = self.head.readableBytesView
        guard let request = ProxyRequest(view) else {
            if view.count > ProxyRequest.maximumBytes || ProxyRequest.isHopeless(view) {
                self.refuse(context, "400 Bad Request", "This is an HTTP proxy: it is asked with CONNECT HOST:PORT.")
            }
            return
        }
        self.isDone = true
        let isOurs = request.host == self.play.server.host
        guard isOurs || (self.tunnelsOthers && request.isTunnel) else {
            return self.refuse(
                context, "403 Forbidden",
                "This test interceptor stands in front of \(self.play.server.host) alone; --tunnel-others lets others pass."
            )
        }
        if request.isTunnel { self.head.moveReaderIndex(forwardBy: request.length) }
        guard isOurs else { return self.tunnel(context, request) }
        do {
            try context.pipeline.syncOperations.addHandler(FirstBytesHandler(self.play), position: .after(self))
            // A request without TLS is answered as it is, and its bytes are counted.
            self.leave(context, saying: request.isTunnel)
        } catch {
            context.close(promise: nil)
        }
    }

    /// Connects a client with another host.
    private func tunnel(_ context: ChannelHandlerContext, _ request: ProxyRequest) {
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        UpstreamRelay.connect(context.channel, to: request.host.description, request.port, nil, isBrief: false)
            .whenComplete { outcome in
                let (own, context) = bound.value
                guard case .success(let relay) = outcome,
                    (try? context.pipeline.syncOperations.addHandler(relay.value, position: .after(own))) != nil
                else { return own.refuse(context, "502 Bad Gateway", "\(request.host) cannot be reached.") }
                own.leave(context, saying: true)
            }
    }

    private func leave(_ context: ChannelHandlerContext, saying isTunnel: Bool) {
        if isTunnel {
            let established = ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n")
            context.writeAndFlush(self.wrapOutboundOut(established), promise: nil)
        }
        if self.head.readableBytes > 0 { context.fireChannelRead(self.wrapInboundOut(self.head)) }
        context.fireChannelReadComplete()
        try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext, _ status: String, _ text: String) {
        self.isDone = true
        let answer = ByteBuffer(
            string: "HTTP/1.1 \(status)\r\nContent-Type: text/plain\r\nContent-Length: \(text.utf8.count + 1)\r\n"
                + "Connection: close\r\n\r\n\(text)\n")
        let channel = context.channel
        context.writeAndFlush(self.wrapOutboundOut(answer)).whenComplete { _ in channel.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
