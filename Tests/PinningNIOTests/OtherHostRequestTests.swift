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

@Suite("A client of the app's own that is pinned for one host")
struct OtherHostRequestTests {
    static let host = "a.example.com"
    static let other = "b.example.com"

    /// One server with one certificate for both hosts, and a client that is pinned for the first alone.
    private func withClient(
        http2: Bool, _ body: (PinnedScene, HTTPClient, LoopbackServer) async throws -> Void
    ) async throws {
        let pki = try TestPKI([Self.host, Self.other])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            var configuration = try scene.configuration([Self.host, Self.other])
            configuration.redirectConfiguration = .disallow
            let client = HTTPClient(
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                configuration: try configuration.pinned(by: scene.pinning, for: "A.example.com.", port: server.port))
            let result: Result<Void, any Error>
            do { result = .success(try await body(scene, client, server)) } catch { result = .failure(error) }
            try await client.shutdown()
            try result.get()
        }
    }

    private func text(_ client: HTTPClient, _ url: String, host: String? = nil) async throws -> String {
        var request = HTTPClientRequest(url: url)
        if let host { request.headers.add(name: "Host", value: host) }
        let response = try await client.execute(request, timeout: .ample)
        return String(buffer: try await response.body.collect(upTo: 1_024))
    }

    @Test(
        "sends nothing to another host, though the certificate and its key are good for both", arguments: [false, true])
    func sendsNothingToAnotherHostThoughTheCertificateAndItsKeyAreGoodForBoth(http2: Bool) async throws {
        try await self.withClient(http2: http2) { scene, client, server in
            for _ in 1...2 {
                let refusal = await #expect(throws: PinningError.self) {
                    try await self.text(client, "https://\(Self.other):\(server.port)/")
                }
                #expect(refusal?.decision.reason == .otherHostConnection)
                #expect(refusal?.host == Self.other)
            }
            #expect(server.counts.requests == 0 && server.counts.requestBytes == 0)
            // Its own requests are not disturbed, however the host is written.
            for host in [nil, "\(Self.host):\(server.port)", "A.Example.COM", "a.example.com."] {
                let text = try await self.text(client, "https://\(Self.host):\(server.port)/", host: host)
                #expect(text == "hello")
            }
            #expect(server.counts.requests == 4)
        }
    }

    @Test(
        "sends nothing that names another host, on a connection to its own",
        arguments: [false, true],
        ["b.example.com", "", "a.example.com@b.example.com", "sub.a.example.com", "a.example"])
    func sendsNothingThatNamesAnotherHostOnAConnectionToItsOwn(http2: Bool, field: String) async throws {
        try await self.withClient(http2: http2) { scene, client, server in
            let url = "https://\(Self.host):\(server.port)/"
            let text = try await self.text(client, url)
            #expect(text == "hello")
            let bytes = server.counts.requestBytes
            await #expect(throws: PinningError.self) { try await self.text(client, url, host: field) }
            #expect(server.counts.requests == 1 && server.counts.requestBytes == bytes)
            let after = try await self.text(client, url)
            #expect(after == "hello")
        }
    }
}
#endif
