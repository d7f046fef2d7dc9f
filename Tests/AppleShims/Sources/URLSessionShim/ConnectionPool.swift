// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A connection that a session has.
final class SimulatedConnection: Sendable {
    let endpoint: SimulatedNetwork.Endpoint
    let version: String
    let localPort: Int

    init(_ endpoint: SimulatedNetwork.Endpoint, version: String, localPort: Int) {
        self.endpoint = endpoint
        self.version = version
        self.localPort = localPort
    }
}

/// The open connections of a session. One of HTTP/1.1 has one request at a time.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class ConnectionPool: @unchecked Sendable {
    private let lock = NSLock()
    private var open: [SimulatedConnection] = []
    private var busy: Set<ObjectIdentifier> = []
    private var known: Set<SimulatedNetwork.Endpoint> = []

    /// An open connection to a server that can take a request.
    func take(_ endpoint: SimulatedNetwork.Endpoint) -> SimulatedConnection? {
        self.lock.withLock {
            let found = self.open.first { connection in
                connection.endpoint == endpoint && !self.busy.contains(ObjectIdentifier(connection))
            }
            if let found, found.version == "http/1.1" { self.busy.insert(ObjectIdentifier(found)) }
            return found
        }
    }

    /// A new connection, which takes a request at once.
    func add(_ connection: SimulatedConnection) {
        self.lock.withLock {
            self.open.append(connection)
            self.known.insert(connection.endpoint)
            if connection.version == "http/1.1" { self.busy.insert(ObjectIdentifier(connection)) }
        }
    }

    /// The request is over.
    func giveBack(_ connection: SimulatedConnection) {
        _ = self.lock.withLock { self.busy.remove(ObjectIdentifier(connection)) }
    }

    /// Whether there ever was a connection to a server.
    func knows(_ endpoint: SimulatedNetwork.Endpoint) -> Bool { self.lock.withLock { self.known.contains(endpoint) } }

    /// Takes nothing more over the connections that are open.
    func flush() { self.lock.withLock { self.open = [] } }
}
