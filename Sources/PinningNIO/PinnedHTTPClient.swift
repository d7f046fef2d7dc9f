// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import AsyncHTTPClient
public import CertificatePinning
import Foundation
public import Logging
import NIOConcurrencyHelpers
public import NIOCore
import NIOHTTP1
public import NIOPosix
import NIOSSL
@_spi(Adapters) public import PinListClient

/// AsyncHTTPClient, pinned: HTTP/1.1 and HTTP/2, its requests and its responses, one client for all hosts.
///
/// Each server gets an `HTTPClient` of its own on shared event loops, for a connection is evaluated for one host. Not a
/// byte of a request leaves before the verdict. A refusal is thrown as a `PinningError`.
///
/// It keeps connections to the 256 servers that it was used for last, and to more of them only while they answer: none is
/// closed under a request or a response.
public final class PinnedHTTPClient: Sendable {
    /// The options of a client beside AsyncHTTPClient's configuration.
    public struct Options: Sendable {
        /// The maximum number of redirects that are followed; each is evaluated for its own host. With 0 the caller gets
        /// them.
        public var redirects = 5
        /// Whether a redirect is followed from a public host to `localhost`, or to a loopback, private or otherwise
        /// unreachable address. By default it fails with ``LocalRedirectError``, because services there often trust
        /// every caller.
        ///
        /// A name that leads to such an address is noticed on its connection, before a byte of the request is sent: on
        /// the redirect of an `https` host that is itself at a public address, and on all that follow. Behind a proxy
        /// only the written host is checked, and so it is where the configuration's `dnsOverride` names the address.
        public var allowsLocalRedirects = false
        /// The host of the world that redirected to the first URL, for tools that follow redirects themselves: a
        /// connection to a local or private address takes no request.
        @_spi(Tools) public var redirectedFrom: HostName?
        /// The time for which a request that was refused for its pins waits for a newer list, in seconds, to be sent
        /// once more under it. With 0, the default, it is refused at once; with more, at its deadline at the latest.
        /// `Pinning.run()` must be running. Only requests without a body are sent again, and only with a method that may
        /// be sent twice: not POST or PATCH, because a server has the request where new rules refused its open connection.
        public var secondsToWaitForNewerList = 0.0

        /// The defaults.
        public init() {}
    }

    /// The maximum number of connections which new rules refuse that a request meets, one after the other: AsyncHTTPClient
    /// keeps eight of HTTP/1.1 to a server by default, and each is met once.
    private static let retiredConnections = 32

    let pinning: Pinning
    let group: any EventLoopGroup
    let options: Options
    private let configuration: HTTPClient.Configuration
    private let tls: PinnedTLS
    let servers: NIOLockedValueBox<ServerClients>

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - pinning: The client whose rules apply.
    ///   - configuration: AsyncHTTPClient's settings. Its redirect mode is ignored: see ``Options/redirects``.
    ///   - options: The options that AsyncHTTPClient does not have.
    ///   - group: The event loops.
    /// - Throws: `PinningSetupError.Code.configuration` where a refusal would be ignored, or could not be decided: see
    ///   `HTTPClient.Configuration.pinned(by:for:port:on:)`.
    public init(
        by pinning: Pinning, configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
        options: Options = Options(), on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws {
        try configuration.checkPinnable(on: group)
        self.pinning = pinning
        self.group = group
        self.options = options
        self.tls = try PinnedTLS(
            by: pinning, configuration: configuration.tlsConfiguration ?? .makeClientConfiguration())
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        self.configuration = configuration
        self.servers = NIOLockedValueBox(ServerClients())
    }

    deinit {
        // AsyncHTTPClient must be shut down; running requests end.
        let clients = self.servers.withLockedValue { $0.removeAll() }
        for server in clients.pinned { _ = server.shutDown() }
        for client in clients.plain { client.shutdown { _ in } }
    }

    /// Ends all connections. Requests that are running fail.
    public func shutdown() async throws {
        let clients = self.servers.withLockedValue { $0.close() }
        for end in clients.pinned.map({ $0.shutDown() }) { try await end.get() }
        for client in clients.plain { try await client.shutdown() }
    }

    /// The numbers of handshakes with and without a cached path.
    public var pathCounts: PathCounts { self.tls.pathCounts }

    /// The newest decision on a connection to the server of a URL, for tools that show it; `nil` before the first, and
    /// for a URL without TLS.
    public func newestDecision(on url: String) -> PinningDecision? {
        guard let target = RequestTarget(url), target.isTLS else { return nil }
        return self.servers.withLockedValue { servers in
            let clients = [true, false].compactMap { servers.client(for: target, refusingLocalPeers: $0) }
            return clients.compactMap(\.connections.newestDecision).max { $0.at < $1.at }?.decision
        }
    }

    /// The host of a URL that was asked, when a redirect from it comes from the world: it was asked over TLS, and is a
    /// public name at a public address.
    ///
    /// A public name at a private address is a server of our own network, which may redirect to others there. Where the
    /// settings name its address themselves, its name alone decides.
    @_spi(Tools) public func hostOfTheWorld(in url: String) -> HostName? {
        guard let target = RequestTarget(url), target.isTLS, let host = try? HostName(target.host), !host.isLocal
        else { return nil }
        guard self.configuration.showsPeer(of: target.host) else { return host }
        return self.servers.withLockedValue { $0.client(for: target) }?.connections.isLocal == true ? nil : host
    }

    /// Refuses a redirect from a public host to this machine, or into a private network.
    private func checkRedirect(from target: RequestTarget, to next: HTTPClientRequest) throws {
        // A text that is not a host is refused by the request itself.
        guard !self.options.allowsLocalRedirects, let host = try? HostName(target.host),
            let place = RequestTarget(next.url).flatMap({ try? HostName($0.host) }),
            let refusal = LocalRedirectError(from: host, to: place)
        else { return }
        throw refusal
    }

    /// Sends a request, and follows redirects.
    ///
    /// - Parameters:
    ///   - request: The request. TLS settings of its own are refused: the anchors are the client's.
    ///   - deadline: The deadline of the answer.
    ///   - logger: For AsyncHTTPClient.
    /// - Throws: `PinningError` for a refusal by pinning, for any host on the way. ``LocalRedirectError``.
    ///   ``ConnectionRetiredError``: not a byte of a streamed body was sent. AsyncHTTPClient's own errors.
    public func execute(
        _ request: HTTPClientRequest, deadline: NIODeadline, logger: Logger? = nil
    ) async throws -> HTTPClientResponse {
        try await self.answer(to: request, deadline, logger)
    }

    /// Sends a request, and follows redirects.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - timeout: The time until the deadline of the answer.
    ///   - logger: For AsyncHTTPClient.
    /// - Throws: As ``execute(_:deadline:logger:)``.
    public func execute(
        _ request: HTTPClientRequest, timeout: TimeAmount, logger: Logger? = nil
    ) async throws -> HTTPClientResponse {
        try await self.answer(to: request, .now() + timeout, logger)
    }

    /// Sends a request. Where the server is known and its answer is not a redirect, which is the usual case, no
    /// asynchronous function is between this one and AsyncHTTPClient's: each would cost a frame, a switch of executors,
    /// and copies of the request and the response.
    @inline(__always)
    private func answer(
        to request: HTTPClientRequest, _ deadline: NIODeadline, _ logger: Logger?
    ) async throws -> HTTPClientResponse {
        guard let server = self.readyServer(for: request) else {
            return try await self.answerWithRedirects(to: request, nil, deadline, logger)
        }
        defer { self.release(server) }
        let response: HTTPClientResponse
        server.requests.begin()
        do {
            response = try await server.client.execute(request, deadline: deadline, logger: logger)
        } catch {
            server.requests.fail()
            return try await self.answerWithRedirects(to: request, (.failure(error), server), deadline, logger)
        }
        try self.checkAdmitted(by: server)
        if self.options.redirects <= 0 || !response.status.isRedirect { return response }
        return try await self.answerWithRedirects(to: request, (.success(response), server), deadline, logger)
    }

    /// The client of a request's server, when the request can be sent at once. It is held: ``release(_:)`` follows.
    private func readyServer(for request: HTTPClientRequest) -> ServerClient? {
        guard request.tlsConfiguration == nil, self.options.redirectedFrom == nil,
            self.options.secondsToWaitForNewerList <= 0 || !request.mayBeSentTwice
        else { return nil }
        return self.servers.withLockedValue { servers in
            guard let server = servers.client(forURL: request.url), server.connections.chain.isKnown else { return nil }
            server.hold()
            return server
        }
    }

    /// Sends a request, and follows redirects.
    ///
    /// - Parameter first: The outcome of the first attempt, if there was one.
    private func answerWithRedirects(
        to request: HTTPClientRequest, _ first: Attempt?, _ deadline: NIODeadline, _ logger: Logger?
    ) async throws -> HTTPClientResponse {
        var request = request
        var first = first
        var redirecting = self.options.redirectedFrom
        var history: [HTTPClientRequestResponse] = []
        while true {
            guard let target = RequestTarget(request.url) else { throw HTTPClientError.invalidURL }
            var response: HTTPClientResponse
            if let attempt = first {
                first = nil
                response = try await self.settled(attempt, request, deadline, logger)
            } else {
                response = try await self.send(request, to: target, from: redirecting, deadline, logger)
            }
            if !history.isEmpty { response.history.insert(contentsOf: history, at: 0) }
            guard self.options.redirects > 0, let next = request.followingRedirect(response) else { return response }
            try self.checkRedirect(from: target, to: next)
            if !self.options.allowsLocalRedirects {
                redirecting = redirecting ?? self.hostOfTheWorld(in: request.url)
            }
            history = response.history
            guard history.count <= self.options.redirects else { throw HTTPClientError.redirectLimitReached }
            request = next
        }
    }

    // MARK: One request to one server

    /// The outcome of one attempt to send a request to its server.
    private typealias Attempt = (result: Result<HTTPClientResponse, any Error>, server: ServerClient)

    /// Sends a request, and refuses a local or private address of its server when a host of the world redirected to it.
    private func send(
        _ request: HTTPClientRequest, to target: RequestTarget, from redirecting: HostName?, _ deadline: NIODeadline,
        _ logger: Logger?
    ) async throws -> HTTPClientResponse {
        let place = ServerPlace(
            target: target, refusesLocalPeers: redirecting != nil && self.configuration.showsPeer(of: target.host))
        do {
            return try await self.send(request, to: place, deadline, logger)
        } catch let error as LocalPeerError {
            guard let redirecting, let host = try? HostName(target.host) else { throw error }
            throw LocalRedirectError(from: redirecting, to: host, at: error.address ?? "an unknown address")
        }
    }

    /// A server, and whether a local or private address of it is refused.
    private struct ServerPlace {
        let target: RequestTarget
        let refusesLocalPeers: Bool
    }

    private func send(
        _ request: HTTPClientRequest, to place: ServerPlace, _ deadline: NIODeadline, _ logger: Logger?
    ) async throws -> HTTPClientResponse {
        guard place.target.isTLS else { return try await self.sendPlain(request, to: place, deadline, logger) }
        guard request.tlsConfiguration == nil else {
            throw PinningSetupError(.configuration, "a request has TLS settings of its own; give them to the client")
        }
        guard request.mayBeSentTwice, self.options.secondsToWaitForNewerList > 0 else {
            return try await self.sendPinned(request, to: place, deadline, logger)
        }
        let rules = self.pinning.policyInForce
        do {
            return try await self.sendPinned(request, to: place, deadline, logger)
        } catch let refusal as PinningError where refusal.isForPins {
            // After the deadline no answer can come, and the caller is told why.
            let left = Double((deadline - NIODeadline.now()).nanoseconds) / 1_000_000_000
            let seconds = min(self.options.secondsToWaitForNewerList, left)
            guard seconds > 0, await self.pinning.isList(newerThan: rules, within: seconds) else { throw refusal }
            return try await self.sendPinned(request, to: place, deadline, logger)
        }
    }

    private func sendPinned(
        _ request: HTTPClientRequest, to place: ServerPlace, _ deadline: NIODeadline, _ logger: Logger?
    ) async throws -> HTTPClientResponse {
        let server = try self.client(for: place.target, refusingLocalPeers: place.refusesLocalPeers)
        defer { self.release(server) }
        let presented =
            server.connections.chain.isKnown
            ? nil : try await server.connections.askFirst(on: self.group.any(), until: deadline)
        let attempt = (await self.sendOnce(request, to: server, deadline, logger), server)
        return try await self.settled(attempt, request, deadline, logger, presented: presented)
    }

    private func sendOnce(
        _ request: HTTPClientRequest, to server: ServerClient, _ deadline: NIODeadline, _ logger: Logger?
    ) async -> Result<HTTPClientResponse, any Error> {
        server.requests.begin()
        do {
            let response = try await server.client.execute(request, deadline: deadline, logger: logger)
            return Result { try self.checkAdmitted(by: server) }.map { response }
        } catch {
            server.requests.fail()
            return .failure(error)
        }
    }

    /// The response of an attempt, or of the next one. Throws the refusal behind an error, where there is
    /// one.
    ///
    /// - Parameter presented: The chain that the server presented, when it was asked for this request.
    private func settled(
        _ attempt: Attempt, _ request: HTTPClientRequest, _ deadline: NIODeadline, _ logger: Logger?,
        presented: [[UInt8]]? = nil
    ) async throws -> HTTPClientResponse {
        var result = attempt.result
        var (triesLeft, retiredLeft) = (2, Self.retiredConnections)
        while case .failure(let error) = result {
            if error is ConnectionRetiredError {
                // It has sent no byte of this request, so another connection may.
                await attempt.server.connections.endRefused()
                guard request.hasBodyInMemory, retiredLeft > 0 else { throw error }
                retiredLeft -= 1
            } else {
                guard triesLeft > 0, request.mayBeSentTwice, self.isOfLostConnection(error) else {
                    throw await self.explained(error, attempt.server, presented, deadline)
                }
                triesLeft -= 1
            }
            result = await self.sendOnce(request, to: attempt.server, deadline, logger)
        }
        return try result.get()
    }

    /// Whether an error is that of a connection that was closed, or retired, since AsyncHTTPClient chose it. It may also be
    /// that of a write within a request.
    private func isOfLostConnection(_ error: any Error) -> Bool {
        if error as? HTTPClientError == .cancelled {
            return !Task.isCancelled && !self.servers.withLockedValue { $0.isClosed }
        }
        return error.isOfClosedChannel
    }

    /// A request without TLS: refused before a connection is made when the host's entry enforces.
    private func sendPlain(
        _ request: HTTPClientRequest, to place: ServerPlace, _ deadline: NIODeadline, _ logger: Logger?
    ) async throws -> HTTPClientResponse {
        let decision = self.pinning.cleartextDecision(for: place.target.host, port: place.target.port)
        guard decision.verdict == .allow else { throw PinningError(decision) }
        let isRefusing = place.refusesLocalPeers
        let client = try self.servers.withLockedValue { servers in
            try servers.plain(refusingLocalPeers: isRefusing) {
                HTTPClient(
                    eventLoopGroup: self.group,
                    configuration: isRefusing ? self.configuration.refusingLocalPeers() : self.configuration)
            }
        }
        return try await client.execute(request, deadline: deadline, logger: logger)
    }

    /// The client of a server, for a request. It is held: ``release(_:)`` follows.
    ///
    /// - Parameter refusingLocalPeers: Whether a connection to this machine or into a private network takes no request.
    func client(for target: RequestTarget, refusingLocalPeers: Bool = false) throws -> ServerClient {
        let known = self.servers.withLockedValue { servers in
            let known = servers.client(for: target, refusingLocalPeers: refusingLocalPeers)
            known?.hold()
            return known
        }
        if let known { return known }
        let server = try self.tls.server(target.host, target.port)
        let requests = AdmittedRequests()
        let connections = self.configuration.connections(
            self.tls, server, .admission(requests), refusesLocalPeers: refusingLocalPeers)
        let (client, surplus) = try self.servers.withLockedValue { servers in
            let client = try servers.add(target, refusingLocalPeers: refusingLocalPeers) {
                ServerClient(
                    client: HTTPClient(
                        eventLoopGroup: self.group, configuration: self.configuration.hooked(to: connections)),
                    connections: connections, requests: requests)
            }
            client.hold()
            return (client, servers.removeSurplus())
        }
        self.end(surplus)
        return client
    }

    /// A request that held a client has its response, or failed.
    private func release(_ server: ServerClient) {
        guard server.release() else { return }
        self.end(self.servers.withLockedValue { $0.removeSurplus() })
    }

    /// Shuts down clients on which no request runs, each after the bodies of the responses that its connections have.
    private func end(_ surplus: [ServerClient]) {
        for server in surplus {
            EventLoopFuture.andAllComplete(server.connections.end(), on: self.group.any()).whenComplete { [servers] _ in
                guard servers.withLockedValue({ $0.remove(server) }) else { return }
                server.client.shutdown { _ in }
            }
        }
    }

    /// The second check: a response is handed over only when a connection that carries an allowing decision for the host of
    /// the request has taken a request. The first check is the gate; this one notices a gate that was bypassed.
    func checkAdmitted(by server: ServerClient) throws {
        guard server.requests.answer() else {
            precondition(
                !self.pinning.stopsWithoutDecision,
                "a response from a pinned host came over a connection that carries no decision")
            throw PinningError(
                server.connections.server.refusal(.chainInvalid, "the connection carries no decision").decision)
        }
    }

    /// The refusal behind AsyncHTTPClient's error, where there is one.
    private func explained(
        _ error: any Error, _ server: ServerClient, _ presented: [[UInt8]]?, _ deadline: NIODeadline
    ) async -> any Error {
        let host = server.connections.server.host.description
        if error.isRefusedCertificate {
            // NIOSSL's own validation: the platform's refusal comes first, with the platform's message.
            return await server.connections.explainRefusedChain(
                "\(error)", presented: presented, on: self.group.any(), until: deadline)
        }
        guard error.mayHideRefusal else { return error }
        return self.pinning.refusal(for: error, host: host) ?? error
    }
}

extension HTTPClientRequest {
    /// Whether a server may get it twice: its method is idempotent, and its body, which may be consumed, is none.
    fileprivate var mayBeSentTwice: Bool {
        switch self.method {
        case .GET, .HEAD, .OPTIONS, .TRACE, .PUT, .DELETE: self.body == nil
        default: false
        }
    }

    /// Whether its body, if it has one, can be sent again. AsyncHTTPClient knows that and has no accessor, so it is read by
    /// reflection: a body of which nothing is found is one that may be there once.
    fileprivate var hasBodyInMemory: Bool {
        guard let body = self.body.map({ Mirror(reflecting: $0) }) else { return true }
        return body.descendant("mode", "byteBuffer") != nil
            || body.descendant("mode", "sequence", "canBeConsumedMultipleTimes") as? Bool == true
    }
}

extension Error {
    /// Whether NIOSSL refused the chain or the name in it.
    fileprivate var isRefusedCertificate: Bool {
        if let error = self as? NIOSSLExtraError { return error == .failedToValidateHostname }
        guard case .handshakeFailed(.sslError(let stack))? = self as? NIOSSLError else { return false }
        return stack.contains { $0.description.contains("CERTIFICATE_VERIFY_FAILED") }
    }

    /// Whether something was to be sent on a channel that was closed before.
    fileprivate var isOfClosedChannel: Bool {
        guard case .ioOnClosedChannel? = self as? ChannelError else { return false }
        return true
    }

    /// Whether the error means that a connection was closed under a request, as when new rules deny its key.
    fileprivate var mayHideRefusal: Bool {
        switch self {
        case is PinningError: true
        case is LocalPeerError, is ConnectionRetiredError: false
        case let error as HTTPClientError: error == .remoteConnectionClosed || error == .cancelled
        // Without a connection there was no refusal here.
        case is NIOConnectionError: false
        case let error as IOError: error.errnoCode == ECONNRESET || error.errnoCode == EPIPE
        default: true
        }
    }
}
#endif
