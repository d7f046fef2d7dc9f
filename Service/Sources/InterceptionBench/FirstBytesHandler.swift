// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import NIOTLS

/// Waits for what a client says first, then makes of the connection what its case asks for. A connection on which
/// nothing is said is not counted: scripts connect to a port to see whether it is open. Nor is one that ends before the
/// certificates of the case `slow` come.
final class FirstBytesHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let play: InterceptionPlay
    private var held: [ByteBuffer] = []
    private var isWaiting = true

    init(_ play: InterceptionPlay) { self.play = play }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data)
        self.held.append(bytes)
        guard self.isWaiting, let first = bytes.readableBytesView.first else { return }
        self.isWaiting = false
        // Nothing more is read until what reads it is there.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        // The first byte of a TLS record that holds a handshake (RFC 8446, section 5.1).
        let isTLS = first == 22
        if self.play.takesRelay() { return self.relay(context) }
        guard isTLS, self.play.played.way == .late else { return self.intercept(context, isTLS: isTLS) }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .seconds(Int64(InterceptionBench.secondsLate))) {
            bound.value.0.intercept(bound.value.1, isTLS: true)
        }
    }

    /// Plays the server. A client that went away before has refused nothing, and is not counted.
    private func intercept(_ context: ChannelHandlerContext, isTLS: Bool) {
        guard context.channel.isActive else { return }
        self.play.tally.count { $0.connections += 1 }
        do {
            let handlers = isTLS ? try self.handlersOfTLS() : []
            try context.pipeline.syncOperations.addHandlers(handlers, position: .after(self))
            if !isTLS { try AnsweringPage.answerHTTP1(on: context.channel, for: self.play, isTLS: false, name: nil) }
            self.leave(context)
        } catch {
            context.close(promise: nil)
        }
    }

    private func handlersOfTLS() throws -> [any ChannelHandler] {
        let play = self.play
        let name = ServerNameBox()
        let context = try Self.context(play, name)
        let negotiation = ApplicationProtocolNegotiationHandler { result, channel in
            channel.eventLoop.makeCompletedFuture {
                play.tally.count { $0.handshakes += 1 }
                if case .negotiated("h2") = result {
                    try AnsweringPage.answerHTTP2(on: channel, for: play, name: name.text)
                } else {
                    try AnsweringPage.answerHTTP1(on: channel, for: play, isTLS: true, name: name.text)
                }
            }
        }
        let cutting: [any ChannelHandler] = play.played.way == .cut ? [LastFlightCutter()] : []
        return cutting + [NIOSSLServerHandler(context: context), negotiation]
    }

    private static func context(_ play: InterceptionPlay, _ name: ServerNameBox) throws -> NIOSSLContext {
        let chain = try play.identity.chain.map {
            NIOSSLCertificateSource.certificate(try .init(bytes: $0, format: .der))
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: .privateKey(play.identity.key))
        configuration.applicationProtocols = ["h2", "http/1.1"]
        switch play.played.way {
        case .tls10, .tls11:
            let version: TLSVersion = play.played.way == .tls10 ? .tlsv1 : .tlsv11
            configuration.minimumTLSVersion = version
            configuration.maximumTLSVersion = version
            // BoringSSL's names of the suites that TLS 1.0 has; P-256 and RSA keys.
            configuration.cipherSuites = "ALL"
        // With TLS 1.3 the server's first flight is its last one.
        case .cut: configuration.maximumTLSVersion = .tlsv12
        case .withoutProtocol: configuration.applicationProtocols = ["tumbler-no-protocol"]
        default: break
        }
        configuration.sslContextCallback = { values, promise in
            name.text = values.serverHostname
            promise.succeed(.noChanges)
        }
        return try NIOSSLContext(configuration: configuration)
    }

    /// Passes everything on to the server.
    private func relay(_ context: ChannelHandlerContext) {
        let counts = self.play.played.isControl
        if counts { self.play.tally.count { $0.connections += 1 } }
        let tally = counts ? self.play.tally : nil
        let client = context.channel
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        UpstreamRelay.connect(client, to: self.play.server.address, self.play.server.port, tally, isBrief: !counts)
            .whenComplete { outcome in
                let (own, context) = bound.value
                guard case .success(let relay) = outcome,
                    (try? context.pipeline.syncOperations.addHandler(relay.value, position: .after(own))) != nil
                else { return context.close(promise: nil) }
                own.leave(context)
            }
    }

    private func leave(_ context: ChannelHandlerContext) {
        let held = self.held
        self.held = []
        for bytes in held { context.fireChannelRead(self.wrapInboundOut(bytes)) }
        context.fireChannelReadComplete()
        try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Lets a server's first flight pass, and nothing after it. The server believes that the handshake is complete, and
/// decrypts what a client sends that did not wait (False Start, RFC 7918).
final class LastFlightCutter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private var isFirstFlightOut = false
    private var isCut = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.isFirstFlightOut, !self.isCut {
            self.isCut = true
            let channel = context.channel
            context.eventLoop.scheduleTask(in: .seconds(Int64(InterceptionBench.secondsLate))) {
                channel.close(mode: .all, promise: nil)
            }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard self.isCut else {
            self.isFirstFlightOut = true
            return context.write(data, promise: promise)
        }
        promise?.succeed()
    }
}
