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
    ///     network that the world does not reach. Where `--connect-to` names such a place, or there is a proxy, only the
    ///     written host is looked at.
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
        var redirecting: HostName?
        for _ in 0...Self.redirects {
            guard let next = try await self.ask(address, from: redirecting, decided, answered) else { return }
            (address, redirecting) = next
        }
        throw CommandError(.undecided, "over \(Self.redirects) redirects")
    }

    /// The target of a redirect, and the first host of the world on the way to it.
    private typealias Redirect = (target: FetchAddress, redirecting: HostName?)

    /// Asks one server.
    ///
    /// - Parameter redirecting: The host of the world that redirected to it.
    /// - Returns: The redirect; `nil` when its answer was the answer.
    private func ask(
        _ address: FetchAddress, from redirecting: HostName?, _ decided: (PinningDecision) throws -> Void,
        _ answered: (HTTPClientResponse) async throws -> Void
    ) async throws -> Redirect? {
        let way = try await self.connections.way(to: address.host, address.port, isTLS: address.isTLS)
        if let redirecting, way.isResolved, way.host.isLocal {
            throw Self.failure(LocalRedirectError(from: redirecting, to: address.host, at: way.host.description))
        }
        var configuration = try self.connections.configuration(for: address, way)
        configuration.timeout.read = TimeAmount(
            min(Self.readTimeout, self.connections.totalTimeout ?? Self.readTimeout))
        // Redirects are followed here, so that each of them is asked where `--connect-to` says.
        var options = PinnedHTTPClient.Options()
        options.redirects = 0
        options.redirectedFrom = redirecting
        let client = try PinnedHTTPClient(by: self.pinning, configuration: configuration, options: options)
        let next: Redirect?
        do {
            next = try await self.ask(address, at: way, client, decided, answered).map { target in
                guard !self.allowsLocalRedirects else { return (target, nil) }
                let isInside = way.isResolved && way.host.isLocal
                let url = address.url(port: way.port)
                return (target, redirecting ?? (isInside ? nil : client.hostOfTheWorld(in: url)))
            }
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
            throw Self.failure(refusal)
        }
        return next
    }

    private static func failure(_ refusal: LocalRedirectError) -> CommandError {
        CommandError(.undecided, "\(refusal)", hint: "--allow-local-redirects follows it")
    }

    /// The failure of the network, in words.
    private func failure(_ error: any Error, _ address: FetchAddress) -> any Error {
        if error is PinningError { return error }
        if let refusal = error as? LocalRedirectError { return Self.failure(refusal) }
        return NetworkProblem.failure(
            "\(address.host) port \(address.port)", error, self.connections, answer: self.answerTimeout)
    }
}
