// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if GRPC
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOConcurrencyHelpers
import NIOCore
import PinListClient
import PinListMetadata
import PinningGRPC

/// The connections that a client made, as its debugging callback saw them.
final class SeenConnections: Sendable {
    private let channels = NIOLockedValueBox<[any Channel]>([])

    /// The connections, the first that was made first.
    var all: [any Channel] { self.channels.withLockedValue { $0 } }

    /// Adds a connection.
    func add(_ channel: any Channel) { self.channels.withLockedValue { $0.append(channel) } }
}

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension PinnedScene {
    /// Runs a pinned client of a server on loopback.
    ///
    /// - Returns: What the body returns.
    func withClient<Result: Sendable>(
        of host: String, on server: LoopbackGRPCServer, seen: SeenConnections = SeenConnections(),
        _ body: (GRPCClient<HTTP2ClientTransport.Posix>) async throws -> Result
    ) async throws -> Result {
        try await self.withClient(of: host, at: server.port, seen: seen, body)
    }

    /// Runs a pinned client of a server behind a port of loopback.
    ///
    /// - Returns: What the body returns.
    func withClient<Result: Sendable>(
        of host: String, at port: Int, seen: SeenConnections,
        _ body: (GRPCClient<HTTP2ClientTransport.Posix>) async throws -> Result
    ) async throws -> Result {
        var config = HTTP2ClientTransport.Posix.Config.defaults
        config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
            seen.add(channel)
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        let transport = try HTTP2ClientTransport.Posix.pinned(
            to: .ipv4(address: "127.0.0.1", port: port), by: self.pinning, for: host, port: port,
            tls: try self.tls, config: config)
        return try await withGRPCClient(transport: transport) { try await body($0) }
    }

    /// Publishes a list with one entry, and returns when it was the last to decide on a connection.
    ///
    /// - Returns: The decision.
    func publish(_ entry: PinnedDomain, andAwaitOn channel: any Channel) async throws -> PinningDecision? {
        try await self.publish { $0.domains = [PinList.Domain(entry)] }
        let version = self.pinning.policyInForce.listVersion
        while true {
            let decision = try await channel.pinningDecision().get()
            if decision?.list?.version == version { return decision }
            await Task.yield()
        }
    }
}
#endif
