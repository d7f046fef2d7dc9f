// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Crypto
import NIOConcurrencyHelpers
import NIOCore
@_spi(Adapters) import PinListClient
import Testing

@testable import PinningNIO

@Suite("The client of a server that was talked to lately")
struct ServerClientsTests {
    private static let hosts = ["a.example.com", "b.example.com"]

    /// Makes clients of servers, on which no request runs.
    private static func withMaker(
        _ body: (_ make: (_ url: String) throws -> ServerClient) async throws -> Void
    ) async throws {
        let pki = try TestPKI(Self.hosts)
        let scene = try PinnedScene(
            Self.hosts.map { try PinnedScene.entry($0, [pki.leaf.pin]) }, roots: [pki.root])
        let maker = try scene.client(Self.hosts)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body { url in
                    let made = try maker.client(for: try #require(RequestTarget(url)))
                    return ServerClient(client: made.client, connections: made.connections, requests: made.requests)
                })
        } catch { result = .failure(error) }
        try await maker.shutdown()
        try result.get()
    }

    @Test("is found by any URL of the server, whichever came before, and by no other server's")
    func isFoundByAnyURLOfTheServerWhicheverCameBeforeAndByNoOtherServers() async throws {
        let pki = try TestPKI(Self.hosts)
        let scene = try PinnedScene(
            Self.hosts.map { try PinnedScene.entry($0, [pki.leaf.pin]) }, roots: [pki.root])
        let maker = try scene.client(Self.hosts)
        var servers = ServerClients()
        var made: [String: ServerClient] = [:]
        for host in Self.hosts {
            let target = try #require(RequestTarget("https://\(host)/"))
            let client = try maker.client(for: target)
            #expect(servers.client(forURL: "https://\(host)/") == nil)
            _ = try servers.add(target) { client }
            made[host] = client
        }
        for (url, host) in [
            ("https://a.example.com/", "a.example.com"), ("https://a.example.com/", "a.example.com"),
            ("https://a.example.com/x", "a.example.com"), ("https://b.example.com/", "b.example.com"),
            ("https://a.example.com/x", "a.example.com"), ("https://b.example.com/", "b.example.com"),
            ("https://b.example.com:443", "b.example.com"),
            ("HTTPS://a.example.com?https://b.example.com/", "a.example.com"),
            ("https://a.example.com:444/", ""), ("https://a.example.com/", "a.example.com"),
            ("http://a.example.com:443/", ""), ("https://c.example.com/", ""),
            ("https://b.example.com@a.example.com/", ""), ("", ""), ("https://a.example.com/", "a.example.com"),
        ] {
            #expect(servers.client(forURL: url)?.connections === made[host]?.connections, "\(url)")
        }
        _ = servers.close()
        #expect(servers.client(forURL: "https://a.example.com/") == nil)
        try await maker.shutdown()
    }

    @Test("is kept while its server redirects to more servers than are kept")
    func isKeptWhileItsServerRedirectsToMoreServersThanAreKept() async throws {
        try await Self.withMaker { make in
            let url = "https://a.example.com/"
            let (redirecting, other) = (try make(url), try make("https://b.example.com/"))
            var servers = ServerClients()
            _ = try servers.add(try #require(RequestTarget(url))) { redirecting }
            var removed = 0
            for port in 1...(ServerClients.capacity + 10) {
                #expect(servers.client(forURL: url) === redirecting)
                let target = try #require(RequestTarget("https://b.example.com:\(port)/"))
                _ = try servers.add(target, refusingLocalPeers: true) { other }
                let surplus = servers.removeSurplus()
                #expect(!surplus.contains { $0 === redirecting })
                removed += surplus.count
            }
            #expect(removed == 11)
        }
    }

    @Test("stays while a request runs on it, though requests to 256 others begin, and goes once that is over")
    func staysWhileARequestRunsOnItThoughRequestsTo256OthersBeginAndGoesOnceThatIsOver() async throws {
        try await Self.withMaker { make in
            let other = try make("https://b.example.com/")
            var servers = ServerClients()
            let slow = try make("https://a.example.com/")
            _ = try servers.add(try #require(RequestTarget("https://a.example.com/"))) { slow }
            slow.hold()
            slow.hold()
            for port in 1...256 {
                let target = try #require(RequestTarget("https://b.example.com:\(port)/"))
                _ = try servers.add(target) { other }
                #expect(!servers.removeSurplus().contains { $0 === slow })
            }
            #expect(servers.client(forURL: "https://a.example.com/") === slow)
            // One of its two requests is over.
            #expect(!slow.release())
            _ = try servers.add(try #require(RequestTarget("https://b.example.com:257/"))) { other }
            #expect(!servers.removeSurplus().contains { $0 === slow })
            #expect(slow.release())
            // It was used after most others.
            for port in 258...513 {
                _ = try servers.add(try #require(RequestTarget("https://b.example.com:\(port)/"))) { other }
                if servers.removeSurplus().contains(where: { $0 === slow }) { return }
            }
            Issue.record("it never goes")
        }
    }

    @Test("stays with all others that have requests, and the first of them that has none goes")
    func staysWithAllOthersThatHaveRequestsAndTheFirstOfThemThatHasNoneGoes() async throws {
        try await Self.withMaker { make in
            var servers = ServerClients(capacity: 1)
            let urls = ["https://a.example.com/", "https://b.example.com/", "https://b.example.com:444/"]
            var all: [ServerClient] = []
            for url in urls {
                let server = try make(url)
                _ = try servers.add(try #require(RequestTarget(url))) { server }
                server.hold()
                all.append(server)
                #expect(servers.removeSurplus().isEmpty)
            }
            // The newest, which is also found without a look at the others.
            #expect(all[2].release())
            var surplus = servers.removeSurplus()
            #expect(surplus.count == 1 && surplus.first === all[2])
            #expect(servers.client(forURL: urls[2]) == nil)
            #expect(all[0].release() && all[1].release())
            surplus = servers.removeSurplus()
            #expect(surplus.count == 1 && surplus.first === all[0])
            #expect(servers.removeSurplus().isEmpty)
            // One of those that left is shut down by who waits for its connections, the other one with all that there are.
            #expect(servers.remove(all[2]) && !servers.remove(all[2]))
            let rest = servers.close()
            #expect(rest.pinned.count == 2 && !servers.remove(all[0]))
        }
    }
}

@Suite("While requests to more servers begin than are kept")
struct ManyServersTests {
    private static let hosts = (0..<6).map { "h\($0).example.com" }

    /// A client that keeps a number of servers, and a server that has all hosts.
    private func with(
        _ capacity: Int, http2: Bool, _ body: (PinnedHTTPClient, LoopbackServer) async throws -> Void
    ) async throws {
        let pki = try TestPKI(Self.hosts)
        let scene = try PinnedScene(
            Self.hosts.map { try PinnedScene.entry($0, [pki.leaf.pin]) }, roots: [pki.root])
        let client = try scene.client(Self.hosts)
        client.servers.withLockedValue { $0 = ServerClients(capacity: capacity) }
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            try await body(client, server)
            try await client.shutdown()
            await server.untilOpen(0)
        }
    }

    @Test("a slow answer comes, and a long body comes to its end", arguments: [false, true])
    func slowAnswerComesAndALongBodyComesToItsEnd(http2: Bool) async throws {
        try await self.with(2, http2: http2) { client, server in
            let urls = Self.hosts.map { "https://\($0):\(server.port)" }
            let slow = Task { try await client.text("\(urls[0])/wait") }
            await server.untilWaiting(1)
            let long = try await client.execute(HTTPClientRequest(url: "\(urls[1])/pattern"), timeout: .ample)
            for url in urls.dropFirst(2) { try await client.expectHello("\(url)/") }
            server.answerWaiting()
            let answer = try await slow.value
            #expect(answer == "hello")
            var digest = SHA256()
            for try await part in long.body { part.withUnsafeReadableBytes { digest.update(bufferPointer: $0) } }
            #expect(BodyPattern.text(digest.finalize()) == BodyPattern.digest)
            // The slow one and the last one are kept. The long one left, and nothing of it stays.
            await server.untilOpen(2)
            try await client.expectHello("\(urls[1])/")
        }
    }

    @Test("those that run at once are all answered, and as many as are kept stay", arguments: [false, true])
    func thoseThatRunAtOnceAreAllAnsweredAndAsManyAsAreKeptStay(http2: Bool) async throws {
        try await self.with(1, http2: http2) { client, server in
            let urls = Self.hosts.map { "https://\($0):\(server.port)/wait" }
            let slow = urls.map { url in Task { try await client.text(url) } }
            await server.untilWaiting(urls.count)
            server.answerWaiting()
            for task in slow {
                let answer = try await task.value
                #expect(answer == "hello")
            }
            await server.untilOpen(1)
        }
    }

    @Test("a client can be shut down while one that left has a body that nobody reads", arguments: [false, true])
    func clientCanBeShutDownWhileOneThatLeftHasABodyThatNobodyReads(http2: Bool) async throws {
        try await self.with(1, http2: http2) { client, server in
            let url = "https://\(Self.hosts[0]):\(server.port)/pattern"
            let long = try await client.execute(HTTPClientRequest(url: url), timeout: .ample)
            try await client.expectHello("https://\(Self.hosts[1]):\(server.port)/")
            try await client.shutdown()
            await server.untilOpen(0)
            withExtendedLifetime(long) {}
        }
    }
}
#endif
