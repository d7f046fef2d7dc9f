// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import NIOCore
import NIOPosix
import NIOSSL
import PathValidation
@_spi(Adapters) public import PinListClient

/// The functions that decide on a connection, for the trials of `PinningIntegrity` with chains of its own.
@_spi(Adapters)
public enum ConnectionTrial {
    /// Whether a presented chain has a path to one anchor.
    ///
    /// - Parameters:
    ///   - presented: Certificates in DER, the leaf first.
    ///   - anchor: The anchor, in DER.
    ///   - host: The server's name.
    ///   - time: The time.
    public static func hasPath(
        _ presented: [[UInt8]], to anchor: [UInt8], for host: HostName, at time: Timestamp
    ) async -> Bool {
        let finder = CachingPathValidator(roots: RootStore(certificates: [anchor]))
        guard case .success = await finder.validatedPath(finder.question(presented, for: host), at: time) else {
            return false
        }
        return true
    }

    /// Whether the verification callback of TLS lets a presented chain through.
    ///
    /// - Parameters:
    ///   - presented: Certificates in DER, the leaf first.
    ///   - anchor: The only anchor that is trusted, in DER.
    ///   - policy: The policy.
    ///   - host: The server's name.
    ///   - clock: The clock of the trial.
    public static func isLetThrough(
        _ presented: [[UInt8]], trusting anchor: [UInt8], by policy: PinningPolicy, for host: HostName,
        clock: any PinningClock
    ) async -> Bool {
        let server = ServerEvaluator(
            pinning: .forTrial(policy, clock: clock),
            finder: CachingPathValidator(roots: RootStore(certificates: [anchor])),
            host: host, port: 443)
        let promise = MultiThreadedEventLoopGroup.singleton.any()
            .makePromise(of: NIOSSLVerificationResultWithMetadata.self)
        let certificates = presented.compactMap { try? NIOSSLCertificate(bytes: $0, format: .der) }
        PinnedTLS.callback(server) { _ in }(certificates, promise)
        guard case .certificateVerified? = try? await promise.futureResult.get() else { return false }
        return true
    }
}
#endif
