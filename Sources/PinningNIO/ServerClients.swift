// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import NIOConcurrencyHelpers
import NIOCore
@_spi(Adapters) import PinListClient

/// The client of one server.
final class ServerClient: Sendable {
    let client: HTTPClient
    let connections: HTTPServerConnections
    /// The requests that its connections admitted.
    let requests: AdmittedRequests
    /// The number of requests that hold it.
    private let holders = NIOLockedValueBox(0)

    init(client: HTTPClient, connections: HTTPServerConnections, requests: AdmittedRequests) {
        self.client = client
        self.connections = connections
        self.requests = requests
    }

    /// Whether a request runs on it: from its beginning to the head of its response. What holds the client until the end of
    /// the body is the connection that it comes over.
    var isHeld: Bool { self.holders.withLockedValue { $0 > 0 } }

    /// A request begins. Under the lock of the ``ServerClients`` that it was found in, so that it is not removed meanwhile.
    func hold() { self.holders.withLockedValue { $0 += 1 } }

    /// Shuts it down, with what runs on it.
    ///
    /// AsyncHTTPClient leaves a connection of HTTP/2 alone that was told to end, and waits for its streams.
    func shutDown() -> EventLoopFuture<Void> {
        let end: EventLoopFuture<Void> = self.client.shutdown()
        self.connections.close()
        return end
    }

    /// A request that began has its response, or failed.
    ///
    /// - Returns: Whether no request holds the client any more.
    func release() -> Bool {
        self.holders.withLockedValue { holders in
            holders -= 1
            return holders == 0
        }
    }
}

/// The clients of the recent servers. Above ``capacity`` those leave on which no request runs, the least recently used one
/// first: a client that is shut down fails what runs on it.
///
/// So there are more only while requests to more servers run: as many more, at most, as there are such requests. A client
/// that left is shut down when its connections have finished the responses that they have.
struct ServerClients: Sendable {
    /// The number of servers that are kept: each holds connections and a TLS context.
    static let capacity = 256

    /// The key: a server, and whether its connections are refused that lead to this machine or into a private network.
    private struct Key: Hashable {
        let target: RequestTarget
        let refusesLocalPeers: Bool
    }

    private let capacity: Int
    private var clients: [Key: (client: ServerClient, use: UInt64)] = [:]
    /// The clients that left and are not shut down yet.
    private var leaving: [ObjectIdentifier: ServerClient] = [:]
    /// The server of the last request: mostly the next request has the same one, and often the same URL.
    private var newest: (target: RequestTarget, client: ServerClient)?
    /// A URL of that server, as a request had it.
    private var newestURL: String?
    private var plainClients: [Bool: HTTPClient] = [:]
    private var uses: UInt64 = 0
    private(set) var isClosed = false

    init(capacity: Int = Self.capacity) { self.capacity = capacity }

    /// The client of the server of a URL with TLS, when it is known.
    mutating func client(forURL url: String) -> ServerClient? {
        if let newest, let newestURL, newestURL == url { return newest.client }
        guard let target = RequestTarget(url), target.isTLS, let known = self.client(for: target) else { return nil }
        self.newestURL = url
        return known
    }

    /// The client of a known server.
    mutating func client(for target: RequestTarget, refusingLocalPeers: Bool = false) -> ServerClient? {
        if !refusingLocalPeers, let newest, newest.target == target { return newest.client }
        let key = Key(target: target, refusesLocalPeers: refusingLocalPeers)
        guard let known = self.clients[key]?.client else { return nil }
        self.used(known, key)
        return known
    }

    private mutating func used(_ client: ServerClient, _ key: Key) {
        self.uses += 1
        self.clients[key] = (client, self.uses)
        guard !key.refusesLocalPeers else { return }
        self.newest = (key.target, client)
        self.newestURL = nil
    }

    /// Adds a server, unless another request did meanwhile.
    ///
    /// - Returns: Its client.
    mutating func add(
        _ target: RequestTarget, refusingLocalPeers: Bool = false, _ make: () -> ServerClient
    ) throws -> ServerClient {
        guard !self.isClosed else { throw HTTPClientError.alreadyShutdown }
        if let known = self.client(for: target, refusingLocalPeers: refusingLocalPeers) { return known }
        // What is asked for again and again is not counted each time.
        if let newest { self.used(newest.client, Key(target: newest.target, refusesLocalPeers: false)) }
        let client = make()
        self.used(client, Key(target: target, refusesLocalPeers: refusingLocalPeers))
        return client
    }

    /// Removes the clients above the capacity on which no request runs.
    ///
    /// - Returns: Them: each is to be shut down when its connections have ended, unless ``remove(_:)`` says that it was.
    mutating func removeSurplus() -> [ServerClient] {
        guard self.clients.count > self.capacity else { return [] }
        let idle = self.clients.filter { !$0.value.client.isHeld }.sorted { $0.value.use < $1.value.use }
        return idle.prefix(self.clients.count - self.capacity).map { key, value in
            self.clients[key] = nil
            self.leaving[ObjectIdentifier(value.client)] = value.client
            if self.newest?.client === value.client { (self.newest, self.newestURL) = (nil, nil) }
            return value.client
        }
    }

    /// Removes a client that left.
    ///
    /// - Returns: Whether it is to be shut down now: it was not removed with all others before.
    mutating func remove(_ client: ServerClient) -> Bool {
        self.leaving.removeValue(forKey: ObjectIdentifier(client)) != nil
    }

    /// The client for requests without TLS.
    mutating func plain(refusingLocalPeers: Bool, _ make: () -> HTTPClient) throws -> HTTPClient {
        guard !self.isClosed else { throw HTTPClientError.alreadyShutdown }
        if let known = self.plainClients[refusingLocalPeers] { return known }
        let client = make()
        self.plainClients[refusingLocalPeers] = client
        return client
    }

    /// Removes all clients and returns them, to be shut down.
    mutating func removeAll() -> (pinned: [ServerClient], plain: [HTTPClient]) {
        defer {
            self.clients = [:]
            self.leaving = [:]
            self.newest = nil
            self.newestURL = nil
            self.plainClients = [:]
        }
        return (self.clients.values.map(\.client) + self.leaving.values, Array(self.plainClients.values))
    }

    /// Removes all clients and returns them; no new ones are created.
    mutating func close() -> (pinned: [ServerClient], plain: [HTTPClient]) {
        self.isClosed = true
        return self.removeAll()
    }
}
#endif
