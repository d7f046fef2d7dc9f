// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1

/// Sends a notification. A protocol, so that tests see what would go out.
protocol WebhookSender: Sendable {
    /// Posts JSON to an address.
    ///
    /// - Returns: The status of the answer.
    /// - Throws: What the network says.
    func post(_ body: [UInt8], to address: String) async throws -> Int
}

/// Over HTTPS, with the platform's validation.
struct HTTPWebhookSender: WebhookSender {
    /// How long a webhook may take.
    static let timeout: TimeAmount = .seconds(15)

    /// Addresses are secrets: where one sends us on is not followed.
    static var configuration: HTTPClient.Configuration { HTTPClient.Configuration(redirectConfiguration: .disallow) }

    /// Made with ``configuration``.
    let client: HTTPClient

    func post(_ body: [UInt8], to address: String) async throws -> Int {
        var request = HTTPClientRequest(url: address)
        request.method = .POST
        request.headers = ["Content-Type": "application/json", "User-Agent": "tumbler"]
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await self.client.execute(request, timeout: Self.timeout)
        return Int(response.status.code)
    }
}
