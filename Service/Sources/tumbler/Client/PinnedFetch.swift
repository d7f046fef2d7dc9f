// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import CommandLineInterface
import NIOCore
import NIOHTTP1
import NIOSSL
import PinListClient
@_spi(Tools) import PinningNIO

/// A GET under the rules of a client: over as many servers as it is redirected to, each evaluated for its own host.
struct PinnedFetch {
    /// The most redirects.
    static let redirects = 5
    /// The longest wait for a connection.
    static let connectTimeout = TimeAmount.seconds(10)
    /// The longest wait for the first byte of an answer.
    static let answerTimeout = TimeAmount.seconds(30)
    /// The longest silence within an answer.
    static let readTimeout = TimeAmount.seconds(60)

    private let pinning: Pinning
    private let configuration: HTTPClient.Configuration
    private let places: [ConnectTo]
    private let allowsLocalRedirects: Bool

    /// Prepares it.
    ///
    /// - Parameters:
    ///   - pinning: Whose rules apply.
    ///   - configuration: AsyncHTTPClient's settings, with the anchors.
    ///   - places: The hosts that are asked elsewhere.
    ///   - allowsLocalRedirects: Whether a redirect is followed from a host of the world to this machine, or into a
    ///     network that the world does not reach. What is looked at is the address, not where it is asked.
    init(
        by pinning: Pinning, configuration: HTTPClient.Configuration, connectTo places: [ConnectTo],
        allowsLocalRedirects: Bool
    ) {
        self.pinning = pinning
        self.places = places
        self.allowsLocalRedirects = allowsLocalRedirects
        var configuration = configuration
        configuration.timeout = HTTPClient.Configuration.Timeout(
            connect: Self.connectTimeout, read: Self.readTimeout)
        configuration.connectionPool.retryConnectionEstablishment = false
        self.configuration = configuration
    }

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
        let place = self.places.first { $0.covers(address) }
        var configuration = self.configuration
        if let other = place?.otherHost {
            // AsyncHTTPClient looks for the host as it is written, our own handshake for the normalised one.
            configuration.dnsOverride[address.writtenHost] = other.description
            configuration.dnsOverride[address.host.description] = other.description
        }
        // Redirects are followed here, so that each of them is asked where `--connect-to` says.
        var options = PinnedHTTPClient.Options()
        options.redirects = 0
        let client = try PinnedHTTPClient(by: self.pinning, configuration: configuration, options: options)
        let next: FetchAddress?
        do {
            next = try await self.ask(address, at: place, client, decided, answered)
        } catch {
            try? await client.shutdown()
            throw Self.failure(error, address)
        }
        try? await client.shutdown()
        return next
    }

    private func ask(
        _ address: FetchAddress, at place: ConnectTo?, _ client: PinnedHTTPClient,
        _ decided: (PinningDecision) throws -> Void, _ answered: (HTTPClientResponse) async throws -> Void
    ) async throws -> FetchAddress? {
        var request = HTTPClientRequest(url: address.url(port: place?.otherPort))
        request.headers.add(name: "Host", value: address.hostHeader)
        request.headers.add(name: "User-Agent", value: "tumbler")
        request.headers.add(name: "Accept", value: "*/*")
        let response = try await client.execute(request, timeout: Self.answerTimeout)
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

    /// The error of the network, in words.
    private static func failure(_ error: any Error, _ address: FetchAddress) -> any Error {
        if error is PinningError || error is CommandError { return error }
        let reason =
            switch error {
            case let error as HTTPClientError: self.reason(for: error)
            case let error as PinningSetupError: error.reason
            case NIOSSLError.uncleanShutdown, HTTPParserError.invalidEOFState:
                "the server cut the connection before its answer was over"
            case let error as HTTPParserError: "its answer is not HTTP: \(error)"
            default: LiveServer.reason(for: error, .nanoseconds(Self.connectTimeout.nanoseconds))
            }
        return CommandError(.undecided, "\(address.host) port \(address.port): \(reason)")
    }

    private static func reason(for error: HTTPClientError) -> String {
        func seconds(_ time: TimeAmount) -> String { "\(time.nanoseconds / 1_000_000_000) s" }
        return switch error {
        case .deadlineExceeded: "no answer within \(seconds(Self.answerTimeout))"
        case .readTimeout: "nothing more of the answer for \(seconds(Self.readTimeout))"
        case .connectTimeout: "no connection within \(seconds(Self.connectTimeout))"
        case .remoteConnectionClosed: "the server closed the connection before its answer was over"
        default: "the request failed: \(error.shortDescription)"
        }
    }
}
