// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if GRPC
public import GRPCCore
public import GRPCNIOTransportHTTP2Posix
public import NIOCore
public import NIOPosix
public import NIOSSL
public import PinListClient
import PinningNIO

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension ClientTransport where Self == HTTP2ClientTransport.Posix {
    /// A transport whose connections are all pinned for one server: TLS is ours (`.customSecure`), and in place before
    /// a connection is made.
    ///
    /// An RPC that meets a refusal fails with `unavailable`; `pinning.refusal(for:host:)` has the decision. Connections
    /// are evaluated again when a list comes into force: a refused one accepts no new RPC, and closes when its running
    /// ones are over.
    ///
    /// - Parameters:
    ///   - target: The target of the connection. Pinning does not use its host, because the resolver is not trusted.
    ///   - pinning: The client whose rules apply.
    ///   - host: The host of all RPCs, without a port.
    ///   - port: The port, for reports.
    ///   - tls: NIOSSL's settings. Its trust roots are the anchors that a path may end in. ALPN is gRPC's own, and
    ///     versions begin at TLS 1.2, as HTTP/2 asks for (RFC 9113, section 9.2).
    ///   - config: gRPC's settings. Its own debugging callbacks are called after ours, which add TLS.
    ///   - resolverRegistry: The resolvers of targets.
    ///   - serviceConfig: gRPC's settings for load balancing and methods.
    ///   - group: The event loops.
    /// - Throws: `PinningSetupError.Code.configuration` where a refusal would be ignored, or could not be decided: TLS
    ///   does not verify, or the event loops are not SwiftNIO's own. `PinningError` with `host-invalid`.
    public static func pinned(
        to target: any ResolvableTarget, by pinning: Pinning, for host: String, port: Int = 443,
        tls: TLSConfiguration = .makeClientConfiguration(), config: HTTP2ClientTransport.Posix.Config = .defaults,
        resolverRegistry: NameResolverRegistry = .defaults, serviceConfig: ServiceConfig = ServiceConfig(),
        on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws -> Self {
        // Others, such as Network.framework's, have no NIOSSL in their pipelines.
        guard ClientBootstrap(validatingGroup: group) != nil else {
            throw PinningSetupError(
                .configuration,
                "the event loops are of \(type(of: group)); pinning needs MultiThreadedEventLoopGroup")
        }
        var tls = tls
        tls.applicationProtocols = ["grpc-exp", "h2"]
        if tls.minimumTLSVersion != .tlsv13 { tls.minimumTLSVersion = .tlsv12 }
        let pinned = try PinnedTLS(by: pinning, configuration: tls)
        // A defect of the host is reported here, and not by every connection.
        _ = try pinned.verification(for: host, port: port)
        var config = config
        let debugging = config.channelDebuggingCallbacks.onCreateTCPConnection
        config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
            // gRPC's own handlers are there already. A failure ends the connection before it is made.
            channel.eventLoop.makeCompletedFuture {
                try pinned.addHandlers(to: channel, for: host, port: port, position: .first)
            }.flatMap { debugging?(channel) ?? channel.eventLoop.makeSucceededVoidFuture() }
        }
        let debuggingStream = config.channelDebuggingCallbacks.onCreateHTTP2Stream
        config.channelDebuggingCallbacks.onCreateHTTP2Stream = { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(HTTP2StatusWatch.OfStream(), position: .first)
            }.flatMap { debuggingStream?(stream) ?? stream.eventLoop.makeSucceededVoidFuture() }
        }
        return try HTTP2ClientTransport.Posix(
            target: target, transportSecurity: .customSecure, config: config, resolverRegistry: resolverRegistry,
            serviceConfig: serviceConfig, eventLoopGroup: group)
    }
}
#endif
