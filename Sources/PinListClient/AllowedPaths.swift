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

    /// The maximum number of servers.
    private static let maximum = 1_024

    private let lock = NSLock()
    private var paths = RecentlyUsed<Server, ValidatedPath>(maximum: AllowedPaths.maximum)

    /// Creates an empty memory.
    public init() {}

    /// Records that a path was allowed.
    ///
    /// - Parameter isCovered: Whether an entry covers the server. One that none covers is forgotten before all that one
    ///   covers: a page chooses as many hosts as it likes, and the path of a pinned server is needed as long as its connection
    ///   is open, used or not.
    public func note(_ path: ValidatedPath, for server: Server, isCovered: Bool) {
        self.lock.withLock { self.paths.set(path, for: server, isKept: isCovered) }
    }

    /// Removes a path that new rules refuse, unless its server has shown another one since.
    public func forget(_ path: ValidatedPath, of server: Server) {
        self.lock.withLock { if self.paths.values[server] == path { self.paths.remove(server) } }
    }

    /// The path of a server, which is used by that.
    public func path(of server: Server) -> ValidatedPath? { self.lock.withLock { self.paths.use(server) } }

    /// All servers with their paths.
    public var all: [Server: ValidatedPath] { self.lock.withLock { self.paths.values } }
}

/// Values of limited number. Beyond it an eighth of them is removed: those whose last use is the longest ago, and of those that
/// are to be kept none while there is another one.
@_spi(Adapters)
public struct RecentlyUsed<Key: Hashable, Value> {
    private struct Use {
        /// The place of the last use among all uses.
        var number: UInt64
        let isKept: Bool

        func isRemoved(before other: Use) -> Bool {
            self.isKept == other.isKept ? self.number < other.number : other.isKept
        }
    }

    private let maximum: Int
    // Apart from the values, which are handed out as a whole: no use copies them.
    private var uses: [Key: Use] = [:]
    private var count: UInt64 = 0
    /// The values; reading one here is no use.
    public private(set) var values: [Key: Value] = [:]

    /// Creates an empty collection for at most a number of values.
    public init(maximum: Int) { self.maximum = maximum }

    /// Sets a value, which is a use.
    public mutating func set(_ value: Value, for key: Key, isKept: Bool) {
        self.count += 1
        self.uses[key] = Use(number: self.count, isKept: isKept)
        self.values[key] = value
        guard self.values.count > self.maximum else { return }
        // Several at once: else each new one would have all looked at.
        let inOrder = self.uses.sorted { $0.value.isRemoved(before: $1.value) }
        for (key, _) in inOrder.prefix(max(1, self.maximum / 8)) { self.remove(key) }
    }

    /// Returns a value, which is a use.
    public mutating func use(_ key: Key) -> Value? {
        guard let value = self.values[key] else { return nil }
        self.count += 1
        self.uses[key]?.number = self.count
        return value
    }

    /// Removes a value.
    public mutating func remove(_ key: Key) {
        self.uses[key] = nil
        self.values[key] = nil
    }
}
