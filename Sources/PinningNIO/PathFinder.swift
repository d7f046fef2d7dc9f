// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Dispatch
import NIOConcurrencyHelpers
import PathValidation

/// Finds the validated path of a presented chain, with a memory for those that were found before.
final class PathFinder: Sendable {
    /// A chain that is to be validated for a server.
    struct Question: Sendable {
        let presented: [[UInt8]]
        let identity: ServerIdentity
        let key: PathCache.Key
    }

    private let validator: PathValidator
    private let cache = NIOLockedValueBox(PathCache())

    /// Creates a finder.
    ///
    /// - Parameter roots: The anchors.
    init(roots: RootStore) {
        self.validator = PathValidator(roots: roots) { DispatchTime.now().uptimeNanoseconds }
    }

    /// How often a path was remembered, and how often it was not.
    var counts: PathCounts { self.cache.withLockedValue { PathCounts(hits: $0.hits, misses: $0.misses) } }

    /// Prepares a question.
    func question(_ presented: [[UInt8]], for host: HostName) -> Question {
        let identity = ServerIdentity.host(host)
        let key = PathCache.Key(
            presented: presented, identity: identity, roots: self.validator.roots.digest,
            limits: self.validator.limits)
        return Question(presented: presented, identity: identity, key: key)
    }

    /// The path that was found before, while it holds. Waits for nobody.
    func remembered(_ question: Question, at time: Timestamp) -> ValidatedPath? {
        self.cache.withLockedValue { $0.path(for: question.key, at: time) }
    }

    /// Validates, and remembers the path.
    func find(_ question: Question, at time: Timestamp) async -> Result<ValidatedPath, PathRefusal> {
        let outcome = await self.validator.validate(
            presented: question.presented, as: question.identity, at: time)
        self.cache.withLockedValue { $0.keep(outcome, for: question.key, at: time) }
        return outcome.result
    }
}

/// How often a validated path was remembered from an earlier handshake, and how often it had to be found.
public struct PathCounts: Hashable, Sendable {
    /// Handshakes whose path was remembered.
    public let hits: Int
    /// Handshakes whose path was not.
    public let misses: Int
}
#endif
