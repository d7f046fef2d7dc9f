// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import PinListServer

/// A webhook on loopback that keeps what it is told, and a client for it: both end with the body, whether it throws or not.
struct WebhookReceiver: Sendable {
    /// The address, without a slash at its end.
    let address: String
    /// Posts as the service does.
    let sender: HTTPWebhookSender
    private let posts: NIOLockedValueBox<[(path: String, body: [UInt8])]>

    /// The bodies that it got, the first first.
    var bodies: [[UInt8]] { self.posts.withLockedValue { $0.map(\.body) } }

    /// The paths that it got, the first first.
    var paths: [String] { self.posts.withLockedValue { $0.map(\.path) } }

    /// Runs a webhook beside `body`.
    ///
    /// - Parameters:
    ///   - answer: What it answers at a path.
    ///   - body: Is told of it.
    /// - Throws: What `body` throws.
    static func with<Result: Sendable>(
        answering answer: @escaping @Sendable (_ path: String) -> Response = { _ in Response(status: .accepted) },
        _ body: @Sendable (WebhookReceiver) async throws -> Result
    ) async throws -> Result {
        let posts = NIOLockedValueBox<[(path: String, body: [UInt8])]>([])
        let router = Router()
        router.post("**") { request, _ in
            let bytes = try await request.body.collect(upTo: 1 << 20)
            posts.withLockedValue { $0.append((request.uri.path, Array(bytes.readableBytesView))) }
            return answer(request.uri.path)
        }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) })
        // A slow machine is no slow webhook.
        var configuration = HTTPWebhookSender.configuration
        configuration.timeout.connect = TimeAmount.ample
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { port.finish() }
                    try await server.run()
                }
                defer { group.cancelAll() }
                var iterator = ports.makeAsyncIterator()
                let open = try #require(await iterator.next())
                return try await body(
                    WebhookReceiver(
                        address: "http://127.0.0.1:\(open)",
                        sender: HTTPWebhookSender(client: client, timeout: .ample), posts: posts))
            }
        }
    }
}
