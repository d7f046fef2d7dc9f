// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import NIOPosix
import PinListClient
import PinningNIO
import Testing

/// NIOSSL takes no wildcard for a host whose first label is an A-label: our own comparison is alone with it.
@Suite("An international host below a wildcard")
struct InternationalHostTests {
    static let host = "xn--bcher-kva.example.com"

    /// Names in certificates that are the host's.
    static let good = ["*.example.com", "*.EXAMPLE.com", host]

    /// Names in certificates that are not.
    static let bad = ["xn--*.example.com", "xn--bcher-*.example.com", "*.example.org", "example.com", "*.com"]

    @Test("is connected to on a channel, and hears its name", arguments: good)
    func isConnectedToOnAChannelAndHearsItsName(name: String) async throws {
        let pki = try TestPKI([name])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let decision = try await PinnedHandshake.decision(tls, Self.host, port: server.port)
            #expect(decision?.reason == .pinMatch)
            #expect(server.indicatedNames == [Self.host])
        }
    }

    @Test("is refused on a channel when the certificate has another name, though its key is pinned", arguments: bad)
    func isRefusedOnAChannelWhenTheCertificateHasAnotherNameThoughItsKeyIsPinned(name: String) async throws {
        // The address that is dialled is in the certificate, too.
        let pki = try TestPKI([name], addresses: [[127, 0, 0, 1]])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let tls = try PinnedTLS(by: scene.pinning, configuration: scene.tls)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let refusal = await #expect(throws: PinningError.self) {
                try await PinnedHandshake.decision(tls, Self.host, port: server.port)
            }
            #expect(refusal?.decision.reason == .chainInvalid)
        }
    }

    @Test("gives its page to AsyncHTTPClient, and is sent nothing under another name", arguments: [false, true])
    func givesItsPageToAsyncHTTPClientAndIsSentNothingUnderAnotherName(http2: Bool) async throws {
        for name in Self.good + Self.bad {
            let pki = try TestPKI([name], addresses: [[127, 0, 0, 1]])
            let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
            let client = try scene.client([Self.host])
            try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
                let url = "https://\(Self.host):\(server.port)/"
                if Self.good.contains(name) {
                    try await client.expectHello(url)
                } else {
                    let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
                    #expect(refusal?.decision.reason == .chainInvalid, "\(name)")
                    #expect(server.counts.requests == 0 && server.counts.requestBytes == 0, "\(name)")
                }
            }
            try await client.shutdown()
        }
    }

    @Test("is refused under another name while everything only observes, too: nothing beside us compares the name")
    func isRefusedUnderAnotherNameWhileEverythingOnlyObservesToo() async throws {
        let pki = try TestPKI(["xn--*.example.com"])
        let scene = try PinnedScene(
            [PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root], isObserving: true)
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let refusal = await #expect(throws: PinningError.self) {
                try await client.text("https://\(Self.host):\(server.port)/")
            }
            #expect(refusal?.decision.reason == .chainInvalid)
            #expect(server.counts.requests == 0 && server.counts.requestBytes == 0)
        }
        try await client.shutdown()
    }
}
#endif
