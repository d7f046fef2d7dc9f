// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
@_spi(Adapters) import PinListClient
import PinListMetadata
import PinningTesting
import Testing

@_spi(Tools) @testable import PinningNIO

@Suite("A redirect to a name that leads to this machine")
struct LocalPeerTests {
    static let first = "a.example.com"
    static let second = "b.example.com"
    /// What the system's resolver takes for an address of this machine, and no host is written like: the settings do not
    /// say where it leads.
    static let resolved = "127.1"
    /// The same place, as settings name it.
    static let written = "127.0.0.1"

    /// Two servers of one PKI, whose first one redirects to the second.
    private struct Scene {
        let pki: TestPKI
        let pinned: PinnedScene
        let one: LoopbackServer
        let two: LoopbackServer

        /// The first one's URL, which redirects to a URL.
        func redirect(to target: String) -> String { "https://\(first):\(self.one.port)/redirect?\(target)" }

        var secondURL: String { "https://\(second):\(self.two.port)/" }

        /// Settings by which the hosts are found at these places.
        func configuration(_ places: [String: String]) throws -> HTTPClient.Configuration {
            var configuration = try self.pinned.configuration([])
            configuration.dnsOverride = places
            return configuration
        }

        /// Makes a client for these places, uses it, and shuts it down.
        func withClient(
            _ places: [String: String] = [first: written, second: resolved],
            _ edit: (inout PinnedHTTPClient.Options) throws -> Void = { _ in },
            _ body: (PinnedHTTPClient) async throws -> Void
        ) async throws {
            var options = PinnedHTTPClient.Options()
            try edit(&options)
            let client = try PinnedHTTPClient(
                by: self.pinned.pinning, configuration: self.configuration(places), options: options)
            let result: Result<Void, any Error>
            do { result = .success(try await body(client)) } catch { result = .failure(error) }
            try await client.shutdown()
            try result.get()
        }
    }

    private func withServers(
        http2: Bool = false, secondMode: PinnedDomain.Mode = .enforce, _ body: (Scene) async throws -> Void
    ) async throws {
        let pki = try TestPKI([Self.first, Self.second, "localhost"])
        let pins = [try pki.leaf.pin]
        let scene = try PinnedScene(
            [
                PinnedScene.entry(Self.first, pins), PinnedScene.entry(Self.second, pins, mode: secondMode),
                PinnedScene.entry("localhost", pins),
            ], roots: [pki.root])
        let identity = try LoopbackServer.Identity(pki.chain)
        try await LoopbackServer.with(identity, http2: http2) { one in
            try await LoopbackServer.with(identity, http2: http2) { two in
                try await body(Scene(pki: pki, pinned: scene, one: one, two: two))
            }
        }
    }

    @Test("from a host of the world is refused, and not a byte of a request reaches it", arguments: [false, true])
    func fromAHostOfTheWorldIsRefusedAndNotAByteOfARequestReachesIt(http2: Bool) async throws {
        try await self.withServers(http2: http2) { scene in
            try await scene.withClient { client in
                // The second time both servers are known.
                for _ in 1...2 {
                    let error = await #expect(throws: LocalRedirectError.self) {
                        try await client.text(scene.redirect(to: scene.secondURL))
                    }
                    #expect(error?.host == Self.first)
                    #expect(error?.target == Self.second)
                    #expect(error?.description.contains("127.0.0.1") == true)
                }
                // Nor by way of another host.
                await #expect(throws: LocalRedirectError.self) {
                    try await client.text(scene.redirect(to: scene.redirect(to: scene.secondURL)))
                }
                #expect(scene.one.counts.requests == 4)
                #expect(scene.two.counts.requests == 0)
                #expect(scene.two.counts.requestBytes == 0)
                // A connection that the app itself asked for does not open the way.
                try await client.expectHello(scene.secondURL)
                await #expect(throws: LocalRedirectError.self) {
                    try await client.text(scene.redirect(to: scene.secondURL))
                }
                #expect(scene.two.counts.requests == 1)
            }
        }
    }

    @Test(
        "is none of our own network because a connection to its host that was refused led there",
        arguments: [false, true])
    func isNoneOfOurOwnNetworkBecauseAConnectionToItsHostThatWasRefusedLedThere(http2: Bool) async throws {
        try await self.withServers(http2: http2) { scene in
            try await scene.withClient([Self.second: Self.resolved]) { client in
                try await client.expectHello(scene.secondURL)
                #expect(client.hostOfTheWorld(in: scene.secondURL) == nil)
            }
            let strange = PinnedScene.strangePin
            try await scene.pinned.publish { $0.domains[1].entry.pins = [KnownPin(strange)] }
            try await scene.withClient([Self.second: Self.resolved]) { client in
                await #expect(throws: PinningError.self) { try await client.text(scene.secondURL) }
                #expect(client.hostOfTheWorld(in: scene.secondURL)?.description == Self.second)
            }
        }
    }

    @Test("is refused without TLS, too")
    func isRefusedWithoutTLSToo() async throws {
        try await self.withServers(secondMode: .report) { scene in
            let received = NIOLockedValueBox(0)
            let plain = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(PlainHello(received))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let url = "http://\(Self.second):\(try #require(plain.localAddress?.port))/"
            try await scene.withClient { client in
                await #expect(throws: LocalRedirectError.self) { try await client.text(scene.redirect(to: url)) }
                #expect(received.withLockedValue { $0 } == 0)
                // Asked by the app itself it is not refused.
                try await client.expectHello(url)
                #expect(received.withLockedValue { $0 } > 0)
            }
            try await plain.close()
        }
    }

    @Test("is followed where the app allows it", arguments: [false, true])
    func isFollowedWhereTheAppAllowsIt(http2: Bool) async throws {
        try await self.withServers(http2: http2) { scene in
            try await scene.withClient {
                $0.allowsLocalRedirects = true
            } _: { client in
                try await client.expectHello(scene.redirect(to: scene.secondURL))
            }
        }
    }

    @Test("is followed from a server of the same network that has a public name")
    func isFollowedFromAServerOfTheSameNetworkThatHasAPublicName() async throws {
        try await self.withServers { scene in
            try await scene.withClient([Self.first: Self.resolved, Self.second: Self.resolved]) { client in
                for _ in 1...2 { try await client.expectHello(scene.redirect(to: scene.secondURL)) }
            }
        }
    }

    @Test("is followed where the settings themselves name the place")
    func isFollowedWhereTheSettingsThemselvesNameThePlace() async throws {
        try await self.withServers { scene in
            try await scene.withClient([Self.first: Self.written, Self.second: Self.written]) { client in
                try await client.expectHello(scene.redirect(to: scene.secondURL))
            }
        }
    }

    @Test(
        "is refused for a tool that follows redirects itself, which gets its decision where it is not",
        arguments: [false, true])
    func isRefusedForAToolThatFollowsRedirectsItselfWhichGetsItsDecisionWhereItIsNot(http2: Bool) async throws {
        try await self.withServers(http2: http2) { scene in
            let edit: (inout PinnedHTTPClient.Options) throws -> Void = { options in
                options.redirects = 0
                options.redirectedFrom = try HostName(Self.first)
            }
            try await scene.withClient([:], edit) { client in
                await #expect(throws: LocalRedirectError.self) {
                    try await client.text("https://localhost:\(scene.two.port)/")
                }
                #expect(scene.two.counts.requests == 0)
            }
            try await scene.withClient([Self.second: Self.written], edit) { client in
                try await client.expectHello(scene.secondURL)
                #expect(client.newestDecision(on: scene.secondURL)?.verdict == .allow)
            }
        }
    }

    @Test("cannot be told from another behind a proxy")
    func cannotBeToldFromAnotherBehindAProxy() throws {
        var configuration = HTTPClient.Configuration()
        #expect(configuration.showsPeer(of: Self.second))
        configuration.proxy = .server(host: "127.0.0.1", port: 3_128)
        #expect(!configuration.showsPeer(of: Self.second))
    }

    @Test("comes from the world where the address of the redirecting server is not known")
    func comesFromTheWorldWhereTheAddressOfTheRedirectingServerIsNotKnown() async throws {
        try await self.withServers { scene in
            try await scene.withClient([:]) { client in
                let url = "https://\(Self.first):1/"
                let connections = try client.client(for: try #require(RequestTarget(url))).connections
                // A connection that is closed already has no address any more, and the server says when it is closed.
                for (address, isOfTheWorld) in [("10.0.0.1", false), (nil, true), ("203.0.113.7", true)]
                    as [(String?, Bool)]
                {
                    let channel = EmbeddedChannel()
                    channel.remoteAddress = try address.map { try SocketAddress(ipAddress: $0, port: 443) }
                    connections.notePeer(of: channel)
                    #expect((client.hostOfTheWorld(in: url) != nil) == isOfTheWorld)
                }
            }
        }
    }

    @Test("changes the newest decision on its server, whichever asked there before")
    func changesTheNewestDecisionOnItsServerWhicheverAskedThereBefore() async throws {
        try await self.withServers { scene in
            try await scene.withClient { client in
                try await client.expectHello(scene.secondURL)
                #expect(client.newestDecision(on: scene.secondURL)?.verdict == .allow)
                let issuer = scene.pki.intermediate
                scene.two.identity = try LoopbackServer.Identity([TestPKI.leaf([Self.second], by: issuer), issuer])
                await #expect(throws: (any Error).self) { try await client.text(scene.redirect(to: scene.secondURL)) }
                // The verdict may come after the request was given up.
                let deadline = NIODeadline.now() + .ample
                while client.newestDecision(on: scene.secondURL)?.verdict == .allow, NIODeadline.now() < deadline {
                    await Task.yield()
                }
                #expect(client.newestDecision(on: scene.secondURL)?.verdict == .block)
            }
        }
    }

    @Test("from a server at a public address comes from the world", arguments: ["203.0.113.7", "2001:db8::7"])
    func fromAServerAtAPublicAddressComesFromTheWorld(address: String) throws {
        let channel = EmbeddedChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 443)
        #expect(LocalPeerError(channel) == nil)
    }

    @Test(
        "is one to each kind of local and private address, and to one that is not known",
        arguments: [
            "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "::1", "fd00::1",
            "fe80::1", "::ffff:192.168.1.1", nil,
        ])
    func isOneToEachKindOfLocalAndPrivateAddressAndToOneThatIsNotKnown(address: String?) throws {
        let channel = EmbeddedChannel()
        channel.remoteAddress = try address.map { try SocketAddress(ipAddress: $0, port: 443) }
        #expect(LocalPeerError(channel) != nil)
    }
}

/// A server without TLS that says hello, and counts the bytes that it got.
private final class PlainHello: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let received: NIOLockedValueBox<Int>

    init(_ received: NIOLockedValueBox<Int>) { self.received = received }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = self.unwrapInboundIn(data).readableBytes
        self.received.withLockedValue { $0 += count }
        let answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        context.writeAndFlush(self.wrapOutboundOut(answer), promise: nil)
    }
}
#endif
