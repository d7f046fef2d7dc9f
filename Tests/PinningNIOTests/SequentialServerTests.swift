// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import PinListClient
import PinningNIO
import PinningTesting
import Testing

@Suite("A server that takes one connection at a time")
struct SequentialServerTests {
    static let host = "api.example.com"

    /// Which one.
    enum Server: CaseIterable {
        case openssl, python

        var isInstalled: Bool { (self == .openssl ? Program.openssl : HTTPServer.python) != nil }

        /// Runs it while something is done with it.
        func with(_ chain: [TestCertificate], _ body: (_ port: Int) async throws -> Void) async throws {
            guard self == .python else { return try await OpenSSLServer.with(chain, [], body) }
            let python = try #require(HTTPServer.python)
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("Support/sequential-server.py")
            try await withTemporaryFolder { folder in
                for (name, text) in [
                    ("chain.pem", try chain.map { try $0.pem }.joined()), ("key.pem", try chain[0].keyPEM),
                ] {
                    try text.write(to: folder.appendingPathComponent(name), atomically: false, encoding: .utf8)
                }
                try await withRunningProcess(python, [script.path, "chain.pem", "key.pem"], in: folder) { process in
                    let port = try #require(await process.nextLine().flatMap { Int($0) }, "the server did not start")
                    try await body(port)
                }
            }
        }
    }

    private static let servers = Server.allCases.filter(\.isInstalled)

    /// A client that asks such a server before it connects.
    enum Client: CaseIterable {
        case ours, ofTheApp

        /// Makes one for a port of loopback, does something with what gets a page, and shuts it down.
        func with(
            _ port: Int, in scene: PinnedScene, _ body: (_ page: () async throws -> String) async throws -> Void
        ) async throws {
            let url = "https://\(SequentialServerTests.host):\(port)/"
            var configuration = try scene.configuration([SequentialServerTests.host])
            let result: Result<Void, any Error>
            switch self {
            case .ours:
                let client = try PinnedHTTPClient(by: scene.pinning, configuration: configuration)
                do { result = .success(try await body { try await client.text(url) }) } catch {
                    result = .failure(error)
                }
                try await client.shutdown()
            case .ofTheApp:
                configuration.redirectConfiguration = .disallow
                let pinned = try await configuration.pinned(
                    by: scene.pinning, asking: SequentialServerTests.host, port: port)
                let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: pinned)
                do {
                    try await body {
                        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .ample)
                        return String(buffer: try await response.body.collect(upTo: 1_048_576))
                    }
                    result = .success(())
                } catch { result = .failure(error) }
                try await client.shutdown()
            }
            try result.get()
        }
    }

    private func scene(_ pin: (LongChain) throws -> Pin) throws -> ([TestCertificate], PinnedScene) {
        let long = try LongChain(.p256, intermediates: 2)
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pin(long)])], roots: [long.root])
        return (try long.chain(for: Self.host, certificates: 3), scene)
    }

    @Test(
        "is asked for its chain before it is connected to: a new client's requests are answered",
        .enabled(if: Self.servers.count == Server.allCases.count, "openssl or python3 is not installed"),
        arguments: Self.servers, Client.allCases)
    func isAskedForItsChainBeforeItIsConnectedToANewClientsRequestsAreAnswered(
        _ server: Server, _ client: Client
    ) async throws {
        let (chain, scene) = try self.scene { try $0.root.pin }
        try await server.with(chain) { port in
            // The second one knows the server from the first.
            for _ in 1...2 {
                try await client.with(port, in: scene) { get in
                    for _ in 1...3 {
                        let page = try await get()
                        #expect(!page.isEmpty)
                    }
                }
            }
        }
        #expect(scene.pinning.decisionCounts.keys.elementsEqual([.pinMatch]))
    }

    @Test(
        "is refused by name when its keys are not pinned",
        .enabled(if: Self.servers.count == Server.allCases.count, "openssl or python3 is not installed"),
        arguments: Self.servers, Client.allCases)
    func isRefusedByNameWhenItsKeysAreNotPinned(_ server: Server, _ client: Client) async throws {
        let (chain, scene) = try self.scene { _ in PinnedScene.strangePin }
        try await server.with(chain) { port in
            try await client.with(port, in: scene) { get in
                for _ in 1...2 {
                    let refusal = await #expect(throws: PinningError.self) { try await get() }
                    #expect(refusal?.decision.reason == .noMatchingPin)
                }
            }
        }
    }

    @Test(
        "costs no more connections than before: one to ask and one to use, and for a new client none to ask",
        arguments: Client.allCases)
    func costsNoMoreConnectionsThanBeforeOneToAskAndOneToUseAndForANewClientNoneToAsk(_ client: Client) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            for count in 2...3 {
                try await client.with(server.port, in: scene) { get in
                    for _ in 1...2 {
                        let page = try await get()
                        #expect(page == "hello")
                    }
                }
                #expect(server.counts.connections == count)
            }
        }
    }

    @Test("is not asked beside a connection whose certificate is past its end: the refusal says why at once")
    func isNotAskedBesideAConnectionWhoseCertificateIsPastItsEndTheRefusalSaysWhyAtOnce() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        // After the end of the certificates by our clock, and before it by that of the TLS library.
        scene.clock.advance(by: 91 * 86_400)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            try await Client.ours.with(server.port, in: scene) { get in
                let refusal = await #expect(throws: PinningError.self) { try await get() }
                #expect(refusal?.decision.reason == .chainInvalid)
                #expect(refusal?.description.contains("could not be found") == false)
            }
            #expect(server.counts.requestBytes == 0)
            // One to ask, and one to use.
            #expect(server.counts.connections == 2)
        }
    }

    @Test(
        "refuses an app's own client that did not ask, until it was asked behind a closed connection; then it answers")
    func refusesAnAppsOwnClientThatDidNotAskUntilItWasAskedBehindAClosedConnectionThenItAnswers() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            try await CuttingRelay.with(to: server.port) { relay in
                // The second connection waits, as it does in the queue of such a server.
                relay.set(CuttingRelay.Plan(relayed: 1))
                var configuration = try scene.configuration([Self.host])
                configuration.redirectConfiguration = .disallow
                let client = HTTPClient(
                    eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                    configuration: try configuration.pinned(by: scene.pinning, for: Self.host, port: relay.port))
                let request = HTTPClientRequest(url: "https://\(Self.host):\(relay.port)/")
                let first = Task { try await client.execute(request, timeout: .ample).status }
                await relay.untilHeld(1)
                #expect(server.counts.requests == 0)
                // The handshake that asks is given up; from here on the server is free when a connection was closed.
                relay.set(CuttingRelay.Plan())
                relay.answerHeld(.failure(ChannelError.eof))
                let refusal = await #expect(throws: PinningError.self) { try await first.value }
                #expect(refusal?.decision.reason == .chainInvalid)
                await server.untilIdle(after: 2)
                #expect(server.counts.requestBytes == 0)
                let result = await Task { try await client.execute(request, timeout: .ample).status }.result
                try await client.shutdown()
                #expect(try result.get() == .ok)
                #expect(server.counts.requests == 1)
                // One that was refused, one to ask, one to use.
                #expect(server.counts.connections == 3)
            }
        }
    }

    @Test("is no server that an app's own client is made for when it hangs up before it shows its chain")
    func isNoServerThatAnAppsOwnClientIsMadeForWhenItHangsUpBeforeItShowsItsChain() async throws {
        let (_, scene) = try self.scene { try $0.root.pin }
        var configuration = try scene.configuration([Self.host])
        configuration.redirectConfiguration = .disallow
        let unpinned = configuration
        // No connection is relayed, so the port behind it is never tried.
        try await CuttingRelay.with(to: 1) { relay in
            relay.set(CuttingRelay.Plan(relayed: 0))
            let port = relay.port
            let made = Task { try await unpinned.pinned(by: scene.pinning, asking: Self.host, port: port) }
            await relay.untilHeld(1)
            relay.answerHeld(.failure(ChannelError.eof))
            await #expect(throws: (any Error).self) { try await made.value }
        }
    }
}
#endif
