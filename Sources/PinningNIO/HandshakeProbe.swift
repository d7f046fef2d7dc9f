// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import PathValidation
import PinListClient

/// A handshake of our own with a server that AsyncHTTPClient talks to, over the same route as its connections: it shows
/// the whole presented chain, where AsyncHTTPClient shows the leaf. No request is sent on it.
struct HandshakeProbe: Sendable {
    let host: HostName
    let port: Int
    let finder: CachingPathValidator
    let clock: @Sendable () -> Timestamp
    let context: NIOSSLContext
    let proxy: HTTPClient.Configuration.Proxy?
    /// The address of the host, where it differs from its name.
    let place: String
    let localAddress: String?
    let timeout: TimeAmount

    /// The presented chain in DER, the leaf first.
    ///
    /// - Throws: The error that ended the handshake before a chain was presented. A chain that does not validate is
    ///   returned, too.
    func presentedChain(on eventLoop: any EventLoop) async throws -> [[UInt8]] {
        let presented = NIOLockedValueBox<[[UInt8]]>([])
        let done = eventLoop.makePromise(of: Void.self)
        let deadline = NIODeadline.now() + self.timeout
        let expiry = eventLoop.scheduleTask(deadline: deadline) { done.fail(ChannelError.connectTimeout(self.timeout)) }
        var bootstrap = ClientBootstrap(group: eventLoop).connectTimeout(self.timeout)
        if let localAddress { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: localAddress, port: 0)) }
        let connection = bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                if self.proxy == nil { try self.addTLS(to: channel, presented, done) }
            }
        }.connect(host: self.proxy?.host ?? self.place, port: self.proxy?.port ?? self.port)
        connection.whenFailure { done.fail($0) }
        if let proxy = self.proxy {
            connection
                .flatMap { ProxyTunnel.open($0, through: proxy, to: self.place, port: self.port, until: deadline) }
                .flatMapThrowing { try self.addTLS(to: $0, presented, done) }
                .whenFailure { done.fail($0) }
        }
        defer {
            expiry.cancel()
            connection.whenSuccess { $0.close(promise: nil) }
        }
        do {
            try await done.futureResult.get()
        } catch {
            // Refused by our own validation; the presented chain is still returned.
            guard presented.withLockedValue({ $0.isEmpty }) else { return presented.withLockedValue { $0 } }
            throw error
        }
        return presented.withLockedValue { $0 }
    }

    private func addTLS(
        to channel: any Channel, _ presented: NIOLockedValueBox<[[UInt8]]>, _ done: EventLoopPromise<Void>
    ) throws {
        let tls = try NIOSSLClientHandler(
            context: self.context, serverHostname: self.host.isAddress ? nil : self.host.description
        ) { (chain: [NIOSSLCertificate], verdict: EventLoopPromise<NIOSSLVerificationResult>) in
            let chain = chain.compactMap { try? $0.toDERBytes() }
            presented.withLockedValue { $0 = chain }
            verdict.completeWithTask {
                let question = self.finder.question(chain, for: self.host)
                switch await self.finder.find(question, at: self.clock()) {
                case .success: return .certificateVerified
                case .failure: return .failed
                }
            }
        }
        try channel.pipeline.syncOperations.addHandlers([tls, HandshakeEnd(done)])
    }
}

/// Waits for the end of a handshake.
private final class HandshakeEnd: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let done: EventLoopPromise<Void>

    init(_ done: EventLoopPromise<Void>) { self.done = done }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { self.done.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.done.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { self.done.fail(ChannelError.eof) }
}
#endif
