// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
internal import Foundation
@_spi(Adapters) internal import PinListClient

/// The known connections of a session: which path was validated for which server, and, once their first request
/// has ended, which server a connection was opened for.
///
/// URLSession shows no connections. The facts about one come from the challenge for its server and from the metrics
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

    /// The maximum number of connections, and of tasks that open one. Beyond it the oldest are removed; an unknown
    /// connection is refused where pins are enforced.
    private static let maximum = 1_024

    private let shared: AllowedPaths
    private let own = AllowedPaths()
    private let lock = NSLock()
    private var openers: [Endpoint: Opener] = [:]
    private var openedInOrder: [Endpoint] = []
    private var pending: [ObjectIdentifier: Server] = [:]

    /// The server of a connection between two ends.
    private enum Opener: Equatable {
        case one(Server)
        /// Connections to several servers had these ends, one after the other or, behind a relay, at once: the ends do not
        /// identify the server.
        case several
    }

    /// Creates a ledger for a session.
    ///
    /// - Parameter shared: The allowed paths in all sessions of the client.
    init(shared: AllowedPaths) { self.shared = shared }

    /// Records that a path was allowed for a server, by the challenge of a task.
    func allowed(_ path: ValidatedPath, for server: Server, task: ObjectIdentifier) {
        self.shared.note(path, for: server)
        self.own.note(path, for: server)
        self.lock.withLock {
            self.pending[task] = server
            // A task whose own delegate takes its metrics never ends here. A removed server may be behind any
            // connection again, as if no connection of it were known.
            guard self.pending.count > Self.maximum, let given = self.pending.first(where: { $0.key != task }) else {
                return
            }
            self.pending[given.key] = nil
            self.openers = self.openers.filter { $0.value != .one(given.value) }
            self.openedInOrder.removeAll { self.openers[$0] == nil }
        }
    }

    /// The number of tasks that have opened a connection and not ended.
    var pendingCount: Int { self.lock.withLock { self.pending.count } }

    /// Records that a connection was opened for a server. Ends that another server's connection also had identify
    /// neither.
    func opened(_ endpoint: Endpoint, for server: Server) {
        self.lock.withLock {
            let before = self.openers[endpoint]
            self.openers[endpoint] = before == nil || before == .one(server) ? .one(server) : .several
            if before == nil { self.openedInOrder.append(endpoint) }
            if self.openedInOrder.count > Self.maximum { self.openers[self.openedInOrder.removeFirst()] = nil }
        }
    }

    /// Records that a task has ended: a connection that it opened is known by now.
    func ended(_ task: ObjectIdentifier) { self.lock.withLock { self.pending[task] = nil } }

    /// The path that was validated for a server, in this session or, for a TLS session that is resumed, in another one.
    func path(of server: Server) -> ValidatedPath? { self.own.path(of: server) ?? self.shared.path(of: server) }

    /// The server of a connection, if it is known and no other server's connection had the same ends.
    func opener(of endpoint: Endpoint) -> Server? {
        guard case .one(let server) = self.lock.withLock({ self.openers[endpoint] }) else { return nil }
        return server
    }

    /// Whether connections to several servers had these ends.
    func isAmbiguous(_ endpoint: Endpoint) -> Bool { self.lock.withLock { self.openers[endpoint] == .several } }

    /// All servers and paths that were evaluated in this session.
    var evaluated: [Server: ValidatedPath] { self.own.all }

    /// The other servers with connections that their ends may not identify: one was just opened, or none is known.
    func evaluated(otherThan server: Server, needsEndpoint: Bool) -> [Server: ValidatedPath] {
        let (open, pending) = self.lock.withLock { (Array(self.openers.values), Set(self.pending.values)) }
        return self.own.all.filter { other, _ in
            other != server && (!needsEndpoint || pending.contains(other) || !open.contains(.one(other)))
        }
    }

    /// Removes a server that new rules refuse.
    func forget(_ server: Server) {
        self.own.forget(server)
        self.shared.forget(server)
    }
}
#endif
