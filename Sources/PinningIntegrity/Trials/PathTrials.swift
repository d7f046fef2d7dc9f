// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
internal import CertificatePinning
@_spi(Adapters) internal import PinListClient
@_spi(Adapters) internal import PinningNIO

/// The trials of `PinningNIO` for a canary: paths are validated, and the callback of TLS refuses.
struct PathTrials: Sendable {
    /// A chain that is presented to a client, and the anchors and pins of that client.
    struct Connection: Sendable {
        let presented: [[UInt8]]
        let anchor: [UInt8]
        let policy: PinningPolicy
        let host: HostName
        let clock: any PinningClock
    }

    /// Whether a presented chain has a path to one anchor, for a host, at a time.
    var path: @Sendable (_ presented: [[UInt8]], _ anchor: [UInt8], HostName, Timestamp) async -> Bool = {
        await ConnectionTrial.hasPath($0, to: $1, for: $2, at: $3)
    }

    /// Whether the verification callback lets a presented chain through.
    var connection: @Sendable (Connection) async -> Bool = {
        await ConnectionTrial.isLetThrough(
            $0.presented, trusting: $0.anchor, by: $0.policy, for: $0.host, clock: $0.clock)
    }

    /// All known answers.
    func all(_ answers: KnownAnswerCheck) -> [KnownAnswer] { self.paths(answers) + self.connections(answers) }

    private func paths(_ answers: KnownAnswerCheck) -> [KnownAnswer] {
        let good = KnownAnswer("path", isGood: true) {
            guard let chain = answers.chain(), let host = try? HostName(chain.host) else { return nil }
            return await self.path(chain.presented, chain.anchor, host, chain.time)
        }
        // An untrusted authority, with the right name of the server.
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

    private func connections(_ answers: KnownAnswerCheck) -> [KnownAnswer] {
        let good = KnownAnswer("connection", isGood: true) {
            guard let chain = answers.chain() else { return nil }
            return await self.isLetThrough(chain, trusting: chain, pinning: chain, answers)
        }
        // Trusted, and not pinned: what an intercepting proxy presents where its authority is installed.
        let unpinned = KnownAnswer("connection", isGood: false) {
            guard let chain = answers.chain(), let other = answers.chain(for: chain.host) else { return nil }
            return await self.isLetThrough(other, trusting: other, pinning: chain, answers)
        }
        // A chain that is not trusted either.
        let foreign = KnownAnswer("connection", isGood: false) {
            guard let chain = answers.chain(), let other = answers.chain(for: chain.host) else { return nil }
            return await self.isLetThrough(other, trusting: chain, pinning: chain, answers)
        }
        return [good, unpinned, foreign]
    }

    /// Presents a chain to a client that trusts one chain's anchor, and pins another chain's key.
    private func isLetThrough(
        _ presented: TrialChain, trusting trusted: TrialChain, pinning pinned: TrialChain, _ answers: KnownAnswerCheck
    ) async -> Bool? {
        guard let policy = answers.policy(for: pinned), let host = try? HostName(trusted.host) else { return nil }
        return await self.connection(
            Connection(
                presented: presented.presented, anchor: trusted.anchor, policy: policy, host: host,
                clock: KnownAnswerCheck.clock(of: trusted)))
    }
}
#endif
