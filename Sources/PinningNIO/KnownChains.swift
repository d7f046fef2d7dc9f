// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOConcurrencyHelpers

/// What stands above the leaves of the servers that this process was connected to, for its clients to come: a new one
/// need not ask a server that an earlier one has asked.
///
/// Only what a validated path went through gets in. It proves nothing of a leaf: each is validated through it again.
final class KnownChains: Sendable {
    /// A server as clients see it that trust the same anchors.
    struct Key: Hashable, Sendable {
        /// The digest of the root store.
        let roots: [UInt8]
        let host: HostName
        let port: Int
        /// Where the host is reached.
        let place: String
    }

    /// The memory of this process.
    static let shared = KnownChains()
    /// The most servers. When there are more, all are forgotten: asking again is all that it costs.
    static let capacity = 256

    private let servers = NIOLockedValueBox<[Key: [[UInt8]]]>([:])

    /// The intermediates of a server; `nil` when nothing is known of it.
    func intermediates(of server: Key) -> [[UInt8]]? { self.servers.withLockedValue { $0[server] } }

    /// Keeps the intermediates of a validated path to a server, the newest first.
    func remember(_ intermediates: [[UInt8]], of server: Key) {
        self.servers.withLockedValue { servers in
            let old = (servers[server] ?? []).filter { !intermediates.contains($0) }
            if servers.count >= Self.capacity, servers[server] == nil { servers = [:] }
            servers[server] = Array((intermediates + old).prefix(ServerChain.maximumIntermediates))
        }
    }

    /// Forgets a server.
    func forget(_ server: Key) { self.servers.withLockedValue { $0[server] = nil } }
}
#endif
