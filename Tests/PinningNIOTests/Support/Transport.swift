// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOCore
import NIOHTTP1
import NIOPosix
import PinListClient
import PinningNIO

/// What a request is sent with. Each sends the same one, with a body, and gives what was answered.
enum Transport: String, CaseIterable {
    /// Our client.
    case pinnedHTTPClient
    /// An `HTTPClient` of the app's own, with a pinned configuration.
    case ownHTTPClient
    /// A channel of the app's own.
    case channel
    /// An `HTTPClient` that knows nothing of pins.
    case unpinned

    /// Those that pin.
    static let pinned: [Transport] = [.pinnedHTTPClient, .ownHTTPClient, .channel]

    /// The bytes of the request's body.
    static let bodyBytes = 4_321

    /// The time that a request may take.
    private static let deadline = TimeAmount.ample

    /// Sends the request.
    ///
    /// - Throws: What an app gets to see: the refusal that `Pinning.refusal(for:host:)` finds behind an error, else the
    ///   error.
    func post(by pinning: Pinning, on way: Way) async throws -> String {
        do {
            switch self {
            case .pinnedHTTPClient:
                let client = try PinnedHTTPClient(by: pinning, configuration: way.configuration, on: way.group)
                return try await Self.closing(client.shutdown) {
                    let response = try await client.execute(Self.request(way), timeout: Self.deadline)
                    return String(buffer: try await response.body.collect(upTo: 1_024))
                }
            case .ownHTTPClient:
                let configuration = try way.configuration.pinned(
                    by: pinning, for: Way.host, port: way.port, on: way.group)
                return try await Self.post(with: configuration, on: way)
            case .channel: return try await SpokenChannel.post(by: pinning, on: way)
            case .unpinned: return try await Self.post(with: way.configuration, on: way)
            }
        } catch {
            guard self != .unpinned, let refusal = pinning.refusal(for: error, host: Way.host) else { throw error }
            throw refusal
        }
    }

    private static func post(with configuration: HTTPClient.Configuration, on way: Way) async throws -> String {
        let client = HTTPClient(eventLoopGroup: way.group, configuration: configuration)
        return try await Self.closing(client.shutdown) {
            let response = try await client.execute(Self.request(way), timeout: Self.deadline)
            return String(buffer: try await response.body.collect(upTo: 1_024))
        }
    }

    private static func request(_ way: Way) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "https://\(Way.host):\(way.port)/")
        request.method = .POST
        request.body = .bytes(ByteBuffer(repeating: UInt8(ascii: "x"), count: Self.bodyBytes))
        return request
    }

    /// Ends a client after any outcome of its request.
    private static func closing(
        _ shutdown: () async throws -> Void, _ body: () async throws -> String
    ) async throws -> String {
        let result: Result<String, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        try await shutdown()
        return try result.get()
    }
}
#endif
