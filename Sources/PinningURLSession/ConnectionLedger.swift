// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
internal import Foundation

/// What a session knows of its connections: which path was validated for which server, and, once their first request
/// has ended, which server a connection was opened for.
///
/// URLSession shows no connections. What is known of one comes from the challenge for its server and from the metrics
/// of the requests on it.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class ConnectionLedger: @unchecked Sendable {
    /// A server, by its normalised name.
    struct Server: Hashable, Sendable {
        let host: HostName
        let port: Int
    }

    /// A connection, by its two ends.
    struct Endpoint: Hashable, Sendable {
        let local: String
        let remote: String
    }

    /// The most servers and connections that are remembered; beyond them the oldest are forgotten, and what is not known
    /// is refused where pins are enforced.
    private static let most = 1_024

    private let lock = NSLock()
    private var paths: [Server: ValidatedPath] = [:]
    private var judgedInOrder: [Server] = []
    private var openers: [Endpoint: Server] = [:]
    private var openedInOrder: [Endpoint] = []
    private var pending: [ObjectIdentifier: Server] = [:]

    /// Notes that a path was allowed for a server, by the challenge of a task.
    func allowed(_ path: ValidatedPath, for server: Server, task: ObjectIdentifier) {
        self.lock.withLock {
            if self.paths.updateValue(path, forKey: server) == nil { self.judgedInOrder.append(server) }
            if self.judgedInOrder.count > Self.most { self.paths[self.judgedInOrder.removeFirst()] = nil }
            self.pending[task] = server
        }
    }

    /// Notes that a connection was opened for a server.
    func opened(_ endpoint: Endpoint, for server: Server) {
        self.lock.withLock {
            if self.openers.updateValue(server, forKey: endpoint) == nil { self.openedInOrder.append(endpoint) }
            if self.openedInOrder.count > Self.most { self.openers[self.openedInOrder.removeFirst()] = nil }
        }
    }

    /// Notes that a task has ended: the connection that it opened, if it did, is known by now.
    func ended(_ task: ObjectIdentifier) { self.lock.withLock { self.pending[task] = nil } }

    /// The path that was validated for a server.
    func path(of server: Server) -> ValidatedPath? { self.lock.withLock { self.paths[server] } }

    /// The server that a connection was opened for.
    func opener(of endpoint: Endpoint) -> Server? { self.lock.withLock { self.openers[endpoint] } }

    /// All that was judged.
    var judged: [Server: ValidatedPath] { self.lock.withLock { self.paths } }

    /// The servers other than one whose connections may not be known by their ends: one was just opened, or none is.
    func judged(otherThan server: Server, needsEndpoint: Bool) -> [Server: ValidatedPath] {
        self.lock.withLock {
            let open = Set(self.openers.values)
            let pending = Set(self.pending.values)
            return self.paths.filter { other, _ in
                other != server && (!needsEndpoint || pending.contains(other) || !open.contains(other))
            }
        }
    }

    /// Forgets a server that new rules refuse.
    func forget(_ server: Server) {
        self.lock.withLock {
            self.paths[server] = nil
            self.judgedInOrder.removeAll { $0 == server }
        }
    }
}
#endif
