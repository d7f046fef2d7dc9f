// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CommandLineInterface
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One request to a Tumbler service, under the platform's validation alone: no pin applies, so that a bad list cannot
/// keep out its replacement. Redirects are not followed: a token is for one server.
struct ServiceClient: Sendable {
    /// The timeouts.
    struct Patience: Sendable {
        /// The longest wait for a connection, in milliseconds.
        var connectMilliseconds: Int64 = 10_000
        /// The longest wait for a whole answer, in milliseconds: a publication is evaluated, stored and synchronised.
        var totalMilliseconds: Int64 = 60_000
    }

    /// A request.
    struct Request: Sendable {
        /// The method.
        var method: HTTPMethod
        /// The address.
        var url: String
        /// JSON, if there is a body.
        var body: [UInt8]?
        /// The most bytes of an answer.
        var maximumBytes: Int
        /// The condition on what is replaced: `If-Match` or `If-None-Match`, and its value.
        var condition: (field: String, value: String)?
    }

    /// The most bytes of an answer that is only a confirmation or a problem.
    static let confirmationBytes = 65_536

    /// The service.
    let address: ServiceAddress

    private let token: ServiceToken?
    private let patience: Patience

    /// Names a service and what opens it.
    ///
    /// - Parameters:
    ///   - address: The service.
    ///   - token: The token to send; none when `nil`.
    ///   - patience: The timeouts.
    init(_ address: ServiceAddress, _ token: ServiceToken?, patience: Patience = Patience()) {
        self.address = address
        self.token = token
        self.patience = patience
    }

    /// Sends a request once.
    ///
    /// - Throws: ``ServiceResponseError`` when there is no whole answer.
    func ask(_ request: Request) async throws(ServiceResponseError) -> ServiceAnswer {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: .makeClientConfiguration(), redirectConfiguration: .disallow)
        configuration.timeout.connect = .milliseconds(self.patience.connectMilliseconds)
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
        let answer: Result<ServiceAnswer, any Error>
        do { answer = .success(try await self.ask(request, client)) } catch { answer = .failure(error) }
        try? await client.shutdown()
        do { return try answer.get() } catch let silence as ServiceResponseError { throw silence } catch {
            throw ServiceResponseError(error, self.patience)
        }
    }

    private func ask(_ request: Request, _ client: HTTPClient) async throws -> ServiceAnswer {
        var message = HTTPClientRequest(url: request.url)
        message.method = request.method
        message.headers.add(name: "User-Agent", value: "tumbler")
        message.headers.add(name: "Accept", value: "application/json, application/problem+json")
        if let token { message.headers.add(name: "Authorization", value: token.authorization) }
        if let condition = request.condition { message.headers.add(name: condition.field, value: condition.value) }
        if let body = request.body {
            message.headers.add(name: "Content-Type", value: "application/json")
            message.body = .bytes(body)
        }
        let prepared = message
        return try await withThrowingTaskGroup(of: ServiceAnswer.self) { group in
            group.addTask {
                let deadline = NIODeadline.now() + .milliseconds(self.patience.totalMilliseconds)
                let response = try await client.execute(prepared, deadline: deadline)
                return try await Self.read(response, maximumBytes: request.maximumBytes)
            }
            // The deadline above is for the head; this one is for all of it.
            group.addTask {
                try await Task.sleep(nanoseconds: UInt64(self.patience.totalMilliseconds) * 1_000_000)
                throw HTTPClientError.deadlineExceeded
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw HTTPClientError.cancelled }
            return first
        }
    }

    private static func read(_ response: HTTPClientResponse, maximumBytes: Int) async throws -> ServiceAnswer {
        var body: [UInt8] = []
        for try await bytes in response.body {
            guard body.count + bytes.readableBytes <= maximumBytes else {
                throw ServiceResponseError("its answer is over \(maximumBytes) bytes", mayHaveArrived: true)
            }
            body += bytes.readableBytesView
        }
        return ServiceAnswer(
            status: Int(response.status.code), body: body,
            contentType: response.headers.first(name: "Content-Type") ?? "",
            entityTag: response.headers.first(name: "ETag"))
    }
}
