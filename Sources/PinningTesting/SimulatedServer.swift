// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import PinListClient
internal import PinListMetadata

/// Serves what a ``RepositorySimulator`` publishes to a client, without a network.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
public final class SimulatedServer: ListFetcher, @unchecked Sendable {
    /// A change of an honest answer on its way.
    public typealias Interference = @Sendable (FetchRequest, FetchResponse) async throws -> FetchResponse

    private let lock = NSLock()
    private var simulator: RepositorySimulator
    private var asked: [FetchRequest] = []
    private var interfering: Interference?

    /// The base address that clients are given.
    public static let address = "https://lists.example.com/v1/lists/com.example.app"

    /// Serves a repository.
    public init(_ repository: RepositorySimulator) { self.simulator = repository }

    /// The repository that is served.
    public var repository: RepositorySimulator {
        get { self.lock.withLock { self.simulator } }
        set { self.lock.withLock { self.simulator = newValue } }
    }

    /// Changes the repository.
    public func publish<Result>(_ body: (inout RepositorySimulator) throws -> Result) rethrows -> Result {
        try self.lock.withLock { try body(&self.simulator) }
    }

    /// The requests, the first one first.
    public var requests: [FetchRequest] { self.lock.withLock { self.asked } }

    /// The requested paths, without the base address.
    public var paths: [String] { self.requests.map { String($0.address.dropFirst(Self.address.count)) } }

    /// Removes the recorded requests.
    public func forgetRequests() { self.lock.withLock { self.asked = [] } }

    /// The network between the server and its clients, such as a lost or a slow connection.
    public var interference: Interference? {
        get { self.lock.withLock { self.interfering } }
        set { self.lock.withLock { self.interfering = newValue } }
    }

    /// Answers as formats.md, section 7, says; a body over the limit of the request is a failure, as while reading.
    public func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        let (answer, interference) = self.lock.withLock {
            self.asked.append(request)
            return (self.answer(request), self.interfering)
        }
        let response = try await interference?(request, answer) ?? answer
        guard response.body.count <= request.maximumBytes else { throw FetchError(.tooLarge, "the body goes on") }
        return response
    }

    private func answer(_ request: FetchRequest) -> FetchResponse {
        let path = request.address.dropFirst(Self.address.count)
        let body: [UInt8]?
        if path == "/pins.json" {
            body = self.simulator.answer(to: .pins)
        } else if path.hasPrefix("/root/"), path.hasSuffix(".json"), let version = Int64(path.dropFirst(6).dropLast(5))
        {
            body = self.simulator.answer(to: .root(version: version))
        } else if path.hasPrefix("/logs/"), path.hasSuffix(".json") {
            body = self.simulator.answer(to: .logs(digest: String(path.dropFirst(6).dropLast(5))))
        } else {
            body = nil
        }
        guard let body else { return FetchResponse(status: 404) }
        if request.ifNoneMatch == "\"\(Envelope.digest(of: body))\"" { return FetchResponse(status: 304) }
        return FetchResponse(status: 200, body: body)
    }
}

/// A transport without a network: every request fails, and nothing is sent.
public struct NoNetwork: ListFetcher, ReportSender {
    /// Creates the transport.
    public init() {}

    /// Fails.
    public func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        throw FetchError(.network, "there is no network")
    }

    /// Fails.
    public func send(_ body: [UInt8], to address: String) async throws -> FetchResponse {
        throw FetchError(.network, "there is no network")
    }
}
