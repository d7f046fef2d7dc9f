// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
@_spi(Adapters) import PinListClient

/// The client of one server.
final class ServerClient: Sendable {
    let client: HTTPClient
    let connections: HTTPServerConnections
    /// The requests that its connections admitted.
    let requests: AdmittedRequests

    init(client: HTTPClient, connections: HTTPServerConnections, requests: AdmittedRequests) {
        self.client = client
        self.connections = connections
        self.requests = requests
    }
}

/// The clients of the recent servers, bounded: the least recently used one is removed.
struct ServerClients: Sendable {
    /// The maximum number of servers: each holds connections and a TLS context.
    static let capacity = 256

    /// The key: a server, and whether its connections are refused that lead to this machine or into a private network.
    private struct Key: Hashable {
        let target: RequestTarget
        let refusesLocalPeers: Bool
    }

    private var clients: [Key: (client: ServerClient, use: UInt64)] = [:]
    /// The server of the last request: mostly the next request has the same one, and often the same URL.
    private var newest: (target: RequestTarget, client: ServerClient)?
    /// A URL of that server, as a request had it.
    private var newestURL: String?
    private var plainClients: [Bool: HTTPClient] = [:]
    private var uses: UInt64 = 0
    private var isClosed = false

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
    /// - Returns: Its client, and one that has to be shut down.
    mutating func add(
        _ target: RequestTarget, refusingLocalPeers: Bool = false, _ make: () -> ServerClient
    ) throws -> (ServerClient, evicted: HTTPClient?) {
        guard !self.isClosed else { throw HTTPClientError.alreadyShutdown }
        if let known = self.client(for: target, refusingLocalPeers: refusingLocalPeers) { return (known, nil) }
        // What is asked for again and again is not counted each time.
        if let newest { self.used(newest.client, Key(target: newest.target, refusesLocalPeers: false)) }
        let client = make()
        self.used(client, Key(target: target, refusesLocalPeers: refusingLocalPeers))
        guard self.clients.count > Self.capacity, let oldest = self.clients.min(by: { $0.value.use < $1.value.use })
        else { return (client, nil) }
        self.clients[oldest.key] = nil
        return (client, oldest.value.client.client)
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
    mutating func removeAll() -> [HTTPClient] {
        defer {
            self.clients = [:]
            self.newest = nil
            self.newestURL = nil
            self.plainClients = [:]
        }
        return self.clients.values.map(\.client.client) + Array(self.plainClients.values)
    }

    /// Removes all clients and returns them; no new ones are created.
    mutating func close() -> [HTTPClient] {
        self.isClosed = true
        return self.removeAll()
    }
}
#endif
