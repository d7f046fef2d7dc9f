// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if GRPC
import CertificatePinning
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import PinListClient
import Testing

@Suite("A gRPC server whose status is no status")
struct MalformedStatusTests {
    static let host = "api.example.com"

    @Test("fails the call, and ends no process", arguments: ["-1", "", "2000", "+20"])
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func failsTheCallAndEndsNoProcess(_ status: String) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try pki.chain.map {
                .certificate(try NIOSSLCertificate(bytes: $0.der, format: .der))
            }, privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(try pki.leaf.keyPEM.utf8), format: .pem)))
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandlers([NIOSSLServerHandler(context: context), Answers(status)])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        _ = try await scene.withClient(of: Self.host, at: port, seen: SeenConnections()) { client in
            await #expect(throws: RPCError.self) { try await client.call() }
        }
        #expect(scene.pinning.decisionCounts == [.pinMatch: 1])
        try await server.close()
    }

    /// Answers each request with HEADERS alone.
    private final class Answers: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        let status: String

        init(_ status: String) { self.status = status }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSUserEvent { self.write(HTTP2Frames.settings(), context) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            for frame in HTTP2Frames.frames(in: Array(self.unwrapInboundIn(data).readableBytesView)) {
                if frame.type == 4, frame.flags == 0 { self.write(HTTP2Frames.acknowledgement, context) }
                if frame.type == 1 { self.write(HTTP2Frames.status(self.status, frame.stream), context) }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }
    }
}
#endif
