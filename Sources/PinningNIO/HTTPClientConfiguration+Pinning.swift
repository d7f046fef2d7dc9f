// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import AsyncHTTPClient
@_spi(Adapters) import CertificatePinning
public import NIOCore
import NIOHTTP1
public import NIOPosix
import NIOSSL
public import PinListClient

extension HTTPClient.Configuration {
    /// This configuration, pinned for one server: for an `HTTPClient` of the app's own that talks to that server alone.
    /// Requests for any other host are refused before a byte of them is sent, with `other-host-connection`: their
    /// field `Host` is checked.
    ///
    /// ``PinnedHTTPClient`` is the shorter way, and follows redirects. Errors of a refused connection are a
    /// `PinningError`, or one that `pinning.refusal(for:host:)` explains. A ``ConnectionRetiredError`` is one of a request
    /// that met a connection which new rules refuse, and may be sent again.
    ///
    /// Connections are not tried again within a request: AsyncHTTPClient treats a refused handshake as a network that
    /// is not ready, and would report it only after its connect timeout.
    ///
    /// The server is asked for its chain beside its first connection, unless an earlier client of this process was
    /// connected to it. A server that accepts only one connection at a time cannot be asked so: requests are refused
    /// until it was asked after such a connection was closed. For such a server there is ``pinned(by:asking:port:on:)``;
    /// ``PinnedHTTPClient`` asks before it connects, too.
    ///
    /// - Parameters:
    ///   - pinning: The client whose rules apply.
    ///   - host: The host of all requests, without a port.
    ///   - port: The port of all requests.
    ///   - group: The event loops that the client will run on.
    /// - Throws: `PinningSetupError.Code.configuration` where a refusal would be ignored, or could not be decided: it
    ///   follows redirects, its TLS does not verify, its proxy is a SOCKS proxy, it has debugging hooks of its own, or
    ///   the event loops are not SwiftNIO's own. `PinningError` with `host-invalid`.
    public func pinned(
        by pinning: Pinning, for host: String, port: Int = 443,
        on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws -> HTTPClient.Configuration {
        self.hooked(to: try self.connections(to: host, port, by: pinning, on: group))
    }

    /// This configuration, pinned for one server that was asked for its chain before: ``pinned(by:for:port:on:)`` for a
    /// server that accepts one connection at a time.
    ///
    /// The handshake that asks is over when this returns, and its connection is being closed. There is none when an
    /// earlier client of this process was connected to the server. When the server gets other intermediates later, it is
    /// asked beside a connection all the same.
    ///
    /// - Parameters:
    ///   - pinning: The client whose rules apply.
    ///   - host: The host of all requests, without a port.
    ///   - port: The port of all requests.
    ///   - group: The event loops that the client will run on.
    /// - Throws: As ``pinned(by:for:port:on:)``. The error that ended the handshake before a chain was presented: the
    ///   server cannot be reached, or took longer than `timeout.connect` (`ChannelError.connectTimeout`).
    ///   `CancellationError`. A chain that does not validate, or is not pinned, is no error here; the requests are refused.
    public func pinned(
        by pinning: Pinning, asking host: String, port: Int = 443,
        on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) async throws -> HTTPClient.Configuration {
        let connections = try self.connections(to: host, port, by: pinning, on: group)
        if !connections.chain.isKnown { _ = try await connections.chain.ask(on: group.next()) }
        return self.hooked(to: connections)
    }

    /// The object that evaluates the connections of an `HTTPClient` of an app's own.
    private func connections(
        to host: String, _ port: Int, by pinning: Pinning, on group: any EventLoopGroup
    ) throws -> HTTPServerConnections {
        // The mode has no accessor, but its description can be compared with the required one.
        guard "\(self.redirectConfiguration)" == "\(RedirectConfiguration.disallow)" else {
            throw PinningSetupError(
                .configuration,
                "the configuration follows redirects to hosts for which it is not pinned; use .disallow, or "
                    + "PinnedHTTPClient, which follows them")
        }
        let tls = try PinnedTLS(by: pinning, configuration: self.tlsConfiguration ?? .makeClientConfiguration())
        let server = try tls.server(host, port)
        try self.checkPinnable(on: group)
        return self.connections(tls, server, .host(RequestHostCheck(server)))
    }

    /// Refuses settings under which the hooks could not decide.
    func checkPinnable(on group: any EventLoopGroup) throws(PinningSetupError) {
        // Others, such as Network.framework's, have no NIOSSL in their pipelines.
        guard ClientBootstrap(validatingGroup: group) != nil else {
            throw PinningSetupError(
                .configuration,
                "the event loops are of \(type(of: group)); pinning needs MultiThreadedEventLoopGroup")
        }
        guard self.http1_1ConnectionDebugInitializer == nil, self.http2ConnectionDebugInitializer == nil,
            self.http2StreamChannelDebugInitializer == nil
        else {
            throw PinningSetupError(.configuration, "the configuration uses the debugging hooks that pinning needs")
        }
        if let proxy, proxy == .socksServer(host: proxy.host, port: proxy.port) {
            throw PinningSetupError(.configuration, "SOCKS proxies cannot be pinned through; use a CONNECT proxy")
        }
    }

    /// The object that evaluates the connections to one server.
    ///
    /// - Parameter refusesLocalPeers: Whether a connection to this machine or into a private network takes no request.
    func connections(
        _ tls: PinnedTLS, _ server: ServerEvaluator, _ check: RequestCheck, refusesLocalPeers: Bool = false
    ) -> HTTPServerConnections {
        let probe = HandshakeProbe(
            host: server.host, port: server.port, finder: tls.finder, clock: { server.pinning.now },
            context: tls.context(for: server.host), proxy: self.proxy,
            place: self.dnsOverride[server.host.description] ?? server.host.description,
            localAddress: self.localAddress, timeout: self.timeout.connect ?? .seconds(10))
        return HTTPServerConnections(
            server: server, registry: tls.registry, probe: probe, check: check, refusesLocalPeers: refusesLocalPeers)
    }

    /// Whether the other end of a connection says where the name of a host leads. It does not behind a proxy, nor where
    /// `dnsOverride` itself has a local or private address for the host.
    func showsPeer(of host: String) -> Bool {
        guard self.proxy == nil else { return false }
        let name = (try? HostName(host))?.description ?? host
        guard let place = self.dnsOverride[host] ?? self.dnsOverride[name], let written = try? HostName(place) else {
            return true
        }
        return !written.isLocal
    }

    /// This configuration for requests without TLS that are sent to no local or private address.
    func refusingLocalPeers() -> HTTPClient.Configuration {
        var refusing = self
        refusing.http1_1ConnectionDebugInitializer = { channel in
            if let error = LocalPeerError(channel) {
                let pipeline = channel.pipeline.syncOperations
                do {
                    let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                    try pipeline.addHandler(HTTP1RequestWatch(.localPeer(error)), position: .after(decoder))
                } catch {
                    channel.close(promise: nil)
                }
            }
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        return refusing
    }

    /// Sets the hooks, all of them: AsyncHTTPClient asks the one of the protocol that was negotiated.
    func hooked(to connections: HTTPServerConnections) -> HTTPClient.Configuration {
        var pinned = self
        pinned.redirectConfiguration = .disallow
        pinned.connectionPool.retryConnectionEstablishment = false
        pinned.http1_1ConnectionDebugInitializer = { connections.http1($0) }
        pinned.http2ConnectionDebugInitializer = { connections.http2($0) }
        pinned.http2StreamChannelDebugInitializer = { connections.stream($0) }
        if !connections.server.host.isComparedByNIOSSL {
            // The gate opens only for a leaf that our validator compared with the host.
            var tls = self.tlsConfiguration ?? .makeClientConfiguration()
            tls.certificateVerification = .noHostnameVerification
            pinned.tlsConfiguration = tls
        }
        return pinned
    }
}
#endif
