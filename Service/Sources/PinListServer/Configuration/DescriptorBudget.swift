// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The file descriptors of the process, and how many of them are left for connections.
///
/// Each connection takes one. Without a bound those of strangers take the last one, and then neither the operator's
/// listener nor the database nor a webhook opens anything.
struct DescriptorBudget: Hashable, Sendable {
    /// For the store: SQLite's pool of six connections with three files each, a copy that is made of it, or the
    /// connections to PostgreSQL.
    static let store = 48
    /// The maximum number of connections of the operator's own listener: some people, Prometheus and pipelines
    /// (formats.md, section 7).
    static let adminConnections = 64
    /// For webhooks: a connection each, and the names that are looked up for them.
    static let webhooks = 32
    /// For logs, listeners, event loops, certificates that are read again, and the few connections that are accepted
    /// beyond a cap before accepting stops.
    static let others = 64
    /// The minimum number of connections, also where fewer descriptors are left: with fewer the service serves no
    /// client.
    static let minimumConnections = 16

    /// The limit of the system for the process (`RLIMIT_NOFILE`); `nil` where that is not known.
    let limit: Int?

    /// The maximum number of connections of the public listener; `nil` for no bound: none is configured, and none is
    /// known.
    ///
    /// - Parameters:
    ///   - configured: `maximumConnections`, if it is set.
    ///   - hasAdminListener: Whether the operator has a listener of his own.
    func publicConnections(configured: Int?, hasAdminListener: Bool) -> Int? {
        guard let left = self.left(hasAdminListener: hasAdminListener) else { return configured }
        return min(configured ?? left, left)
    }

    /// The number of descriptors left for connections of the public listener.
    private func left(hasAdminListener: Bool) -> Int? {
        self.limit.map { limit in
            let kept = Self.store + Self.webhooks + Self.others + (hasAdminListener ? Self.adminConnections : 0)
            return max(limit - kept, Self.minimumConnections)
        }
    }
}
