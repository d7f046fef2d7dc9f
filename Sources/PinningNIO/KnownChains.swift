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
    /// The maximum number of servers. Beyond it the least recently used one is removed: the cost is only to ask again.
    static let capacity = 256

    private struct State {
        var servers: [Key: (intermediates: [[UInt8]], use: UInt64)] = [:]
        var uses: UInt64 = 0

        mutating func use(_ intermediates: [[UInt8]], of server: Key) {
            self.uses += 1
            self.servers[server] = (intermediates, self.uses)
        }
    }

    private let state = NIOLockedValueBox(State())

    /// The intermediates of a server; `nil` for an unknown server.
    func intermediates(of server: Key) -> [[UInt8]]? {
        self.state.withLockedValue { state in
            guard let known = state.servers[server] else { return nil }
            state.use(known.intermediates, of: server)
            return known.intermediates
        }
    }

    /// Stores the intermediates of a validated path to a server, the newest first.
    func remember(_ intermediates: [[UInt8]], of server: Key) {
        self.state.withLockedValue { state in
            let old = (state.servers[server]?.intermediates ?? []).filter { !intermediates.contains($0) }
            state.use(Array((intermediates + old).prefix(ServerChain.maximumIntermediates)), of: server)
            guard state.servers.count > Self.capacity,
                let oldest = state.servers.min(by: { $0.value.use < $1.value.use })
            else { return }
            state.servers[oldest.key] = nil
        }
    }

    /// Removes a server.
    func forget(_ server: Key) { self.state.withLockedValue { $0.servers[server] = nil } }
}
#endif
