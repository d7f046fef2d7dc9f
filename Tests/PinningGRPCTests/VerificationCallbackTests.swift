// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if GRPC
import CertificatePinning
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOSSL
import PinListClient
import PinListMetadata
import PinningGRPC
import Testing

@Suite("gRPC's own TLS, with the pinned verification callback")
struct VerificationCallbackTests {
    static let host = "api.example.com"

    /// A transport of an app's own.
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    private func transport(_ scene: PinnedScene, to port: Int) throws -> HTTP2ClientTransport.Posix {
        let pinned = try PinnedTLS(by: scene.pinning, configuration: try scene.tls)
        let verification = try pinned.verification(for: Self.host)
        var config = HTTP2ClientTransport.Posix.Config.defaults
        config.http2.authority = Self.host
        config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let tls = try pipeline.handler(type: NIOSSLClientHandler.self)
                try pipeline.addHandler(try pinned.connectionHandler(for: Self.host), position: .after(tls))
            }
        }
        return try HTTP2ClientTransport.Posix(
            target: .ipv4(address: "127.0.0.1", port: port),
            transportSecurity: .tls { $0.customVerificationCallback = verification }, config: config)
    }

    @Test("calls a pinned server, on one connection, until a list refuses it")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func callsAPinnedServerOnOneConnectionUntilAListRefusesIt() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.root.pin])], roots: [pki.root])
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await withGRPCClient(transport: try self.transport(scene, to: server.port)) { client in
                for _ in 1...3 {
                    let answer = try await client.call()
                    #expect(answer == [1, 2, 3])
                }
                #expect(server.counts == .init(connections: 1, streams: 3, calls: 3))
                let entry = try PinnedScene.entry(Self.host, [PinnedScene.strangePin])
                try await scene.publish { $0.domains = [PinList.Domain(entry)] }
                try await server.endOfConnections()
            }
        }
    }

    @Test("sends no call to a server whose keys are not pinned, and the host tells why")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func sendsNoCallToAServerWhoseKeysAreNotPinnedAndTheHostTellsWhy() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root])
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await withGRPCClient(transport: try self.transport(scene, to: server.port)) { client in
                let error = try #require(await #expect(throws: RPCError.self) { try await client.call() })
                #expect(error.code == .unavailable)
                #expect(scene.pinning.refusal(for: error, host: Self.host)?.decision.reason == .noMatchingPin)
            }
            #expect(server.counts.streams == 0)
        }
    }
}
#endif
