// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import NIOHTTP1
import NIOPosix
import PinListClient
import PinningNIO
import Testing

/// NIOSSL takes no name with an underscore, and swift-certificates neither: our own comparison is alone with it.
@Suite("A host with an underscore")
struct UnderscoreHostTests {
    static let host = "a_b.example.com"

    /// A host, and a name in a certificate that is its name.
    struct Named: Sendable {
        let host: String
        let name: String
    }

    static let good = [
        Named(host: "a_b.example.com", name: "a_b.example.com"), Named(host: "a_b.example.com", name: "*.example.com"),
        Named(host: "api.c_d.example.com", name: "*.c_d.example.com"),
        Named(host: "_a.c_d.example.com", name: "*.C_D.example.com"),
    ]

    /// Names in certificates that are not those of ``host``.
    static let bad = [
        "c_d.example.com", "*.c_d.example.com", "a-b.example.com", "a_b.example.org", "*_b.example.com",
        "a_b.example.com.example.net", "*.a_b.example.com", "example.com",
    ]

    /// A client of the app's own that is pinned for ``host``.
    private func withOwnClient(
        _ scene: PinnedScene, _ hosts: [String], port: Int, _ body: (HTTPClient) async throws -> Void
    ) async throws {
        var configuration = try scene.configuration(hosts)
        configuration.redirectConfiguration = .disallow
        let client = HTTPClient(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            configuration: try configuration.pinned(by: scene.pinning, for: Self.host, port: port))
        let result: Result<Void, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        try await client.shutdown()
        try result.get()
    }

    @Test("is connected to on a channel when the certificate has its name, and hears its name", arguments: good)
    func isConnectedToOnAChannelWhenTheCertificateHasItsNameAndHearsItsName(_ named: Named) async throws {
        let host = named.host
        let pki = try TestPKI([named.name])
        let scene = try PinnedScene([PinnedScene.entry(host, [pki.leaf.pin])], roots: [pki.root])
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            // The second time the path is remembered.
            for _ in 1...2 {
                let decision = try await PinnedHandshake.decision(tls, host, port: server.port)
                #expect(decision?.reason == .pinMatch)
            }
            #expect(server.indicatedNames == [host, host])
        }
        #expect(tls.pathCounts.hits == 1)
    }

    @Test("is refused on a channel when the certificate has another name, though its key is pinned", arguments: bad)
    func isRefusedOnAChannelWhenTheCertificateHasAnotherNameThoughItsKeyIsPinned(name: String) async throws {
        // The address that is dialled is in the certificate, too.
        let pki = try TestPKI([name], addresses: [[127, 0, 0, 1]])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            for _ in 1...2 {
                let refusal = await #expect(throws: PinningError.self) {
                    try await PinnedHandshake.decision(tls, Self.host, port: server.port)
                }
                #expect(refusal?.decision.reason == .chainInvalid)
                #expect(refusal?.decision.detail?.contains("another server") == true)
            }
        }
    }

    @Test("gives its page to AsyncHTTPClient when the certificate has its name", arguments: good, [false, true])
    func givesItsPageToAsyncHTTPClientWhenTheCertificateHasItsName(_ named: Named, http2: Bool) async throws {
        let pki = try TestPKI([named.name])
        let scene = try PinnedScene([PinnedScene.entry(named.host, [pki.leaf.pin])], roots: [pki.root])
        let client = try scene.client([named.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let base = "https://\(named.host):\(server.port)/"
            try await client.expectHello(base)
            // Redirects lead there, too.
            try await client.expectHello("\(base)redirect?\(base)")
            #expect(Set(server.indicatedNames) == [named.host])
        }
        // On a busy machine a request may begin before the pool has the connection of the one before.
        #expect(Set(scene.pinning.decisionCounts.keys) == [.pinMatch])
        try await client.shutdown()
    }

    @Test("gives its page to a client of the app's own", arguments: [false, true])
    func givesItsPageToAClientOfTheAppsOwn(http2: Bool) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            try await self.withOwnClient(scene, [Self.host], port: server.port) { client in
                let text = try await self.text(client, "https://\(Self.host):\(server.port)/")
                #expect(text == "hello")
            }
        }
    }

    @Test("is sent nothing by AsyncHTTPClient when the certificate has another name", arguments: bad, [false, true])
    func isSentNothingByAsyncHTTPClientWhenTheCertificateHasAnotherName(name: String, http2: Bool) async throws {
        let pki = try TestPKI([name], addresses: [[127, 0, 0, 1]])
        func scene() throws -> PinnedScene {
            try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        }
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let url = "https://\(Self.host):\(server.port)/"
            let client = try scene().client([Self.host])
            let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
            #expect(refusal?.decision.reason == .chainInvalid)
            try await client.shutdown()
            let other = try scene()
            try await self.withOwnClient(other, [Self.host], port: server.port) { client in
                let error = try #require(await #expect(throws: (any Error).self) { try await self.text(client, url) })
                #expect(other.pinning.refusal(for: error, host: Self.host)?.decision.reason == .chainInvalid)
            }
            #expect(server.counts.requests == 0 && server.counts.requestBytes == 0)
        }
    }

    @Test("is not reached under another's name by a client of the app's own, which compares no name by itself")
    func isNotReachedUnderAnothersNameByAClientOfTheAppsOwn() async throws {
        let other = "c_d.example.com"
        let pki = try TestPKI([other])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            try await self.withOwnClient(scene, [Self.host, other], port: server.port) { client in
                // A request for the other host, and one that only says to be for ours.
                for field in [nil, "\(Self.host):\(server.port)"] {
                    await #expect(throws: (any Error).self) {
                        try await self.text(client, "https://\(other):\(server.port)/", field: field)
                    }
                }
            }
            #expect(server.counts.requests == 0 && server.counts.requestBytes == 0)
        }
    }

    @Test(
        "is refused under another name while everything only observes, too: nothing beside us compares the name",
        arguments: [false, true])
    func isRefusedUnderAnotherNameWhileEverythingOnlyObservesToo(http2: Bool) async throws {
        let pki = try TestPKI(["c_d.example.com"])
        let right = try TestPKI.leaf([Self.host], by: pki.intermediate)
        let scene = try PinnedScene(
            [PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root], isObserving: true)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let url = "https://\(Self.host):\(server.port)/"
            // A request for each connection: the second one must not meet the refusal of the first.
            var configuration = try scene.configuration([Self.host])
            configuration.maximumUsesPerConnection = 1
            let client = try PinnedHTTPClient(by: scene.pinning, configuration: configuration)
            let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
            #expect(refusal?.decision.reason == .chainInvalid)
            #expect(server.counts.requests == 0 && server.counts.requestBytes == 0)
            server.identity = try LoopbackServer.Identity([right, pki.intermediate])
            try await client.expectHello(url)
            try await client.shutdown()
        }
        #expect(scene.pinning.decisionCounts[.noMatchingPin] == 1)
    }

    private func text(_ client: HTTPClient, _ url: String, field: String? = nil) async throws -> String {
        var request = HTTPClientRequest(url: url)
        if let field { request.headers.add(name: "Host", value: field) }
        let response = try await client.execute(request, timeout: .ample)
        return String(buffer: try await response.body.collect(upTo: 1_024))
    }
}
#endif
