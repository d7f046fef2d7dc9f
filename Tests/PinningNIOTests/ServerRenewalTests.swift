// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOSSL
import PinListClient
import PinListMetadata
import PinningNIO
import Testing
import X509

@Suite("What a server presents changes between two connections")
struct ServerRenewalTests {
    static let host = "api.example.com"

    /// A client that makes a connection for each request.
    static func freshClient(_ scene: PinnedScene) throws -> PinnedHTTPClient {
        var configuration = try scene.configuration([Self.host])
        configuration.maximumUsesPerConnection = 1
        return try PinnedHTTPClient(by: scene.pinning, configuration: configuration)
    }

    @Test(
        "a renewal with the same key passes, one with another key is refused, one with the backup key passes",
        arguments: [false, true])
    func renewalWithTheSameKeyPassesOneWithAnotherKeyIsRefused(http2: Bool) async throws {
        let ca = try LongChain(.p256, intermediates: 1)
        func chain(_ key: Certificate.PrivateKey) throws -> [TestCertificate] {
            [try TestPKI.leaf([Self.host], by: ca.intermediates[0], key: key), ca.intermediates[0]]
        }
        let (key, backupKey, otherKey) = try (TestPKI.Keys.p256.new(), TestPKI.Keys.p256.new(), TestPKI.Keys.p256.new())
        let (old, renewed, other) = try (chain(key), chain(key), chain(otherKey))
        let backup = try chain(backupKey)
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [old[0].pin, backup[0].pin])], roots: [ca.root])
        let client = try Self.freshClient(scene)
        try await LoopbackServer.with(LoopbackServer.Identity(old), http2: http2) { server in
            let url = "https://\(Self.host):\(server.port)/"
            try await client.expectHello(url)
            server.identity = try LoopbackServer.Identity(renewed)
            try await client.expectHello(url)
            server.identity = try LoopbackServer.Identity(other)
            let bytes = server.counts.requestBytes
            let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
            #expect(refusal?.decision.reason == .noMatchingPin)
            #expect(server.counts.requestBytes == bytes)
            server.identity = try LoopbackServer.Identity(backup)
            try await client.expectHello(url)
            #expect(server.counts.requests == 3)
        }
        #expect(scene.pinning.decisionCounts == [.pinMatch: 3, .noMatchingPin: 1])
        try await client.shutdown()
    }

    @Test(
        "servers of two CAs take turns behind one name: each connection is evaluated for what was presented on it",
        arguments: [false, true])
    func serversOfTwoCAsTakeTurnsBehindOneName(http2: Bool) async throws {
        let cas = try [LongChain(.p256, name: "a", intermediates: 1), LongChain(.rsa2048, name: "b", intermediates: 1)]
        let identities = try cas.map { try LoopbackServer.Identity($0.chain(for: Self.host, certificates: 2)) }
        let scene = try PinnedScene(
            [PinnedScene.entry(Self.host, cas.map { try $0.root.pin })], roots: cas.map(\.root))
        let client = try Self.freshClient(scene)
        try await LoopbackServer.with(identities[0], http2: http2) { server in
            for turn in 0..<8 {
                server.identity = identities[turn % 2]
                try await client.expectHello("https://\(Self.host):\(server.port)/")
            }
            #expect(server.counts.requests == 8)
        }
        #expect(scene.pinning.decisionCounts == [.pinMatch: 8])
        try await client.shutdown()
    }

    @Test(
        "servers of two CAs take turns with every single connection, our own handshakes included",
        arguments: [false, true])
    func serversOfTwoCAsTakeTurnsWithEverySingleConnectionOurOwnHandshakesIncluded(http2: Bool) async throws {
        let cas = try [LongChain(.p256, name: "a", intermediates: 1), LongChain(.p256, name: "b", intermediates: 1)]
        let identities = try cas.map { try LoopbackServer.Identity($0.chain(for: Self.host, certificates: 2)) }
        let scene = try PinnedScene(
            [PinnedScene.entry(Self.host, cas.map { try $0.root.pin })], roots: cas.map(\.root))
        let client = try Self.freshClient(scene)
        try await LoopbackServer.with(identities[0], http2: http2) { server in
            server.nextIdentities = identities
            for _ in 0..<8 {
                let text = try await client.text("https://\(Self.host):\(server.port)/")
                #expect(text == "hello")
            }
            #expect(server.counts.requests == 8)
        }
        try await client.shutdown()
    }

    @Test(
        "a server that offers to resume sessions: every connection is a new handshake, and evaluated",
        .wants(.nginx),
        .enabled(if: Program.nginx != nil, "nginx is not installed"), arguments: [TLSVersion.tlsv12, .tlsv13])
    func serverThatOffersToResumeSessionsEveryConnectionIsANewHandshakeAndEvaluated(_ version: TLSVersion) async throws
    {
        let ca = try LongChain(.p256, intermediates: 1)
        let chain = try ca.chain(for: Self.host, certificates: 2)
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [chain[0].pin])], roots: [ca.root])
        try await Nginx.with([Nginx.Site(Self.host, chain)]) { port in
            var configuration = try RealServerTests.configuration(scene, [Self.host], tls: version)
            configuration.maximumUsesPerConnection = 1
            let client = try PinnedHTTPClient(by: scene.pinning, configuration: configuration)
            for _ in 0..<5 {
                let answer = try Nginx.Answer(await client.text("https://\(Self.host):\(port)/"))
                #expect(!answer.isResumed)
            }
            #expect(scene.pinning.decisionCounts == [.pinMatch: 5])
            let entry = try PinnedScene.entry(Self.host, [PinnedScene.strangePin])
            try await scene.publish { list in list.domains = [PinList.Domain(entry)] }
            let refusal = await #expect(throws: PinningError.self) {
                try await client.text("https://\(Self.host):\(port)/")
            }
            #expect(refusal?.decision.reason == .noMatchingPin)
            try await client.shutdown()
        }
    }
}
#endif
