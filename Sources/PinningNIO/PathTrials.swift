// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import NIOCore
import NIOPosix
import NIOSSL
import PathValidation
@_spi(Adapters) import PinListClient

/// What a canary tries of this adapter: that paths are validated, and that the callback that TLS asks refuses.
struct PathTrials: Sendable {
    /// Whether a presented chain has a path to one anchor, for a host, at a time.
    var path: @Sendable (_ presented: [[UInt8]], _ anchor: [UInt8], HostName, Timestamp) async -> Bool = {
        presented, anchor, host, time in
        let finder = PathFinder(roots: RootStore(certificates: [anchor]))
        guard case .success = await finder.recall(finder.question(presented, for: host), at: time) else {
            return false
        }
        return true
    }

    /// Whether the verification callback lets a presented chain through.
    var connection: @Sendable (_ presented: [[UInt8]], JudgedServer) async -> Bool = { presented, server in
        let promise = MultiThreadedEventLoopGroup.singleton.any()
            .makePromise(of: NIOSSLVerificationResultWithMetadata.self)
        let certificates = presented.compactMap { try? NIOSSLCertificate(bytes: $0, format: .der) }
        PinnedTLS.callback(server) { _ in }(certificates, promise)
        guard case .certificateVerified? = try? await promise.futureResult.get() else { return false }
        return true
    }

    /// All of them.
    func all(_ answers: KnownAnswers) -> [KnownAnswer] { self.paths(answers) + self.connections(answers) }

    private func paths(_ answers: KnownAnswers) -> [KnownAnswer] {
        let good = KnownAnswer("path", isGood: true) {
            guard let chain = answers.chain(), let host = try? HostName(chain.host) else { return nil }
            return await self.path(chain.presented, chain.anchor, host, chain.time)
        }
        // An authority that nobody trusts, with the right name of the server.
        let foreign = KnownAnswer("path", isGood: false) {
            guard let chain = answers.chain(), let other = answers.chain(for: chain.host),
                let host = try? HostName(chain.host)
            else { return nil }
            return await self.path(other.presented, chain.anchor, host, chain.time)
        }
        // The right authority, for another server.
        let misplaced = KnownAnswer("path", isGood: false) {
            guard let chain = answers.chain(), let other = answers.chain(), chain.host != other.host,
                let host = try? HostName(other.host)
            else { return nil }
            return await self.path(chain.presented, chain.anchor, host, chain.time)
        }
        // A leaf under an intermediate that did not sign it.
        let unsigned = KnownAnswer("path", isGood: false) {
            guard let chain = answers.chain(), let other = answers.chain(for: chain.host),
                let host = try? HostName(chain.host)
            else { return nil }
            return await self.path([other.leaf, chain.intermediate], chain.anchor, host, chain.time)
        }
        return [good, foreign, misplaced, unsigned]
    }

    private func connections(_ answers: KnownAnswers) -> [KnownAnswer] {
        let good = KnownAnswer("connection", isGood: true) {
            guard let chain = answers.chain(), let server = self.server(of: chain, pinning: chain, answers) else {
                return nil
            }
            return await self.connection(chain.presented, server)
        }
        // Trusted, and not pinned: what an intercepting proxy presents where its authority is installed.
        let unpinned = KnownAnswer("connection", isGood: false) {
            guard let chain = answers.chain(), let other = answers.chain(for: chain.host),
                let server = self.server(of: other, pinning: chain, answers)
            else { return nil }
            return await self.connection(other.presented, server)
        }
        // Not even trusted.
        let foreign = KnownAnswer("connection", isGood: false) {
            guard let chain = answers.chain(), let other = answers.chain(for: chain.host),
                let server = self.server(of: chain, pinning: chain, answers)
            else { return nil }
            return await self.connection(other.presented, server)
        }
        return [good, unpinned, foreign]
    }

    /// A server that is trusted by one chain's anchor, and pinned to another chain's key.
    private func server(of chain: TrialChain, pinning pinned: TrialChain, _ answers: KnownAnswers) -> JudgedServer? {
        guard let policy = answers.policy(for: pinned), let host = try? HostName(chain.host) else { return nil }
        return JudgedServer(
            pinning: .forTrial(policy, clock: KnownAnswers.clock(of: chain)),
            finder: PathFinder(roots: RootStore(certificates: [chain.anchor])), host: host, port: 443)
    }
}
#endif
