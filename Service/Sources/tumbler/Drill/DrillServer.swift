// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A server of HTTPS on loopback that answers every request with one page, counts them, and may present another
/// certificate from one connection to the next.
final class DrillServer: Sendable {
    private struct State {
        var context: NIOSSLContext
        var pin: Pin
        var requests = 0
    }

    private let state: NIOLockedValueBox<State>
    private let listener = NIOLockedValueBox<(any Channel)?>(nil)

    private init(_ state: State) { self.state = NIOLockedValueBox(state) }

    /// Starts it on a port that the system chooses.
    ///
    /// - Parameters:
    ///   - certificate: The certificate that it presents, with its issuer.
    ///   - issuer: The issuer.
    static func start(_ certificate: DrillCertificate, by issuer: DrillCertificate) async throws -> DrillServer {
        let server = DrillServer(
            State(context: try Self.context(certificate, issuer), pin: try certificate.pin))
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let context = server.state.withLockedValue { $0.context }
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(PageHandler(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.listener.withLockedValue { $0 = channel }
        return server
    }

    /// The port.
    var port: Int { self.listener.withLockedValue { $0?.localAddress?.port } ?? 0 }

    /// The pin of the key that it presents.
    var pin: Pin { self.state.withLockedValue { $0.pin } }

    /// The number of requests that were read.
    var requests: Int { self.state.withLockedValue { $0.requests } }

    /// Presents another certificate from the next connection on.
    func present(_ certificate: DrillCertificate, by issuer: DrillCertificate) throws {
        let (context, pin) = (try Self.context(certificate, issuer), try certificate.pin)
        self.state.withLockedValue { state in
            state.context = context
            state.pin = pin
        }
    }

    /// Takes no more connections.
    func stop() async { try? await self.listener.withLockedValue { $0 }?.close() }

    private static func context(
        _ certificate: DrillCertificate, _ issuer: DrillCertificate
    ) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try certificate.nio), .certificate(try issuer.nio)],
            privateKey: .privateKey(try certificate.nioKey))
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    /// Answers each request of a connection.
    private final class PageHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let server: DrillServer

        init(_ server: DrillServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch self.unwrapInboundIn(data) {
            case .head: self.server.state.withLockedValue { $0.requests += 1 }
            case .body: break
            case .end:
                let page = ByteBuffer(string: "The page of the app.\n")
                let headers = HTTPHeaders([("Content-Length", "\(page.readableBytes)"), ("Connection", "close")])
                let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
                context.write(self.wrapOutboundOut(.head(head)), promise: nil)
                context.write(self.wrapOutboundOut(.body(.byteBuffer(page))), promise: nil)
                let channel = context.channel
                context.writeAndFlush(self.wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
            }
        }

        // Clients that refuse hang up.
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
