// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
@_spi(Adapters) import PinListClient
import Testing

@testable import PinningNIO

@Suite("A response is handed over only with a decision for its host")
struct SecondCheckTests {
    static let host = "api.example.com"

    @Test(
        "so one over a connection or a stream whose hook AsyncHTTPClient did not call is not",
        arguments: [(http2: false, connection: false), (true, false), (true, true)])
    func soOneOverAConnectionOrAStreamWhoseHookAsyncHTTPClientDidNotCallIsNot(
        http2: Bool, hooked: Bool
    ) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let url = "https://\(Self.host):\(server.port)/"
            let target = try #require(RequestTarget(url))
            let pinned = try client.client(for: target)
            var configuration = try scene.configuration([Self.host])
            if hooked { configuration = configuration.hooked(to: pinned.connections) }
            configuration.http2StreamChannelDebugInitializer = nil
            let unhooked = HTTPClient(configuration: configuration)
            var servers = ServerClients()
            _ = try servers.add(target) {
                ServerClient(client: unhooked, connections: pinned.connections, requests: pinned.requests)
            }
            client.servers.withLockedValue { $0 = servers }
            // The first request asks for the server's chain, the second one is sent at once.
            for count in 1...2 {
                let refusal = await #expect(throws: PinningError.self) { try await client.text(url) }
                #expect(refusal?.decision.verdict == .block)
                #expect(refusal?.decision.reason == .chainInvalid)
                #expect(server.counts.requests == count)
            }
            try await pinned.client.shutdown()
        }
        try await client.shutdown()
    }

    @Test("so as many are handed over as requests were taken, and a failed request leaves nothing to the next one")
    func soAsManyAreHandedOverAsRequestsWereTaken() {
        let requests = AdmittedRequests()
        // Two at once; the connection takes one of them, and the other response came past it.
        requests.begin()
        requests.begin()
        requests.admit()
        #expect(requests.answer())
        #expect(!requests.answer())
        // One fails before a connection takes it: that of the other one counts for the other one.
        requests.begin()
        requests.begin()
        requests.admit()
        requests.fail()
        #expect(requests.answer())
        // One is taken after it failed, at a deadline, while the verdict was awaited.
        requests.begin()
        requests.fail()
        requests.admit()
        requests.begin()
        #expect(!requests.answer())
        // Beside one that runs on, such are not gathered: there are never more than requests.
        requests.begin()
        for _ in 0..<3 {
            requests.begin()
            requests.admit()
            requests.fail()
        }
        requests.begin()
        requests.begin()
        #expect(requests.answer())
        #expect(!requests.answer() && !requests.answer())
        // One is taken twice, and fails.
        requests.begin()
        requests.admit()
        requests.admit()
        requests.fail()
        requests.begin()
        #expect(!requests.answer())
    }

    @Test("so one that came past the gate ends the process where the configuration says so")
    func soOneThatCamePastTheGateEndsTheProcessWhereTheConfigurationSaysSo() async throws {
        let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let host = "api.example.com"
            let pki = try TestPKI([host])
            let scene = try PinnedScene(
                [PinnedScene.entry(host, [pki.leaf.pin])], roots: [pki.root],
                configure: { $0.stopsWithoutDecision = true })
            let client = try scene.client([host])
            let server = try client.client(for: #require(RequestTarget("https://\(host)/")))
            server.requests.begin()
            try? client.checkAdmitted(by: server)
        }
        let said = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("a connection that carries no decision"))
    }

    @Test("and the caller gets it as the server wrote it, behind a redirect, too", arguments: [false, true])
    func andTheCallerGetsItAsTheServerWroteItBehindARedirectToo(http2: Bool) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let base = "https://\(Self.host):\(server.port)"
            let response = try await client.execute(
                HTTPClientRequest(url: "\(base)/redirect?/"), timeout: .ample)
            let expected = http2 ? HTTPVersion(major: 2, minor: 0) : .http1_1
            #expect(response.version == expected)
            #expect(response.history.map(\.responseHead.version) == [expected, expected])
            #expect(response.history.map(\.request.url) == ["\(base)/redirect?/", "\(base)/"])
            #expect(response.url?.absoluteString == "\(base)/")
        }
        try await client.shutdown()
    }
}
#endif
