// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation

/// The path that was allowed last for each server, in all sessions of a client. A connection that resumes a TLS session
/// shows no certificates in its handshake and is evaluated by this path.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
@_spi(Adapters)
public final class AllowedPaths: @unchecked Sendable {
    /// A server, by its normalised name.
    public struct Server: Hashable, Sendable {
        /// The host.
        public let host: HostName
        /// The port.
        public let port: Int

        /// Creates the key of a server.
        public init(host: HostName, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// The maximum number of servers; beyond it the oldest are removed.
    private static let maximum = 1_024

    private let lock = NSLock()
    private var paths: [Server: ValidatedPath] = [:]
    private var inOrder: [Server] = []

    /// Creates an empty memory.
    public init() {}

    /// Records that a path was allowed.
    public func note(_ path: ValidatedPath, for server: Server) {
        self.lock.withLock {
            if self.paths.updateValue(path, forKey: server) == nil { self.inOrder.append(server) }
            if self.inOrder.count > Self.maximum { self.paths[self.inOrder.removeFirst()] = nil }
        }
    }

    /// Removes a path that new rules refuse, unless its server has shown another one since.
    public func forget(_ path: ValidatedPath, of server: Server) {
        self.lock.withLock {
            guard self.paths[server] == path else { return }
            self.paths[server] = nil
            self.inOrder.removeAll { $0 == server }
        }
    }

    /// The path of a server.
    public func path(of server: Server) -> ValidatedPath? { self.lock.withLock { self.paths[server] } }

    /// All servers with their paths.
    public var all: [Server: ValidatedPath] { self.lock.withLock { self.paths } }
}
