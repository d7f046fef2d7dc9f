// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS

/// A server of HTTP over TLS on loopback, which counts what reaches it.
///
/// It answers `GET /` with `hello`, `/redirect?URL` with a redirect, `/wait` only once it is told to, `/pattern` with
/// ``BodyPattern``, and anything with a body with the number of the body's bytes; `/digest` with its SHA-256.
final class LoopbackServer: Sendable {
    /// What reached the server.
    struct Counts: Sendable, Equatable {
        /// Connections that were accepted.
        var connections = 0
        /// Connections that are open.
        var open = 0
        /// Handshakes that were completed.
        var handshakes = 0
        /// Requests whose head was read.
        var requests = 0
        /// Decrypted bytes of HTTP/1.1, and the data of requests of HTTP/2.
        var requestBytes = 0
    }

    /// What the server presents; it may change between two connections.
    struct Identity: Sendable {
        var chain: [NIOSSLCertificate]
        var key: NIOSSLPrivateKey
        var newestVersion = TLSVersion.tlsv13

        init(_ chain: [TestCertificate], key: TestCertificate? = nil) throws {
            self.chain = try chain.map { try $0.nio }
            self.key = try (key ?? chain[0]).nioKey
        }
    }

    private struct State {
        var counts = Counts()
        var identity: Identity
        var waiting: [EventLoopPromise<Void>] = []
        var files: [String: [UInt8]] = [:]
        var indicatedNames: [String?] = []
        var watchers: [(holds: @Sendable (State) -> Bool, wake: CheckedContinuation<Void, Never>)] = []
    }

    private let box: NIOLockedValueBox<State>
    private let turns = NIOLockedValueBox<[Identity]>([])
    private let listener: NIOLockedValueBox<(any Channel)?> = NIOLockedValueBox(nil)
    private let speaksHTTP2: Bool

    private init(_ identity: Identity, speaksHTTP2: Bool) {
        self.box = NIOLockedValueBox(State(identity: identity))
        self.speaksHTTP2 = speaksHTTP2
    }

    /// Runs a server while something is done with it: on loopback, unless its event loop is in another network.
    static func with<Result>(
        _ identity: Identity, http2: Bool = false, at address: String = "127.0.0.1",
        on group: MultiThreadedEventLoopGroup = .singleton, _ body: (LoopbackServer) async throws -> Result
    ) async throws -> Result {
        let server = LoopbackServer(identity, speaksHTTP2: http2)
        // On the event loop: the socket is in the network of the thread that makes it.
        let channel = try await group.next().flatSubmit {
            ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { server.initialize($0) }
                .bind(host: address, port: 0)
        }.get()
        server.listener.withLockedValue { $0 = channel }
        do {
            let result = try await body(server)
            try await channel.close()
            return result
        } catch {
            try? await channel.close()
            throw error
        }
    }

    /// The port, chosen by the system.
    var port: Int { self.listener.withLockedValue { $0?.localAddress?.port } ?? 0 }

    /// What reached the server so far.
    var counts: Counts { self.box.withLockedValue { $0.counts } }

    /// The names that clients indicated in their handshakes, in turn; `nil` where one named none.
    var indicatedNames: [String?] { self.box.withLockedValue { $0.indicatedNames } }

    /// What new connections are shown.
    var identity: Identity {
        get { self.box.withLockedValue { $0.identity } }
        set { self.box.withLockedValue { $0.identity = newValue } }
    }

    /// What new connections are shown in turn, when not empty: a name with several servers.
    var nextIdentities: [Identity] {
        get { self.turns.withLockedValue { $0 } }
        set { self.turns.withLockedValue { $0 = newValue } }
    }

    /// What the next connection is shown.
    private func takeIdentity() -> Identity {
        self.turns.withLockedValue { turns in
            guard let first = turns.first else { return self.identity }
            turns.append(turns.removeFirst())
            return first
        }
    }

    /// Answers the requests that wait.
    func answerWaiting() {
        let waiting = self.box.withLockedValue { box in
            defer { box.waiting = [] }
            return box.waiting
        }
        for promise in waiting { promise.succeed() }
    }

    /// What is answered for paths, beside what is built in.
    var files: [String: [UInt8]] {
        get { self.box.withLockedValue { $0.files } }
        set { self.box.withLockedValue { $0.files = newValue } }
    }

    /// Waits until so many requests wait for ``answerWaiting()``.
    func untilWaiting(_ count: Int) async { await self.until { $0.waiting.count >= count } }

    /// Waits until so many handshakes were completed, and no connection is open.
    func untilIdle(after handshakes: Int) async {
        await self.until { $0.counts.handshakes >= handshakes && $0.counts.open == 0 }
    }

    /// Waits until so many connections are open.
    func untilOpen(_ count: Int) async { await self.until { $0.counts.open == count } }

    private func until(_ holds: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { wake in
            let isOver = self.box.withLockedValue { state in
                if holds(state) { return true }
                state.watchers.append((holds, wake))
                return false
            }
            if isOver { wake.resume() }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let due = self.box.withLockedValue { state in
            body(&state)
            let watchers = state.watchers
            let now = state
            state.watchers = watchers.filter { !$0.holds(now) }
            return watchers.filter { $0.holds(now) }
        }
        for watcher in due { watcher.wake.resume() }
    }

    fileprivate func count(_ change: (inout Counts) -> Void) { self.change { change(&$0.counts) } }

    fileprivate func wait(_ promise: EventLoopPromise<Void>) { self.change { $0.waiting.append(promise) } }

    private func initialize(_ channel: any Channel) -> EventLoopFuture<Void> {
        self.count {
            $0.connections += 1
            $0.open += 1
        }
        channel.closeFuture.whenComplete { _ in self.count { $0.open -= 1 } }
        return channel.eventLoop.makeCompletedFuture {
            let identity = self.takeIdentity()
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: identity.chain.map { .certificate($0) }, privateKey: .privateKey(identity.key))
            configuration.applicationProtocols = self.speaksHTTP2 ? ["h2"] : ["http/1.1"]
            configuration.maximumTLSVersion = identity.newestVersion
            configuration.sslContextCallback = { values, promise in
                self.change { $0.indicatedNames.append(values.serverHostname) }
                promise.succeed(.noChanges)
            }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(NIOSSLServerHandler(context: NIOSSLContext(configuration: configuration)))
            try pipeline.addHandler(Counter(self))
            guard self.speaksHTTP2 else {
                try pipeline.configureHTTPServerPipeline()
                try pipeline.addHandler(Answerer(self))
                return
            }
            _ = try pipeline.configureHTTP2Pipeline(
                mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
            ) { stream in
                stream.eventLoop.makeCompletedFuture {
                    try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
                    try stream.pipeline.syncOperations.addHandler(Answerer(self))
                }
            }
        }
    }

    /// Counts decrypted bytes and handshakes.
    private final class Counter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let server: LoopbackServer

        init(_ server: LoopbackServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            // The preface and settings of HTTP/2 are no part of a request.
            if !self.server.speaksHTTP2 {
                self.server.count { $0.requestBytes += self.unwrapInboundIn(data).readableBytes }
            }
            context.fireChannelRead(data)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSUserEvent { self.server.count { $0.handshakes += 1 } }
            context.fireUserInboundEventTriggered(event)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// Answers requests.
    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        let server: LoopbackServer
        var head: HTTPRequestHead?
        var bodyBytes = 0
        var digest = SHA256()

        init(_ server: LoopbackServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch self.unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                self.bodyBytes = 0
                self.server.count {
                    $0.requests += 1
                    if self.server.speaksHTTP2 { $0.requestBytes += head.uri.utf8.count }
                }
            case .body(let bytes):
                self.bodyBytes += bytes.readableBytes
                if self.head?.uri == "/digest" {
                    bytes.withUnsafeReadableBytes { self.digest.update(bufferPointer: $0) }
                }
                if self.server.speaksHTTP2 { self.server.count { $0.requestBytes += bytes.readableBytes } }
            case .end:
                guard let head = self.head else { return }
                if head.uri == "/wait" {
                    let promise = context.eventLoop.makePromise(of: Void.self)
                    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                    promise.futureResult.whenComplete { _ in bound.value.0.answer(head, bound.value.1) }
                    self.server.wait(promise)
                } else {
                    self.answer(head, context)
                }
            }
        }

        func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
            var headers = HTTPHeaders()
            var status = HTTPResponseStatus.ok
            guard head.uri != "/pattern" else { return self.answerWithPattern(context) }
            var body = self.bodyBytes > 0 ? "\(self.bodyBytes)" : "hello"
            if head.uri == "/digest" { body = BodyPattern.text(self.digest.finalize()) }
            if head.uri.hasPrefix("/redirect?") {
                status = .found
                headers.add(name: "Location", value: String(head.uri.dropFirst("/redirect?".count)))
                body = ""
            }
            var bytes = ByteBuffer(string: body)
            if let file = self.server.files[head.uri] { bytes = ByteBuffer(bytes: file) }
            if head.uri.hasPrefix("/v1/"), self.server.files[head.uri] == nil { status = .notFound }
            headers.add(name: "Content-Length", value: "\(bytes.readableBytes)")
            if !head.isKeepAlive { headers.add(name: "Connection", value: "close") }
            let response = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
            context.write(self.wrapOutboundOut(.head(response)), promise: nil)
            context.write(self.wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
            context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        }

        func answerWithPattern(_ context: ChannelHandlerContext) {
            let headers = HTTPHeaders([("Content-Length", "\(BodyPattern.bytes)")])
            let response = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
            context.write(self.wrapOutboundOut(.head(response)), promise: nil)
            for part in 0..<BodyPattern.parts {
                context.write(self.wrapOutboundOut(.body(.byteBuffer(BodyPattern.part(part)))), promise: nil)
            }
            context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
#endif
