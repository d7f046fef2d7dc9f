// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import PinningNIO

/// A body that counts what is asked of it.
struct CountedParts: AsyncSequence, Sendable {
    struct Iterator: AsyncIteratorProtocol {
        let parts: CountedParts
        var number = 0

        mutating func next() async -> ByteBuffer? {
            guard self.number < self.parts.count else { return nil }
            defer { self.number += 1 }
            let part = self.parts.part(self.number)
            self.parts.pulled.withLockedValue { $0 += part.readableBytes }
            return part
        }
    }

    let count: Int
    let pulled = NIOLockedValueBox(0)
    let part: @Sendable (Int) -> ByteBuffer

    var pulledBytes: Int { self.pulled.withLockedValue { $0 } }

    func makeAsyncIterator() -> Iterator { Iterator(parts: self) }
}

/// A connection whose request waits for a verdict.
enum HeldConnection {
    static let host = "api.example.com"

    /// A client of the app's own, whose first connection waits at its gate, for our own handshake with the server is
    /// kept waiting.
    static func with(
        http2: Bool,
        _ body: (PinnedScene, HTTPClient, LoopbackServer, CuttingRelay) async throws -> Void
    ) async throws {
        let pki = try TestPKI([self.host])
        let scene = try PinnedScene([PinnedScene.entry(self.host, [pki.leaf.pin])], roots: [pki.root])
        try await LoopbackServer.with(LoopbackServer.Identity(pki.chain), http2: http2) { server in
            try await CuttingRelay.with(to: server.port) { relay in
                relay.set(CuttingRelay.Plan(relayed: 1))
                var configuration = try scene.configuration([self.host])
                configuration.redirectConfiguration = .disallow
                let client = HTTPClient(
                    eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                    configuration: try configuration.pinned(by: scene.pinning, for: self.host, port: relay.port))
                let result: Result<Void, any Error>
                do { result = .success(try await body(scene, client, server, relay)) } catch {
                    result = .failure(error)
                }
                try await client.shutdown()
                try result.get()
            }
        }
    }

    /// A request that uploads a body.
    static func upload(_ parts: CountedParts, to port: Int, bytes: Int) -> HTTPClientRequest {
        var upload = HTTPClientRequest(url: "https://\(self.host):\(port)/digest")
        upload.method = .POST
        upload.body = .stream(parts, length: .known(Int64(bytes)))
        return upload
    }

    /// Gives those who pull at a body the time to do it.
    static func letOthersRun() async { for _ in 0..<20_000 { await Task.yield() } }
}
#endif
