// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CommandLineInterface
import NIOCore
import NIOHTTP1
import NIOPosix
import PinListMetadata

/// One request to a Tumbler service, under the platform's validation alone: no pin applies, so that a bad list cannot
/// keep out its replacement. Redirects are not followed: a token is for one server.
struct ServiceClient: Sendable {
    /// A request to the service.
    struct Request: Sendable {
        /// The method.
        var method: HTTPMethod
        /// The address.
        var url: String
        /// JSON, if there is a body.
        var body: [UInt8]?
        /// The maximum number of bytes of an answer.
        var maximumBytes: Int
        /// The condition on what is replaced: `If-Match` or `If-None-Match`, and its value.
        var condition: (field: String, value: String)?
    }

    /// The maximum number of bytes of an answer that is only a confirmation or a problem: the service writes some
    /// hundred.
    static let confirmationBytes = 65_536

    /// The service.
    let address: ServiceAddress

    /// The maximum wait for a whole answer: a publication is evaluated, stored and synchronised.
    static let totalTimeout: Duration = .seconds(60)

    private let token: ServiceToken?

    /// The connections by which it is reached.
    let connections: Connections

    /// Names a service and what opens it.
    ///
    /// - Parameters:
    ///   - address: The service.
    ///   - token: What is sent along; nothing when `nil`.
    ///   - connections: How it is reached, and how long that may take.
    init(_ address: ServiceAddress, _ token: ServiceToken?, connections: Connections = Connections()) {
        self.address = address
        self.token = token
        self.connections = connections
    }

    /// Sends a request once.
    ///
    /// - Throws: ``ServiceResponseError`` when there is no whole answer.
    func ask(_ request: Request) async throws(ServiceResponseError) -> ServiceAnswer {
        let answer: Result<ServiceAnswer, any Error>
        do {
            guard let address = FetchAddress(request.url) else { throw HTTPClientError.invalidURL }
            // What is not encrypted stays on this machine, and the token with it.
            var connections = self.connections
            if !address.isTLS { connections.proxies = .none }
            let way = try await connections.way(to: address.host, address.port, isTLS: address.isTLS)
            guard address.isTLS || ReportAddress.isLoopback(way.host) else {
                throw CommandError(
                    .usage, "without TLS a service is asked on this machine alone, and \(way.host) is another")
            }
            var configuration = try connections.configuration(for: address, way)
            // With HTTP/2 a status that is no number of three digits would end the process.
            configuration.httpVersion = .http1Only
            let client = HTTPClient(
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
            do { answer = .success(try await self.ask(request, address, way, client)) } catch {
                answer = .failure(error)
            }
            try? await client.shutdown()
        } catch { answer = .failure(error) }
        do { return try answer.get() } catch let silence as ServiceResponseError { throw silence } catch {
            throw ServiceResponseError(error, self.connections)
        }
    }

    private func ask(
        _ request: Request, _ address: FetchAddress, _ way: Connections.Way, _ client: HTTPClient
    ) async throws -> ServiceAnswer {
        let timeout = self.connections.totalTimeout ?? Self.totalTimeout
        var message = HTTPClientRequest(url: address.url(port: way.port == address.port ? nil : way.port))
        message.headers.add(name: "Host", value: address.hostHeader)
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
                let deadline = NIODeadline.now() + TimeAmount(timeout)
                let response = try await client.execute(prepared, deadline: deadline)
                return try await Self.read(response, maximumBytes: request.maximumBytes)
            }
            // The deadline above is for the head; this one is for all of it.
            group.addTask {
                try await Task.sleep(for: timeout)
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
            status: Int(clamping: response.status.code), body: body,
            contentType: response.headers.first(name: "Content-Type") ?? "",
            entityTag: response.headers.first(name: "ETag"))
    }
}
