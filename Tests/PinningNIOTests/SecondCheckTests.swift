// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOCore
import NIOHTTP1
@_spi(Adapters) import PinListClient
import Testing

@testable import PinningNIO

@Suite("A response is handed over only with a decision for its host")
struct SecondCheckTests {
    static let host = "api.example.com"

    @Test("so one that came past the gate is not")
    func soOneThatCamePastTheGateIsNot() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        let server = try client.client(for: #require(RequestTarget("https://\(Self.host)/")))
        // All that a server can write, and HTTP/2.
        for version in (0...9).flatMap({ major in (0...9).map { HTTPVersion(major: major, minor: $0) } }) {
            let refusal = #expect(throws: PinningError.self) {
                try client.checked(HTTPClientResponse(version: version), from: server)
            }
            #expect(refusal?.decision.verdict == .block)
            var marked = HTTPClientResponse(version: version)
            marked.version.mark()
            #expect(try client.checked(marked, from: server).version == version)
        }
        try await client.shutdown()
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
            _ = try? client.checked(HTTPClientResponse(version: .http1_1), from: server)
        }
        let said = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("a connection that carries no decision"))
    }

    @Test("and nothing of the mark is left in what the caller gets", arguments: [false, true])
    func andNothingOfTheMarkIsLeftInWhatTheCallerGets(http2: Bool) async throws {
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
