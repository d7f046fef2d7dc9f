// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import PinListClient
import PinningNIO
import Testing

@Suite("The newest decision on a server's connections")
struct NewestDecisionTests {
    static let host = "api.example.com"

    @Test("tells tools why a request was let through, and why it was not", arguments: [false, true])
    func tellsToolsWhyARequestWasLetThroughAndWhyItWasNot(http2: Bool) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let url = "https://\(Self.host):\(server.port)/"
            #expect(client.newestDecision(on: url) == nil)
            _ = try await client.text(url)
            #expect(client.newestDecision(on: url)?.reason == .pinMatch)
            #expect(client.newestDecision(on: "http://\(Self.host):\(server.port)/") == nil)
            #expect(client.newestDecision(on: "https://\(Self.host):1/") == nil)
        }
        try await client.shutdown()
    }

    @Test("is the refusal that was thrown")
    func isTheRefusalThatWasThrown() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let url = "https://\(Self.host):\(server.port)/"
            let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
            #expect(client.newestDecision(on: url) == refusal?.decision)
        }
        try await client.shutdown()
    }
}
#endif
