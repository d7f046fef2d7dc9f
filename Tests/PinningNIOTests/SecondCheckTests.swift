// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import NIOHTTP1
@_spi(Adapters) import PinListClient
import Testing

@testable import PinningNIO

@Suite("A response is handed over only with a decision for its host")
struct SecondCheckTests {
    static let host = "api.example.com"

    @Test("so one that came past the gate is not, even with a mark of the server's own")
    func unmarked() async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        let target = try #require(RequestTarget("https://\(Self.host)/"))
        let server = try client.client(for: target)
        for headers: HTTPHeaders in [[:], [ResponseMark.name: "1-2"], [ResponseMark.name: ""]] {
            let refusal = #expect(throws: PinningError.self) {
                try client.checked(HTTPClientResponse(headers: headers), from: server)
            }
            #expect(refusal?.decision.verdict == .block)
        }
        let marked = HTTPClientResponse(headers: [ResponseMark.name: server.mark, "Server": "x"])
        #expect(try client.checked(marked, from: server).headers == ["Server": "x"])
        try await client.shutdown()
    }

    @Test("and marks differ from server to server")
    func marks() async throws {
        let scene = try PinnedScene([], roots: [TestPKI([]).root])
        let client = try scene.client([])
        let marks = try ["https://a.example/", "https://b.example/", "https://a.example:444/"].map {
            try client.client(for: #require(RequestTarget($0))).mark
        }
        #expect(Set(marks).count == 3)
        try await client.shutdown()
    }
}
#endif
