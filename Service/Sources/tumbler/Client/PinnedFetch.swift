// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import CommandLineInterface
import NIOCore
import NIOHTTP1
import PinListClient
@_spi(Tools) import PinningNIO

/// A GET under the rules of a client: over as many servers as it is redirected to, each evaluated for its own host.
struct PinnedFetch {
    /// The maximum number of redirects (formats.md, section 8).
    static let redirects = 5
    /// The maximum wait for the first byte of an answer: a slow page, and not a server that hangs
    /// (docs/guides/fetch-as-a-pinned-app.md).
    static let answerTimeout: Duration = .seconds(30)
    /// The maximum silence within an answer: a long download may take any time while bytes come.
    static let readTimeout: Duration = .seconds(60)

    private let pinning: Pinning
    private let connections: Connections
    private let allowsLocalRedirects: Bool

    /// Prepares it.
    ///
    /// - Parameters:
    ///   - pinning: Whose rules apply.
    ///   - connections: How servers are reached, and how long it may take.
    ///   - allowsLocalRedirects: Whether a redirect is followed from a host of the world to this machine, or into a
    ///     network that the world does not reach. What is looked at is the address, not where it is asked.
    init(
        by pinning: Pinning, connections: Connections, allowsLocalRedirects: Bool
    ) {
        self.pinning = pinning
        self.connections = connections
        self.allowsLocalRedirects = allowsLocalRedirects
    }

    /// The maximum wait for the first byte of an answer.
    private var answerTimeout: Duration { min(Self.answerTimeout, self.connections.totalTimeout ?? Self.answerTimeout) }

    /// Gets a page.
    ///
    /// - Parameters:
    ///   - address: Its address.
    ///   - decided: The closure that gets each decision that let a request through, before the answer.
    ///   - answered: Is given the answer, and reads its body.
    /// - Throws: `PinningError` for what pinning refused; ``CommandError`` for what the network did.
    func get(
        _ address: FetchAddress, decided: (PinningDecision) throws -> Void,
        answered: (HTTPClientResponse) async throws -> Void
    ) async throws {
        var address = address
        for _ in 0...Self.redirects {
            guard let next = try await self.ask(address, decided, answered) else { return }
            address = next
        }
        throw CommandError(.undecided, "over \(Self.redirects) redirects")
    }

    /// Asks one server.
    ///
    /// - Returns: The target of the redirect; `nil` when its answer was the answer.
    private func ask(
        _ address: FetchAddress, _ decided: (PinningDecision) throws -> Void,
        _ answered: (HTTPClientResponse) async throws -> Void
    ) async throws -> FetchAddress? {
        let way = try await self.connections.way(to: address.host, address.port, isTLS: address.isTLS)
        var configuration = try self.connections.configuration(for: address, way)
        configuration.timeout.read = TimeAmount(
            min(Self.readTimeout, self.connections.totalTimeout ?? Self.readTimeout))
        // Redirects are followed here, so that each of them is asked where `--connect-to` says.
        var options = PinnedHTTPClient.Options()
        options.redirects = 0
        let client = try PinnedHTTPClient(by: self.pinning, configuration: configuration, options: options)
        let next: FetchAddress?
        do {
            next = try await self.ask(address, at: way, client, decided, answered)
        } catch {
            try? await client.shutdown()
            throw self.failure(error, address)
        }
        try? await client.shutdown()
        return next
    }

    private func ask(
        _ address: FetchAddress, at way: Connections.Way, _ client: PinnedHTTPClient,
        _ decided: (PinningDecision) throws -> Void, _ answered: (HTTPClientResponse) async throws -> Void
    ) async throws -> FetchAddress? {
        var request = HTTPClientRequest(url: address.url(port: way.port == address.port ? nil : way.port))
        request.headers.add(name: "Host", value: address.hostHeader)
        request.headers.add(name: "User-Agent", value: "tumbler")
        request.headers.add(name: "Accept", value: "*/*")
        let response = try await client.execute(request, timeout: TimeAmount(self.answerTimeout))
        // Asked again for a request without TLS: it was allowed a moment ago, by the same rules at the same time.
        let decision =
            address.isTLS
            ? client.newestDecision(on: request.url)
            : self.pinning.cleartextDecision(for: address.host.description, port: address.port)
        guard let decision else {
            throw CommandError(.undecided, "\(address.host): an answer came without a decision")
        }
        try decided(decision)
        guard [301, 302, 303, 307, 308].contains(response.status.code),
            let location = response.headers.first(name: "Location")
        else {
            try await answered(response)
            return nil
        }
        guard let next = address.redirected(to: location) else {
            throw CommandError(
                .undecided, "\(address.host) redirects to \(location), which is not an https or http URL")
        }
        if !self.allowsLocalRedirects, let refusal = LocalRedirectError(from: address.host, to: next.host) {
            throw CommandError(.undecided, "\(refusal)", hint: "--allow-local-redirects follows it")
        }
        return next
    }

    /// The failure of the network, in words.
    private func failure(_ error: any Error, _ address: FetchAddress) -> any Error {
        if error is PinningError { return error }
        return NetworkProblem.failure(
            "\(address.host) port \(address.port)", error, self.connections, answer: self.answerTimeout)
    }
}
