// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Foundation
import PinListClient
import PinningNIO
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

    private func scene(_ pin: (LongChain) throws -> Pin) throws -> ([TestCertificate], PinnedScene) {
        let long = try LongChain(.p256, intermediates: 2)
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pin(long)])], roots: [long.root])
        return (try long.chain(for: Self.host, certificates: 3), scene)
    }

    @Test(
        "is asked for its chain before it is connected to: a new client's requests are answered",
        .enabled(if: Self.servers.count == Server.allCases.count, "openssl or python3 is not installed"),
        arguments: Self.servers)
    func isAskedForItsChainBeforeItIsConnectedToANewClientsRequestsAreAnswered(_ server: Server) async throws {
        let (chain, scene) = try self.scene { try $0.root.pin }
        try await server.with(chain) { port in
            // The second one knows the server from the first.
            for _ in 1...2 {
                let client = try scene.client([Self.host])
                for _ in 1...3 {
                    let page = try await client.text("https://\(Self.host):\(port)/")
                    #expect(!page.isEmpty)
                }
                try await client.shutdown()
            }
        }
        #expect(scene.pinning.decisionCounts.keys.elementsEqual([.pinMatch]))
    }

    @Test(
        "is refused by name when its keys are not pinned",
        .enabled(if: Self.servers.count == Server.allCases.count, "openssl or python3 is not installed"),
        arguments: Self.servers)
    func isRefusedByNameWhenItsKeysAreNotPinned(_ server: Server) async throws {
        let (chain, scene) = try self.scene { _ in PinnedScene.strangePin }
        try await server.with(chain) { port in
            let client = try scene.client([Self.host])
            for _ in 1...2 {
                let refusal = await #expect(throws: PinningError.self) {
                    try await client.text("https://\(Self.host):\(port)/")
                }
                #expect(refusal?.decision.reason == .noMatchingPin)
            }
            try await client.shutdown()
        }
    }

    @Test("costs no more connections than before: one to ask and one to use, and for a new client none to ask")
    func costsNoMoreConnectionsThanBeforeOneToAskAndOneToUseAndForANewClientNoneToAsk() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain)) { server in
            for (count, _) in [(2, "first"), (3, "second")] {
                let client = try scene.client([Self.host])
                try await client.expectHello("https://\(Self.host):\(server.port)/")
                try await client.expectHello("https://\(Self.host):\(server.port)/")
                #expect(server.counts.connections == count)
                try await client.shutdown()
            }
        }
    }
}
#endif
