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
import PinningGRPC
import Testing

/// NIOSSL takes no name with an underscore: our own comparison is alone with it.
@Suite("A gRPC server whose name has an underscore")
struct UnderscoreHostTests {
    static let host = "a_b.example.com"

    /// How a client gets its transport.
    enum Way: CaseIterable { case pinned, ownTLS }

    /// A transport with its own TLS and our callback, or ours.
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    private func transport(_ way: Way, _ scene: PinnedScene, to port: Int) throws -> HTTP2ClientTransport.Posix {
        guard way == .ownTLS else {
            return try .pinned(
                to: .ipv4(address: "127.0.0.1", port: port), by: scene.pinning, for: Self.host, port: port,
                tls: try scene.tls)
        }
        let verification = try PinnedTLS(by: scene.pinning, configuration: try scene.tls).verification(for: Self.host)
        var config = HTTP2ClientTransport.Posix.Config.defaults
        config.http2.authority = Self.host
        return try HTTP2ClientTransport.Posix(
            target: .ipv4(address: "127.0.0.1", port: port),
            transportSecurity: .tls {
                $0.serverCertificateVerification = .noHostnameVerification
                $0.customVerificationCallback = verification
            }, config: config)
    }

    @Test(
        "is called when its certificate has its name", arguments: [Self.host, "*.example.com"], Way.allCases)
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func isCalledWhenItsCertificateHasItsName(name: String, way: Way) async throws {
        let pki = try TestPKI([name])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await withGRPCClient(transport: try self.transport(way, scene, to: server.port)) { client in
                let answer = try await client.call()
                #expect(answer == [1, 2, 3])
            }
        }
        #expect(scene.pinning.decisionCounts == [.pinMatch: 1])
    }

    @Test(
        "is sent no call when its certificate has another name, though its key is pinned",
        arguments: ["c_d.example.com", "*.c_d.example.com", "a-b.example.com", "*_b.example.com"], Way.allCases)
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func isSentNoCallWhenItsCertificateHasAnotherNameThoughItsKeyIsPinned(name: String, way: Way) async throws {
        // The address that is dialled is in the certificate, too.
        let pki = try TestPKI([name], addresses: [[127, 0, 0, 1]])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await withGRPCClient(transport: try self.transport(way, scene, to: server.port)) { client in
                let error = try #require(await #expect(throws: RPCError.self) { try await client.call() })
                #expect(error.code == .unavailable)
                #expect(scene.pinning.refusal(for: error, host: Self.host)?.decision.reason == .chainInvalid)
            }
            #expect(server.counts.streams == 0)
        }
    }
}
#endif
