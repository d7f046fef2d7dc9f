// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import PinListClient
import PinningNIO
import Testing

@Suite("Many requests at once")
struct ConcurrentRequestTests {
    static let host = "api.example.com"

    /// Sends requests at once.
    static func ask(_ client: PinnedHTTPClient, _ urls: [String]) async -> [(url: String, Result<String, any Error>)] {
        await withTaskGroup(of: (url: String, Result<String, any Error>).self) { group in
            for url in urls {
                group.addTask {
                    do { return (url, .success(try await client.text(url))) } catch { return (url, .failure(error)) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("200 requests to one host: all answered with the right pin", arguments: [false, true])
    func of200RequestsToOneHostAllAnsweredWithTheRightPin(http2: Bool) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let urls = Array(repeating: "https://\(Self.host):\(server.port)/", count: 200)
            for (_, result) in await Self.ask(client, urls) {
                let text = try result.get()
                #expect(text == "hello")
            }
            #expect(server.counts.requests == 200)
        }
        try await client.shutdown()
    }

    @Test(
        "200 requests to one host whose keys are not pinned: all refused by name, not one byte of them sent",
        arguments: [false, true])
    func of200RequestsToOneHostWhoseKeysAreNotPinnedAllRefusedByName(http2: Bool) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let urls = Array(repeating: "https://\(Self.host):\(server.port)/", count: 200)
            for (_, result) in await Self.ask(client, urls) {
                let refusal = #expect(throws: PinningError.self) { try result.get() }
                #expect(refusal?.decision.reason == .noMatchingPin)
            }
            #expect(server.counts.requests == 0)
            #expect(server.counts.requestBytes == 0)
        }
        try await client.shutdown()
    }

    @Test("requests to ten hosts on one server, of which every other one has a wrong pin", arguments: [false, true])
    func requestsToTenHostsOnOneServerOfWhichEveryOtherOneHasAWrongPin(http2: Bool) async throws {
        let hosts = (0..<10).map { "h\($0).example.com" }
        let pki = try TestPKI(hosts)
        let entries = try hosts.enumerated().map { index, host in
            try PinnedScene.entry(host, [index % 2 == 0 ? pki.intermediate.pin : PinnedScene.strangePin])
        }
        let scene = try PinnedScene(entries, roots: [pki.root])
        let client = try scene.client(hosts)
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            let urls = (0..<10).flatMap { _ in hosts.map { "https://\($0):\(server.port)/" } }
            for (url, result) in await Self.ask(client, urls) {
                let isRight = stride(from: 0, to: 10, by: 2).contains { url.contains("//h\($0).") }
                switch result {
                case .success(let text): #expect(isRight && text == "hello", "\(url)")
                case .failure(let error):
                    let refusal = try #require(error as? PinningError, "\(url): \(error)")
                    #expect(!isRight && url.contains("//\(refusal.host):") && refusal.decision.reason == .noMatchingPin)
                }
            }
            #expect(server.counts.requests == 50)
        }
        try await client.shutdown()
    }
}
#endif
