// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
@_spi(Adapters) import CertificatePinning
import NIOConcurrencyHelpers
public import NIOCore
public import NIOSSL
import PathValidation
public import PinListClient

/// Pinned TLS for any channel: path validation and pins inside NIOSSL's verification callback, before a byte of
/// application data passes.
///
/// Thread-safe. Create one for each TLS configuration and use it for all connections: it caches validated paths,
/// and evaluates its open connections again when a list comes into force.
public struct PinnedTLS: Sendable {
    /// NIOSSL's `NIOSSLCustomVerificationCallbackWithMetadata`, for any thread.
    public typealias Verification =
        @Sendable ([NIOSSLCertificate], EventLoopPromise<NIOSSLVerificationResultWithMetadata>) -> Void

    let pinning: Pinning
    let finder: CachingPathValidator
    let registry: ConnectionRegistry
    private let context: NIOSSLContext
    private let namelessContext: NIOSSLContext

    /// Checks a configuration, and reads its trust roots. Blocks for some milliseconds: not for an event loop.
    ///
    /// - Parameters:
    ///   - pinning: The client whose rules apply.
    ///   - configuration: NIOSSL's settings. Its trust roots are the anchors that a path may end in.
    /// - Throws: `PinningSetupError.Code.configuration` for a configuration under which a refusal would be ignored, or
    ///   without a usable root; NIOSSL's own errors for one that it cannot use.
    public init(by pinning: Pinning, configuration: TLSConfiguration = .makeClientConfiguration()) throws {
        try Self.check(configuration)
        self.pinning = pinning
        self.finder = CachingPathValidator(roots: try TrustedRoots.store(for: configuration))
        self.registry = ConnectionRegistry(pinning)
        // The callback replaces NIOSSL's validation, so the trust roots that NIOSSL loads are never used.
        var configuration = configuration
        configuration.trustRoots = .certificates([])
        configuration.additionalTrustRoots = []
        self.context = try NIOSSLContext(configuration: configuration)
        configuration.certificateVerification = .noHostnameVerification
        self.namelessContext = try NIOSSLContext(configuration: configuration)
    }

    /// Refuses settings that would ignore a refusal: under `.none` and `.optionalVerification` NIOSSL ignores the
    /// callback, and `.noHostnameVerification` asks for a connection without a check of the name, which is never made
    /// here.
    static func check(_ configuration: TLSConfiguration) throws(PinningSetupError) {
        guard configuration.certificateVerification == .fullVerification else {
            throw PinningSetupError(
                .configuration,
                "certificateVerification is \(configuration.certificateVerification); pinning needs .fullVerification")
        }
    }

    /// NIOSSL's settings for a host: without its own comparison of names where NIOSSL cannot do it. The validator
    /// always compares the certificate with the requested host, and without its path the callback refuses every
    /// handshake.
    ///
    /// NIOSSL compares addresses with the address that was dialled, which may be a proxy's. In server name indication it
    /// sends each name, also one that it cannot compare.
    func context(for host: HostName) -> NIOSSLContext {
        host.isAddress || !host.isComparedByNIOSSL ? self.namelessContext : self.context
    }

    /// The numbers of handshakes with and without a cached path.
    public var pathCounts: PathCounts { self.finder.counts }

    /// Adds TLS and pinning to a channel's pipeline. On the channel's event loop, before it is connected.
    ///
    /// The pipeline's handlers get a `PinningError` in place of NIOSSL's error of a failed handshake, and a
    /// ``PinnedConnectionRetirement`` when new rules refuse this connection. What is written before the verdict waits; from
    /// the first write on until then a socket's channel is not writable.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - host: The host of the request, without a port. Never take it from a server's response.
    ///   - port: The port, for reports.
    ///   - position: The position in the pipeline: before all handlers of decrypted bytes.
    /// - Throws: `PinningError` with `host-invalid` when the host is neither a name nor an address.
    public func addHandlers(
        to channel: any Channel, for host: String, port: Int = 443,
        position: ChannelPipeline.SynchronousOperations.Position = .last
    ) throws {
        let server = try self.server(host, port)
        let verdict = NIOLockedValueBox<HandshakeVerdict?>(nil)
        let tls = try NIOSSLClientHandler(
            context: self.context(for: server.host),
            // Server name indication is for names; an address must not be sent as one (RFC 6066, section 3).
            serverHostname: server.host.isAddress ? nil : server.host.description,
            customVerificationCallbackWithMetadata: Self.callback(server) { reached in
                verdict.withLockedValue { $0 = reached }
            })
        let connection = PinnedConnectionHandler(server: server, registry: self.registry) {
            verdict.withLockedValue { $0 }
        }
        try channel.pipeline.syncOperations.addHandlers([tls, connection], position: position)
    }

    /// The verification callback for a transport that makes its own handler, such as grpc-swift-2's
    /// `customVerificationCallback`. Leave that transport's certificate verification at its default: where it is
    /// switched off, NIOSSL ignores the callback. For a host with an underscore, and for one whose first label is an
    /// A-label and whose certificate has a wildcard, it is `.noHostnameVerification`: NIOSSL itself refuses these after
    /// the callback, which has compared the name with the certificate.
    ///
    /// - Parameters:
    ///   - host: The host of the request, without a port. Never take it from a server's response.
    ///   - port: The port, for reports.
    /// - Throws: `PinningError` with `host-invalid` when the host is neither a name nor an address.
    public func verification(for host: String, port: Int = 443) throws -> Verification {
        Self.callback(try self.server(host, port)) { _ in }
    }

    /// A handler for a channel whose transport uses the callback of ``verification(for:port:)``: the connection is
    /// evaluated again when a list comes into force. Its place is after the TLS handler.
    public func connectionHandler(for host: String, port: Int = 443) throws -> any ChannelHandler {
        PinnedConnectionHandler(server: try self.server(host, port), registry: self.registry) { nil }
    }

    /// The server of a connection.
    func server(_ host: String, _ port: Int) throws -> ServerEvaluator {
        guard let name = try? HostName(host) else {
            let decision = self.pinning.refusal(
                of: host, .hostInvalid, connection: ConnectionFacts(port: port))
            throw PinningError(decision)
        }
        return ServerEvaluator(pinning: self.pinning, finder: self.finder, host: name, port: port)
    }

    /// Evaluates a presented chain: at once when the path is cached, else outside of the event loop.
    static func callback(
        _ server: ServerEvaluator, _ reached: @escaping @Sendable (HandshakeVerdict) -> Void
    ) -> Verification {
        { presented, promise in
            let chain = presented.compactMap { try? $0.toDERBytes() }
            // A certificate that cannot be serialised again is left out of the chain.
            guard chain.count == presented.count, !chain.isEmpty else {
                reached(server.refusal(.noCertificates, "the server presented no certificate"))
                return promise.succeed(.failed)
            }
            let question = server.finder.question(chain, for: server.host)
            let path = server.finder.remembered(question, at: server.pinning.now)
            if let path, server.isDecidedAtOnce(on: path) {
                let verdict = server.verdict(on: path, presented: question.presented)
                reached(verdict)
                return promise.succeed(Self.result(verdict, presented))
            }
            promise.completeWithTask {
                let verdict = await server.verdict(question, on: path)
                reached(verdict)
                return Self.result(verdict, presented)
            }
        }
    }

    private static func result(
        _ verdict: HandshakeVerdict, _ presented: [NIOSSLCertificate]
    ) -> NIOSSLVerificationResultWithMetadata {
        guard verdict.isAllowed, let path = verdict.path else { return .failed }
        // Most certificates of a path were presented and need not be parsed again; an anchor seldom was.
        let known = Dictionary(
            presented.compactMap { certificate in (try? certificate.toDERBytes()).map { ($0, certificate) } },
            uniquingKeysWith: { first, _ in first })
        let chain = path.certificates.compactMap { known[$0] ?? (try? NIOSSLCertificate(bytes: $0, format: .der)) }
        guard chain.count == path.certificates.count else { return .failed }
        return .certificateVerified(VerificationMetadata(ValidatedCertificateChain(chain)))
    }
}

extension HostName {
    /// Whether NIOSSL compares this name with a certificate as RFC 9525 has it, and as we do: it accepts no name with an
    /// underscore, and no wildcard for a name whose first label is an A-label. With these our validator is alone.
    var isComparedByNIOSSL: Bool { !self.hasUnderscore && !self.description.utf8.starts(with: "xn--".utf8) }
}
#endif
