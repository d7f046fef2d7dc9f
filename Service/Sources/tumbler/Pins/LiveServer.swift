// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
@_spi(Tools) import PinningNIO

/// Fetches the certificates of a server.
enum LiveServer {
    /// The maximum time that asking may take, from looking up the name to the last certificate.
    static let timeout: Duration = .seconds(10)

    /// The reason for which a server presented nothing.
    struct NoAnswerError: Error {
        /// The failure of a command that needs it.
        let failure: CommandError
        /// Whether this machine has no route to the address: it speaks no IPv6, say.
        let hasNoRoute: Bool
    }

    /// The chain that a server presents, leaf first, in DER. Nothing is validated: the connection is for looking, and is
    /// closed before anything is said on it.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - connections: How it is reached.
    /// - Throws: ``CommandError`` when the server cannot be reached or does not speak TLS.
    static func presentedChain(
        of server: ServerAddress, by connections: Connections
    ) async throws(CommandError) -> [[UInt8]] {
        let way = try await connections.way(to: server.host, server.port)
        do throws(NoAnswerError) {
            return try await self.chain(
                of: server, connectingTo: ServerAddress(way.host, way.port), through: way.proxy,
                timeout: connections.connectTimeout)
        } catch { throw error.failure }
    }

    /// The chain that a server presents, at a place that is known.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - place: Where it is reached, when that is not where its name says.
    ///   - timeout: The longest that asking may take.
    /// - Throws: ``CommandError`` when the server cannot be reached or does not speak TLS.
    static func presentedChain(
        of server: ServerAddress, connectingTo place: ServerAddress? = nil, timeout: Duration = Self.timeout
    ) async throws(CommandError) -> [[UInt8]] {
        do throws(NoAnswerError) {
            return try await self.chain(of: server, connectingTo: place, timeout: timeout)
        } catch {
            throw error.failure
        }
    }

    /// The same, with what kind of failure it was.
    static func chain(
        of server: ServerAddress, connectingTo place: ServerAddress?, through proxy: ProxyRules.Proxy? = nil,
        timeout: Duration
    ) async throws(NoAnswerError) -> [[UInt8]] {
        let presented = NIOLockedValueBox<[[UInt8]]>([])
        do {
            let context = try NIOSSLContext(configuration: self.configuration)
            try await self.handshake(
                with: server, at: place ?? server, through: proxy, context: context, timeout: TimeAmount(timeout),
                presented: presented)
        } catch {
            // A server that wants a certificate of ours breaks the handshake off after it has shown its own.
            if presented.withLockedValue({ $0.isEmpty }) {
                throw NoAnswerError(
                    failure: CommandError(
                        .undecided, "\(server): \(self.reason(for: error, timeout))",
                        // openssl knows keys and versions that are not known here.
                        hint: error is NIOSSLError && proxy == nil
                            ? "openssl s_client -connect \(server) -showcerts </dev/null | tumbler pin -" : nil),
                    hasNoRoute: self.hasNoRoute(error))
            }
        }
        return presented.withLockedValue { $0 }
    }

    private static var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .noHostnameVerification
        // The callback replaces NIOSSL's validation, so anchors that NIOSSL loads are never used.
        configuration.trustRoots = .certificates([])
        // More than is offered by default, P-521 and Ed25519 among it: nothing is trusted, and anything may be served.
        configuration.verifySignatureAlgorithms = [
            .ecdsaSecp256R1Sha256, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .ecdsaSecp384R1Sha384, .rsaPssRsaeSha384,
            .rsaPkcs1Sha384, .rsaPssRsaeSha512, .rsaPkcs1Sha512, .ecdsaSecp521R1Sha512, .ed25519, .rsaPkcs1Sha1,
        ]
        configuration.curves = [.x25519, .secp256r1, .secp384r1, .secp521r1]
        return configuration
    }

    private static func handshake(
        with server: ServerAddress, at place: ServerAddress, through proxy: ProxyRules.Proxy?, context: NIOSSLContext,
        timeout: TimeAmount, presented: NIOLockedValueBox<[[UInt8]]>
    ) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let done = group.any().makePromise(of: Void.self)
        let deadline = NIODeadline.now() + timeout
        let expiry = done.futureResult.eventLoop.scheduleTask(deadline: deadline) { done.fail(ServerTimeoutError()) }
        @Sendable func startTLS(on channel: any Channel) throws {
            // Server name indication is for names; an address must not be sent as one (RFC 6066, section 3).
            let name = server.host.isAddress ? nil : server.host.description
            let handler = try NIOSSLClientHandler(
                context: context, serverHostname: name,
                customVerificationCallback: { chain, verdict in
                    presented.withLockedValue { $0 = chain.compactMap { try? $0.toDERBytes() } }
                    verdict.succeed(.certificateVerified)
                })
            try channel.pipeline.syncOperations.addHandlers([handler, HandshakeWatcher(done: done)])
        }
        let bootstrap = ClientBootstrap(group: group)
            .connectTimeout(timeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { if proxy == nil { try startTLS(on: channel) } }
            }
        let connection = bootstrap.connect(
            host: proxy?.host ?? place.host.description, port: proxy?.port ?? place.port)
        connection.whenFailure { done.fail($0) }
        if let proxy {
            connection
                .flatMap {
                    ProxyTunnel.open(
                        $0, through: proxy.configuration, to: place.host.description, port: place.port, until: deadline)
                }
                .flatMapThrowing { try startTLS(on: $0) }
                .whenFailure { done.fail($0) }
        }
        defer {
            expiry.cancel()
            connection.whenSuccess { $0.close(promise: nil) }
        }
        try await done.futureResult.get()
    }

    /// Whether no packet left this machine, since it has no way to such an address.
    private static func hasNoRoute(_ error: any Error) -> Bool {
        switch error {
        case let error as NIOConnectionError:
            !error.connectionErrors.isEmpty && error.connectionErrors.allSatisfy { self.hasNoRoute($0.error) }
        case let error as IOError: [ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode)
        default: false
        }
    }

    /// The reason for which a server could not be asked, in words.
    static func reason(for error: any Error, _ timeout: Duration) -> String {
        switch error {
        case is ServerTimeoutError: "no answer within \(timeout)"
        case is HandshakeWatcher.ClosedError: "the server closed the connection before it presented a certificate"
        default:
            NetworkProblem(error, NetworkProblem.Limits(connect: TimeAmount(timeout), answer: TimeAmount(timeout)))
                .description
        }
    }
}

/// The time for asking is over.
private struct ServerTimeoutError: Error {}

/// Ends the asking when the handshake is complete, or cannot be any more.
private final class HandshakeWatcher: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    /// The peer went away.
    struct ClosedError: Error {}

    private let done: EventLoopPromise<Void>

    init(done: EventLoopPromise<Void>) { self.done = done }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { self.done.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.done.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { self.done.fail(ClosedError()) }
}
