// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOConcurrencyHelpers

/// The known intermediates of the servers that this process was connected to, so that a new client
/// need not ask a server that an earlier one has asked.
///
/// Only intermediates of validated paths are stored. They prove nothing about a leaf: each is validated through them
/// again.
final class KnownChains: Sendable {
    /// The key: a server and the anchors of the client.
    struct Key: Hashable, Sendable {
        /// The digest of the root store.
        let roots: [UInt8]
        let host: HostName
        let port: Int
        /// The address of the host.
        let place: String
    }

    /// The memory of this process.
    static let shared = KnownChains()
    /// The maximum number of servers. Beyond it all are removed: the cost is only to ask again.
    static let capacity = 256

    private let servers = NIOLockedValueBox<[Key: [[UInt8]]]>([:])

    /// The intermediates of a server; `nil` for an unknown server.
    func intermediates(of server: Key) -> [[UInt8]]? { self.servers.withLockedValue { $0[server] } }

    /// Stores the intermediates of a validated path to a server, the newest first.
    func remember(_ intermediates: [[UInt8]], of server: Key) {
        self.servers.withLockedValue { servers in
            let old = (servers[server] ?? []).filter { !intermediates.contains($0) }
            if servers.count >= Self.capacity, servers[server] == nil { servers = [:] }
            servers[server] = Array((intermediates + old).prefix(ServerChain.maximumIntermediates))
        }
    }

    /// Removes a server.
    func forget(_ server: Key) { self.servers.withLockedValue { $0[server] = nil } }
}
#endif
