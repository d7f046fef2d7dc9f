// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if GRPC
import CertificatePinning
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOEmbedded
import NIOSSL
import PinListClient
import PinningGRPC
import Testing

@Suite("A pinned transport of gRPC")
struct PinnedTransportTests {
    static let host = "api.example.com"

    @Test("calls a server when the leaf, the intermediate or the root is pinned", arguments: 0...2)
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func callsAServerWhenTheLeafTheIntermediateOrTheRootIsPinned(certificate: Int) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene(
            [PinnedScene.entry(Self.host, [pki.path[certificate].pin])], roots: [pki.root])
        let seen = SeenConnections()
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await scene.withClient(of: Self.host, on: server, seen: seen) { client in
                for _ in 1...3 {
                    let answer = try await client.call()
                    #expect(answer == [1, 2, 3])
                }
            }
            #expect(server.counts == .init(connections: 1, streams: 3, calls: 3))
        }
        #expect(scene.pinning.decisionCounts == [.pinMatch: 1])
        // The app's own debugging callback is asked as well.
        #expect(seen.all.count == 1)
    }

    @Test("sends no call to a server whose keys are not pinned, and tells why")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func sendsNoCallToAServerWhoseKeysAreNotPinnedAndTellsWhy() async throws {
        let pki = try TestPKI([Self.host])
        let pins = try pki.path.map { try $0.pin }
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root])
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await scene.withClient(of: Self.host, on: server) { client in
                let error = try #require(await #expect(throws: RPCError.self) { try await client.call() })
                #expect(error.code == .unavailable)
                let refusal = scene.pinning.refusal(for: error, host: Self.host)
                #expect(refusal?.decision.reason == .noMatchingPin)
                #expect(refusal?.decision.path.publicKeyPins == pins)
            }
            #expect(server.counts.streams == 0)
            #expect(server.counts.calls == 0)
        }
    }

    @Test("sends no call to a server with a pinned key whose certificate is for another host")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func sendsNoCallToAServerWithAPinnedKeyWhoseCertificateIsForAnotherHost() async throws {
        let pki = try TestPKI(["other.example.com"])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackGRPCServer.with(pki.chain) { server in
            try await scene.withClient(of: Self.host, on: server) { client in
                let error = try #require(await #expect(throws: RPCError.self) { try await client.call() })
                #expect(scene.pinning.refusal(for: error, host: Self.host)?.decision.reason == .chainInvalid)
            }
            #expect(server.counts.streams == 0)
        }
    }

    @Test("never speaks without TLS")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func neverSpeaksWithoutTLS() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackGRPCServer.with(nil) { server in
            try await scene.withClient(of: Self.host, on: server) { client in
                let error = await #expect(throws: RPCError.self) { try await client.call() }
                #expect(error?.code == .unavailable)
            }
            #expect(server.counts.connections > 0)
            #expect(server.counts.streams == 0)
        }
    }

    @Test(
        "is not made where a refusal would be ignored",
        arguments: [CertificateVerification.none, .noHostnameVerification, .optionalVerification])
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func isNotMadeWhereARefusalWouldBeIgnored(verification: CertificateVerification) throws {
        let scene = try PinnedScene([], roots: [TestPKI([Self.host]).root])
        var tls = try scene.tls
        tls.certificateVerification = verification
        let refusal = #expect(throws: PinningSetupError.self) {
            try HTTP2ClientTransport.Posix.pinned(
                to: .ipv4(address: "127.0.0.1", port: 1), by: scene.pinning, for: Self.host, tls: tls)
        }
        #expect(refusal?.code == .configuration)
    }

    @Test("is not made on event loops without NIOSSL, nor for a host that is none")
    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func isNotMadeOnEventLoopsWithoutNIOSSLNorForAHostThatIsNone() throws {
        let scene = try PinnedScene([], roots: [TestPKI([Self.host]).root])
        let tls = try scene.tls
        let setup = #expect(throws: PinningSetupError.self) {
            try HTTP2ClientTransport.Posix.pinned(
                to: .ipv4(address: "127.0.0.1", port: 1), by: scene.pinning, for: Self.host, tls: tls,
                on: EmbeddedEventLoop())
        }
        #expect(setup?.code == .configuration)
        let refusal = #expect(throws: PinningError.self) {
            try HTTP2ClientTransport.Posix.pinned(
                to: .ipv4(address: "127.0.0.1", port: 1), by: scene.pinning, for: "bücher.example", tls: tls)
        }
        #expect(refusal?.decision.reason == .hostInvalid)
    }
}
#endif
