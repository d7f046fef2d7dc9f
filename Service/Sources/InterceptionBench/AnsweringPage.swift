// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// The name that a client asks for in its handshake.
final class ServerNameBox: Sendable {
    private let box = NIOLockedValueBox<String?>(nil)

    var text: String? {
        get { self.box.withLockedValue { $0 } }
        set { self.box.withLockedValue { $0 = newValue } }
    }
}

/// Counts what a client sends to the interceptor, and answers with one page.
final class AnsweringPage: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let play: InterceptionPlay
    private let isTLS: Bool
    /// Whether header fields and bodies are counted here, and not as bytes below.
    private let counts: Bool
    /// Whether this connection was made for the second name: what is asked of the second one is no interception.
    private let isForSecondName: Bool
    private var isCounted = false
    private var bytes = 0
    private var location = ""

    private init(_ play: InterceptionPlay, isTLS: Bool, counts: Bool, name: String?) {
        self.play = play
        self.isTLS = isTLS
        self.isForSecondName = name == InterceptionBench.secondName
        self.counts = counts || self.isForSecondName
    }

    /// Makes of a channel a server of HTTP/1.1.
    ///
    /// - Parameter name: The name of the handshake.
    static func answerHTTP1(on channel: any Channel, for play: InterceptionPlay, isTLS: Bool, name: String?) throws {
        let page = AnsweringPage(play, isTLS: isTLS, counts: false, name: name)
        let pipeline = channel.pipeline.syncOperations
        if !page.counts { try pipeline.addHandler(RequestByteCounter(play.tally)) }
        try pipeline.configureHTTPServerPipeline()
        try pipeline.addHandler(page)
    }

    /// Makes of a channel a server of HTTP/2.
    static func answerHTTP2(on channel: any Channel, for play: InterceptionPlay, name: String?) throws {
        _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
                let page = AnsweringPage(play, isTLS: true, counts: true, name: name)
                try stream.pipeline.syncOperations.addHandler(page)
            }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            let authority = head.headers.first(name: "Host") ?? ""
            self.isCounted = self.counts && (!self.isForSecondName || self.isHost(authority))
            self.location = "http://\(authority)/"
            let fields = head.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
            self.count(head.method.rawValue.utf8.count + head.uri.utf8.count + fields, context)
        case .body(let bytes): self.count(bytes.readableBytes, context)
        case .end: self.answer(context)
        }
    }

    /// Whether an authority, with a port perhaps, is that of the host.
    private func isHost(_ authority: String) -> Bool {
        let host = authority.split(separator: ":", maxSplits: 1).first.map(String.init) ?? ""
        return (try? HostName(host)) == self.play.server.host
    }

    private func count(_ count: Int, _ context: ChannelHandlerContext) {
        if self.isCounted { self.play.tally.count(requestBytes: count) }
        self.bytes += count
        if self.bytes > InterceptionBench.maximumRequestBytes { context.close(promise: nil) }
    }

    private func answer(_ context: ChannelHandlerContext) {
        let isRedirect = self.isTLS && self.play.played.way == .redirecting
        let text = "Tumbler's test interceptor answered this request; its case is \(self.play.played.name).\n"
        let page = ByteBuffer(string: isRedirect ? "" : text)
        var headers = HTTPHeaders([("Content-Length", "\(page.readableBytes)"), ("Content-Type", "text/plain")])
        if isRedirect { headers.add(name: "Location", value: self.location) }
        let isHTTP1 = context.channel.parent?.parent == nil
        if isHTTP1 { headers.add(name: "Connection", value: "close") }
        let head = HTTPResponseHead(version: .http1_1, status: isRedirect ? .found : .ok, headers: headers)
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        context.write(self.wrapOutboundOut(.body(.byteBuffer(page))), promise: nil)
        let channel = context.channel
        let isStream = !isHTTP1
        context.writeAndFlush(self.wrapOutboundOut(.end(nil))).whenComplete { _ in
            if !isStream { channel.close(promise: nil) }
        }
    }

    // Clients that refuse hang up.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Counts the bytes that a client sends, before anything reads them: what is no HTTP counts as well.
private final class RequestByteCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let tally: InterceptionTally
    private var bytes = 0

    init(_ tally: InterceptionTally) { self.tally = tally }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = self.unwrapInboundIn(data).readableBytes
        self.bytes += count
        self.tally.count(requestBytes: count)
        guard self.bytes <= InterceptionBench.maximumRequestBytes else { return context.close(promise: nil) }
        context.fireChannelRead(data)
    }
}
