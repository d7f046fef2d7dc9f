// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Hummingbird
import NIOConcurrencyHelpers
import Testing

@testable import PinListServer

@Suite("Posting to a webhook")
struct WebhookSenderTests {
    @Test("a webhook that sends us on is not followed: what it is told stays with it")
    func redirected() async throws {
        let asked = NIOLockedValueBox<[String]>([])
        let router = Router()
        router.post("hook") { _, _ in
            asked.withLockedValue { $0.append("hook") }
            return Response(status: .temporaryRedirect, headers: [.location: "/elsewhere"])
        }
        router.post("elsewhere") { _, _ in
            asked.withLockedValue { $0.append("elsewhere") }
            return Response(status: .ok)
        }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) })
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: HTTPWebhookSender.configuration)
        let status = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            var iterator = ports.makeAsyncIterator()
            let open = try #require(await iterator.next())
            defer { group.cancelAll() }
            return try await HTTPWebhookSender(client: client).post(
                Array("{}".utf8), to: "http://127.0.0.1:\(open)/hook")
        }
        try await client.shutdown()
        #expect(status == 307)
        #expect(asked.withLockedValue { $0 } == ["hook"])
    }
}
