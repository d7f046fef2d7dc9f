// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
@_spi(Adapters) import PinListClient
import Testing

@testable import PinningNIO

@Suite("The client of a server that was talked to lately")
struct ServerClientsTests {
    private static let hosts = ["a.example.com", "b.example.com"]

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
        let pki = try TestPKI(Self.hosts)
        let scene = try PinnedScene(
            Self.hosts.map { try PinnedScene.entry($0, [pki.leaf.pin]) }, roots: [pki.root])
        let maker = try scene.client(Self.hosts)
        let url = "https://a.example.com/"
        let redirecting = try maker.client(for: try #require(RequestTarget(url)))
        let other = try maker.client(for: try #require(RequestTarget("https://b.example.com/")))
        var servers = ServerClients()
        _ = try servers.add(try #require(RequestTarget(url))) { redirecting }
        var removed = 0
        for port in 1...(ServerClients.capacity + 10) {
            #expect(servers.client(forURL: url)?.connections === redirecting.connections)
            let target = try #require(RequestTarget("https://b.example.com:\(port)/"))
            let (_, evicted) = try servers.add(target, refusingLocalPeers: true) { other }
            #expect(evicted !== redirecting.client)
            removed += evicted == nil ? 0 : 1
        }
        #expect(removed == 11)
        try await maker.shutdown()
    }
}
#endif
