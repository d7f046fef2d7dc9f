// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Crypto
import NIOCore
import NIOHTTP1
import PinListClient
import PinningNIO
import Testing

@Suite("Bodies of 5 MB")
struct StreamedBodyTests {
    static let host = "api.example.com"

    /// The pattern, part by part as it is asked for.
    private struct Parts: AsyncSequence, Sendable {
        struct Iterator: AsyncIteratorProtocol {
            var next = 0

            mutating func next() async -> ByteBuffer? {
                guard self.next < BodyPattern.parts else { return nil }
                defer { self.next += 1 }
                return BodyPattern.part(self.next)
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator() }
    }

    @Test("pass through a pinned connection whole, both ways", arguments: [false, true])
    func passThroughAPinnedConnectionWholeBothWays(http2: Bool) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [pki.leaf.pin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            var upload = HTTPClientRequest(url: "https://\(Self.host):\(server.port)/digest")
            upload.method = .POST
            upload.body = .stream(Parts(), length: .known(Int64(BodyPattern.bytes)))
            let answer = try await client.execute(upload, timeout: .ample)
            #expect(String(buffer: try await answer.body.collect(upTo: 1_024)) == BodyPattern.digest)

            let download = HTTPClientRequest(url: "https://\(Self.host):\(server.port)/pattern")
            let response = try await client.execute(download, timeout: .ample)
            var digest = SHA256()
            var count = 0
            for try await part in response.body {
                part.withUnsafeReadableBytes { digest.update(bufferPointer: $0) }
                count += part.readableBytes
            }
            #expect(count == BodyPattern.bytes)
            #expect(BodyPattern.text(digest.finalize()) == BodyPattern.digest)
        }
        try await client.shutdown()
    }

    @Test("reach a server whose keys are not pinned with no byte", arguments: [false, true])
    func reachAServerWhoseKeysAreNotPinnedWithNoByte(http2: Bool) async throws {
        let pki = try TestPKI([Self.host])
        let scene = try PinnedScene([PinnedScene.entry(Self.host, [PinnedScene.strangePin])], roots: [pki.root])
        let client = try scene.client([Self.host])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            var upload = HTTPClientRequest(url: "https://\(Self.host):\(server.port)/digest")
            upload.method = .POST
            upload.body = .stream(Parts(), length: .unknown)
            let request = upload
            let refusal = await #expect(throws: PinningError.self) {
                try await client.execute(request, timeout: .ample)
            }
            #expect(refusal?.decision.reason == .noMatchingPin)
            #expect(server.counts.requests == 0 && server.counts.requestBytes == 0)
        }
        try await client.shutdown()
    }
}
#endif
