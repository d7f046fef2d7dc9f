// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import NIOHTTP1
import PinListClient
import PinningNIO
import Testing

@Suite("A redirect")
struct RedirectTests {
    static let first = "a.example.com"
    static let second = "b.example.com"

    /// Two servers of one PKI; the first one's key is pinned for both hosts, or for the first alone.
    private func withServers(
        secondPins: (TestPKI, TestPKI) throws -> [Pin], http2: Bool = false,
        _ body: (PinnedScene, PinnedHTTPClient, LoopbackServer, LoopbackServer) async throws -> Void
    ) async throws {
        let first = try TestPKI([Self.first], name: "first")
        let second = try TestPKI([Self.second], name: "second")
        let entries = [
            try PinnedScene.entry(Self.first, [first.leaf.pin]),
            try PinnedScene.entry(Self.second, secondPins(first, second)),
        ]
        let scene = try PinnedScene(entries, roots: [first.root, second.root])
        let client = try scene.client([Self.first, Self.second])
        try await LoopbackServer.with(LoopbackServer.Identity(first.chain), http2: http2) { one in
            try await LoopbackServer.with(LoopbackServer.Identity(second.chain), http2: http2) { two in
                try await body(scene, client, one, two)
            }
        }
        try await client.shutdown()
    }

    @Test("is followed to a host whose pins match", arguments: [false, true])
    func isFollowedToAHostWhosePinsMatch(http2: Bool) async throws {
        try await self.withServers(secondPins: { try [$1.root.pin] }, http2: http2) { scene, client, one, two in
            let text = try await client.text(
                "https://\(Self.first):\(one.port)/redirect?https://\(Self.second):\(two.port)/")
            #expect(text == "hello")
            #expect(two.counts.requests == 1)
        }
    }

    @Test("to a host that is pinned otherwise is refused, and not a byte reaches it", arguments: [false, true])
    func toAHostThatIsPinnedOtherwiseIsRefusedAndNotAByteReachesIt(http2: Bool) async throws {
        try await self.withServers(secondPins: { first, _ in try [first.leaf.pin] }, http2: http2) {
            scene, client, one, two in
            let refusal = await #expect(throws: PinningError.self) {
                try await client.text("https://\(Self.first):\(one.port)/redirect?https://\(Self.second):\(two.port)/")
            }
            #expect(refusal?.host == Self.second)
            #expect(one.counts.requests == 1)
            #expect(two.counts.requestBytes == 0)
        }
    }

    @Test("to cleartext of an enforced host is refused before a connection is made")
    func toCleartextOfAnEnforcedHostIsRefusedBeforeAConnectionIsMade() async throws {
        try await self.withServers(secondPins: { try [$1.root.pin] }) { scene, client, one, two in
            for url in [
                "https://\(Self.first):\(one.port)/redirect?http://\(Self.second):\(two.port)/",
                "http://\(Self.second):\(two.port)/",
            ] {
                let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
                #expect(refusal?.decision.reason == .cleartext)
                #expect(refusal?.host == Self.second)
            }
            #expect(two.counts.connections == 0)
        }
    }

    @Test(
        "from a host of the world to this machine or into a private network is not followed, unless the app allows it")
    func fromAHostOfTheWorldToThisMachineOrIntoAPrivateNetworkIsNotFollowed() async throws {
        let pki = try TestPKI([Self.first, "localhost"])
        let hosts = [Self.first, "localhost"]
        let scene = try PinnedScene(hosts.map { try PinnedScene.entry($0, [pki.leaf.pin]) }, roots: [pki.root])
        let client = try scene.client([Self.first, "localhost"])
        var options = PinnedHTTPClient.Options()
        options.allowsLocalRedirects = true
        let allowing = try scene.client([Self.first, "localhost"], options: options)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let base = "https://\(Self.first):\(server.port)"
            // Brackets do not come through a query: LocalHostNameTests has the addresses of IPv6.
            for target in [
                "https://localhost:\(server.port)/", "http://127.0.0.1/", "http://192.168.1.1/",
                "https://a.LOCALHOST./", "//169.254.169.254/latest/meta-data/",
            ] {
                let error = await #expect(throws: LocalRedirectError.self, "\(target)") {
                    try await client.text("\(base)/redirect?\(target)")
                }
                #expect(error?.host == Self.first)
            }
            // Not from hop to hop either, and from here to here it may lead.
            await #expect(throws: LocalRedirectError.self) {
                try await client.text("\(base)/redirect?\(base)/redirect?http://localhost/")
            }
            try await client.expectHello("https://localhost:\(server.port)/redirect?https://localhost:\(server.port)/")
            try await allowing.expectHello("\(base)/redirect?https://localhost:\(server.port)/")
        }
        try await client.shutdown()
        try await allowing.shutdown()
    }

    @Test("is handed over when the caller wants it so")
    func isHandedOverWhenTheCallerWantsItSo() async throws {
        let pki = try TestPKI([Self.first])
        let scene = try PinnedScene([PinnedScene.entry(Self.first, [pki.leaf.pin])], roots: [pki.root])
        var options = PinnedHTTPClient.Options()
        options.redirects = 0
        let client = try scene.client([Self.first], options: options)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let request = HTTPClientRequest(url: "https://\(Self.first):\(server.port)/redirect?/")
            let response = try await client.execute(request, timeout: .ample)
            #expect(response.status == .found)
        }
        try await client.shutdown()
    }

    @Test("is followed for a server that is known as for one that is new", arguments: [false, true])
    func isFollowedForAServerThatIsKnownAsForOneThatIsNew(http2: Bool) async throws {
        try await self.withServers(secondPins: { try [$1.root.pin] }, http2: http2) { scene, client, one, two in
            let urls = [
                "https://\(Self.first):\(one.port)/redirect?https://\(Self.second):\(two.port)/",
                "https://\(Self.second):\(two.port)/",
            ]
            for count in 1...3 {
                let response = try await client.execute(HTTPClientRequest(url: urls[0]), timeout: .ample)
                #expect(response.history.map(\.request.url) == urls)
                #expect(response.history.map(\.responseHead.status) == [.found, .ok])
                #expect(try await response.body.collect(upTo: 1_024).readableBytes == 5)
                #expect(one.counts.requests == count)
                #expect(two.counts.requests == count)
            }
        }
    }

    @Test("in a circle ends, for a server that is known, too")
    func inACircleEndsForAServerThatIsKnownToo() async throws {
        let pki = try TestPKI([Self.first])
        let scene = try PinnedScene([PinnedScene.entry(Self.first, [pki.leaf.pin])], roots: [pki.root])
        let client = try scene.client([Self.first])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            let base = "https://\(Self.first):\(server.port)"
            try await client.expectHello("\(base)/")
            await #expect(throws: HTTPClientError.redirectLimitReached) {
                try await client.text(base + String(repeating: "/redirect?", count: 7) + "/")
            }
            #expect(server.counts.requests == 7)
        }
        try await client.shutdown()
    }

    @Test("in a circle ends")
    func inACircleEnds() async throws {
        let pki = try TestPKI([Self.first])
        let scene = try PinnedScene([PinnedScene.entry(Self.first, [pki.leaf.pin])], roots: [pki.root])
        let client = try scene.client([Self.first])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            await #expect(throws: HTTPClientError.redirectLimitReached) {
                try await client.text(
                    "https://\(Self.first):\(server.port)" + String(repeating: "/redirect?", count: 7) + "/"
                )
            }
            #expect(server.counts.requests == 6)
        }
        try await client.shutdown()
    }
}
#endif
