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

    /// A path that was validated for a server.
    struct Known: Hashable, Sendable {
        let server: Server
        let path: ValidatedPath

        // The leaf tells nearly all paths apart, and a whole path is several kilobytes.
        func hash(into hasher: inout Hasher) {
            hasher.combine(self.server)
            hasher.combine(self.path.certificates.first)
        }
    }

    /// The maximum number of connections, and of tasks that open one. Beyond it the connections that were not used for the
    /// longest time are forgotten, and any of the tasks ends.
    private static let maximum = 1_024
    /// The maximum number of paths of a server whose connections are not known by their ends.
    private static let maximumUnlocated = 4

    private let shared: AllowedPaths
    private let own = AllowedPaths()
    private let lock = NSLock()
    private var openers = RecentlyUsed<Endpoint, Opener>(maximum: ConnectionLedger.maximum)
    /// By task and server, the paths of its challenges whose connections are not known by their ends yet.
    private var pending: [ObjectIdentifier: [Server: [ValidatedPath]]] = [:]
    /// The servers with connections whose tasks ended before their ends were known, and their newest paths: they may still be
    /// open.
    private var unlocated: [Server: [ValidatedPath]] = [:]
    /// The path that a server showed last, where it was refused since.
    private var forgotten = RecentlyUsed<Server, ValidatedPath>(maximum: ConnectionLedger.maximum)

    /// What a connection was opened for.
    struct Opening: Sendable {
        /// The server.
        let server: Server
        /// The paths that its challenge allowed: one, but where a task had several challenges for the server; none where
        /// nothing is known of it: it resumed another one's TLS session, or another delegate answered its challenge.
        let paths: [ValidatedPath]
    }

    /// The server of a connection between two ends.
    private enum Opener {
        case one(Opening)
        /// Connections to several servers had these ends, one after the other or, behind a relay, at once: the ends do not
        /// identify the server.
        case several

        /// Whether nothing is known of its path: once it is forgotten, it would pass for one of its server's others.
        var isUnevaluated: Bool {
            guard case .one(let opening) = self else { return false }
            return opening.paths.isEmpty
        }
    }

    /// Creates a ledger for a session.
    ///
    /// - Parameter shared: The allowed paths in all sessions of the client.
    init(shared: AllowedPaths) { self.shared = shared }

    /// Records that a path was allowed for a server, by the challenge of a task.
    ///
    /// - Parameter isCovered: Whether an entry covers the server.
    func allowed(_ path: ValidatedPath, for server: Server, isCovered: Bool, task: ObjectIdentifier) {
        self.shared.note(path, for: server, isCovered: isCovered)
        self.own.note(path, for: server, isCovered: isCovered)
        self.lock.withLock {
            self.forgotten.remove(server)
            self.pending[task, default: [:]][server, default: []].append(path)
            // A task whose own delegate takes its metrics never ends here.
            guard self.pending.count > Self.maximum, let given = self.pending.first(where: { $0.key != task }) else {
                return
            }
            self.end(given.key)
        }
    }

    /// Ends a task. What it opened without its ends being known may be behind any connection.
    private func end(_ task: ObjectIdentifier) {
        guard let servers = self.pending.removeValue(forKey: task) else { return }
        for (server, paths) in servers { self.cannotLocate(paths, of: server) }
    }

    private func cannotLocate(_ paths: [ValidatedPath], of server: Server) {
        for path in paths {
            let others = self.unlocated[server, default: []].filter { $0 != path }
            self.unlocated[server] = others.suffix(Self.maximumUnlocated - 1) + [path]
        }
        guard self.unlocated.count > Self.maximum else { return }
        let known = self.own.all
        self.unlocated = self.unlocated.filter { known[$0.key] != nil }
    }

    /// The number of tasks that have opened a connection and not ended.
    var pendingCount: Int { self.lock.withLock { self.pending.count } }

    /// Records that a task opened a connection for a server, by what its challenge allowed. Ends that another connection also
    /// had, to another server or with another path, identify neither.
    ///
    /// - Parameter mayBeResumed: Whether it resumed a TLS session where there was no challenge for it: then it is behind the
    ///   path that the server showed last. `false` where another delegate may have answered the challenge: then nothing is
    ///   known of it.
    /// - Returns: Whether there was a challenge for it.
    @discardableResult
    func opened(
        _ endpoint: Endpoint, for server: Server, task: ObjectIdentifier, mayBeResumed: Bool = true
    ) -> Bool {
        let known = mayBeResumed ? self.path(of: server) : nil
        return self.lock.withLock {
            let challenged = self.pending[task]?.removeValue(forKey: server) ?? []
            // One of several is still to be located.
            if challenged.count > 1 { self.cannotLocate(challenged, of: server) }
            let opening = Opening(server: server, paths: challenged.isEmpty ? known.map { [$0] } ?? [] : challenged)
            var opener = Opener.one(opening)
            switch self.openers.values[endpoint] {
            case nil: break
            case .one(let before) where before.server == server && before.paths == opening.paths: break
            case .one(let before):
                self.cannotLocate(before.paths, of: before.server)
                self.cannotLocate(opening.paths, of: server)
                opener = .several
            case .several:
                self.cannotLocate(opening.paths, of: server)
                opener = .several
            }
            self.openers.set(opener, for: endpoint, isKept: opener.isUnevaluated)
            return !challenged.isEmpty
        }
    }

    /// The same for a connection whose ends are not shown.
    func opened(for server: Server, task: ObjectIdentifier, mayBeResumed: Bool) -> Bool {
        let known = mayBeResumed ? self.path(of: server) : nil
        return self.lock.withLock {
            if self.pending[task]?[server] != nil { return true }
            if let known { self.cannotLocate([known], of: server) }
            return false
        }
    }

    /// Records that a task has ended: the ends of a connection that it opened are known by now, or never.
    func ended(_ task: ObjectIdentifier) { self.lock.withLock { self.end(task) } }

    /// The path that was validated for a server, in this session or, for a TLS session that is resumed, in another one.
    func path(of server: Server) -> ValidatedPath? {
        // Both are asked: what is used here is used for the other sessions, too.
        let (own, shared) = (self.own.path(of: server), self.shared.path(of: server))
        return own ?? shared
    }

    /// What a connection was opened for, if it is known and no other server's connection had the same ends.
    func opener(of endpoint: Endpoint) -> Opening? {
        guard case .one(let opening) = self.lock.withLock({ self.openers.use(endpoint) }) else { return nil }
        return opening
    }

    /// Whether connections to several servers had these ends.
    func isAmbiguous(_ endpoint: Endpoint) -> Bool {
        guard case .several = self.lock.withLock({ self.openers.use(endpoint) }) else { return false }
        return true
    }

    /// All servers and paths that were evaluated in this session.
    var evaluated: [Server: ValidatedPath] { self.own.all }

    /// The paths of connections that are known by their ends.
    private var opened: [Opening] {
        self.lock.withLock {
            self.openers.values.values.compactMap { opener in
                guard case .one(let opening) = opener else { return nil }
                return opening
            }
        }
    }

    /// The paths that may be behind an open connection: the last one of each server, those of connections that are known by
    /// their ends or will be when their tasks end, and the newest of those that are not.
    var known: Set<Known> {
        let (pending, unlocated) = self.lock.withLock { (Array(self.pending.values), self.unlocated) }
        var known = Set(self.own.all.map { Known(server: $0.key, path: $0.value) })
        for opening in self.opened { known.formUnion(opening.paths.map { Known(server: opening.server, path: $0) }) }
        for paths in pending + [unlocated] {
            for (server, paths) in paths { known.formUnion(paths.map { Known(server: server, path: $0) }) }
        }
        return known
    }

    /// The servers whose connections a running task has opened, with the paths that its challenges allowed.
    func opened(by task: ObjectIdentifier) -> [Server: [ValidatedPath]] {
        self.lock.withLock { self.pending[task] ?? [:] }
    }

    /// The other servers with connections that their ends may not identify: one was just opened, one of them never became
    /// known, or none is.
    func evaluated(otherThan server: Server, needsEndpoint: Bool) -> [Server: ValidatedPath] {
        let open = Set(self.opened.map(\.server))
        let unknown = self.lock.withLock { Set(self.unlocated.keys).union(self.pending.values.flatMap(\.keys)) }
        return self.own.all.filter { other, _ in
            other != server && (!needsEndpoint || unknown.contains(other) || !open.contains(other))
        }
    }

    /// Removes a path that is refused now, unless its server has shown another one since.
    func forget(_ known: Known) {
        let wasLast = self.path(of: known.server) == known.path
        self.own.forget(known.path, of: known.server)
        self.shared.forget(known.path, of: known.server)
        self.lock.withLock {
            self.unlocated[known.server]?.removeAll { $0 == known.path }
            if wasLast { self.forgotten.set(known.path, for: known.server, isKept: false) }
        }
    }

    /// Takes a path back that was refused for some time only: a connection that resumes its TLS session has no challenge. Another one
    /// than the server showed last is not taken, though it is allowed: what is resumed may be what it showed last.
    ///
    /// - Parameter isCovered: Whether an entry covers the server.
    func restore(_ known: Known, isCovered: Bool) {
        let isLast = self.lock.withLock {
            guard self.forgotten.values[known.server] == known.path else { return false }
            self.forgotten.remove(known.server)
            return true
        }
        guard isLast else { return }
        self.own.note(known.path, for: known.server, isCovered: isCovered)
        if self.shared.path(of: known.server) == nil {
            self.shared.note(known.path, for: known.server, isCovered: isCovered)
        }
    }
}
#endif
