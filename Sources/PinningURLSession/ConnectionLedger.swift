// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
internal import Foundation
@_spi(Adapters) internal import PinListClient

/// What a session knows of its connections: which path was validated for which server, and, once their first request
/// has ended, which server a connection was opened for.
///
/// URLSession shows no connections. What is known of one comes from the challenge for its server and from the metrics
/// of the requests on it.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class ConnectionLedger: @unchecked Sendable {
    /// A server, by its normalised name.
    typealias Server = AllowedPaths.Server

    /// A connection, by its two ends.
    struct Endpoint: Hashable, Sendable {
        let local: String
        let remote: String
    }

    /// The most connections, and tasks that open one, that are remembered; beyond them the oldest are forgotten, and what
    /// is not known is refused where pins are enforced.
    private static let maximum = 1_024

    private let shared: AllowedPaths
    private let own = AllowedPaths()
    private let lock = NSLock()
    private var openers: [Endpoint: Opener] = [:]
    private var openedInOrder: [Endpoint] = []
    private var pending: [ObjectIdentifier: Server] = [:]

    /// Who opened a connection between two ends.
    private enum Opener: Equatable {
        case one(Server)
        /// Connections to several servers had these ends, one after the other or, behind a relay, at once: the ends do not
        /// say which it is.
        case several
    }

    /// A ledger for a session.
    ///
    /// - Parameter shared: What was allowed in all sessions of the client.
    init(shared: AllowedPaths) { self.shared = shared }

    /// Notes that a path was allowed for a server, by the challenge of a task.
    func allowed(_ path: ValidatedPath, for server: Server, task: ObjectIdentifier) {
        self.shared.note(path, for: server)
        self.own.note(path, for: server)
        self.lock.withLock {
            self.pending[task] = server
            // A task whose own delegate takes its metrics never ends here. What is given up may be behind any connection
            // again, as if no connection of that server were known.
            guard self.pending.count > Self.maximum, let given = self.pending.first(where: { $0.key != task }) else {
                return
            }
            self.pending[given.key] = nil
            self.openers = self.openers.filter { $0.value != .one(given.value) }
            self.openedInOrder.removeAll { self.openers[$0] == nil }
        }
    }

    /// How many tasks have opened a connection and not ended.
    var pendingCount: Int { self.lock.withLock { self.pending.count } }

    /// Notes that a connection was opened for a server. Ends that another server's connection has had name neither.
    func opened(_ endpoint: Endpoint, for server: Server) {
        self.lock.withLock {
            let before = self.openers[endpoint]
            self.openers[endpoint] = before == nil || before == .one(server) ? .one(server) : .several
            if before == nil { self.openedInOrder.append(endpoint) }
            if self.openedInOrder.count > Self.maximum { self.openers[self.openedInOrder.removeFirst()] = nil }
        }
    }

    /// Notes that a task has ended: the connection that it opened, if it did, is known by now.
    func ended(_ task: ObjectIdentifier) { self.lock.withLock { self.pending[task] = nil } }

    /// The path that was validated for a server, in this session or, for a TLS session that is resumed, in another one.
    func path(of server: Server) -> ValidatedPath? { self.own.path(of: server) ?? self.shared.path(of: server) }

    /// The server that a connection was opened for, if it is known and no other's had the same ends.
    func opener(of endpoint: Endpoint) -> Server? {
        guard case .one(let server) = self.lock.withLock({ self.openers[endpoint] }) else { return nil }
        return server
    }

    /// Whether connections to several servers had these ends.
    func isAmbiguous(_ endpoint: Endpoint) -> Bool { self.lock.withLock { self.openers[endpoint] == .several } }

    /// All that was evaluated in this session.
    var evaluated: [Server: ValidatedPath] { self.own.all }

    /// The servers other than one whose connections may not be known by their ends: one was just opened, or none is.
    func evaluated(otherThan server: Server, needsEndpoint: Bool) -> [Server: ValidatedPath] {
        let (open, pending) = self.lock.withLock { (Array(self.openers.values), Set(self.pending.values)) }
        return self.own.all.filter { other, _ in
            other != server && (!needsEndpoint || pending.contains(other) || !open.contains(.one(other)))
        }
    }

    /// Forgets a server that new rules refuse.
    func forget(_ server: Server) {
        self.own.forget(server)
        self.shared.forget(server)
    }
}
#endif
