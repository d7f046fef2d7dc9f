// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
@_spi(Adapters) internal import PinningURLSession

/// The trials of `PinningURLSession` for a canary: the system validates paths, as the delegates ask it to.
struct TrustTrials: Sendable {
    /// Whether the system finds a path from a presented chain to one anchor, for a host; `nil` when it cannot be asked.
    var path: @Sendable (_ presented: [[UInt8]], _ anchor: [UInt8], _ host: String) async -> Bool? = {
        await TrustTrial.hasPath($0, to: $1, for: $2)
    }

    /// All known answers.
    func all(_ answers: KnownAnswerCheck) -> [KnownAnswer] {
        let good = KnownAnswer("path", isGood: true) {
            guard let chain = answers.chain() else { return nil }
            return await self.path(chain.presented, chain.anchor, chain.host)
        }
        // An untrusted authority, with the right name of the server.
        let foreign = KnownAnswer("path", isGood: false) {
            guard let chain = answers.chain(), let other = answers.chain(for: chain.host) else { return nil }
            return await self.path(other.presented, chain.anchor, chain.host)
        }
        // The right authority, for another server.
        let misplaced = KnownAnswer("path", isGood: false) {
            guard let chain = answers.chain(), let other = answers.chain(), chain.host != other.host else { return nil }
            return await self.path(chain.presented, chain.anchor, other.host)
        }
        return [good, foreign, misplaced]
    }
}
#endif
