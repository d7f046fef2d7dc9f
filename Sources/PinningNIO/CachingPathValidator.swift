// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Dispatch
import Foundation
import NIOConcurrencyHelpers
import PathValidation

/// Finds the validated path of a presented chain, with a memory for those that were found before.
final class CachingPathValidator: Sendable {
    /// A chain that is to be validated for a server.
    struct Question: Sendable {
        let presented: [[UInt8]]
        let identity: ServerIdentity
        let key: PathCache.Key

        /// Whether these certificates are those of the question, byte for byte. It runs for every connection, so it
        /// does not use the slower `==`.
        func isAbout(_ chain: [[UInt8]]) -> Bool {
            chain.count == self.presented.count
                && zip(chain, self.presented).allSatisfy { new, old in
                    new.count == old.count && memcmp(new, old, old.count) == 0
                }
        }
    }

    private let validator: PathValidator
    private let cache = NIOLockedValueBox(PathCache())
    /// The newest question about each host: a server mostly presents the same chain, and then nothing needs to
    /// be hashed.
    private let questions = NIOLockedValueBox<[HostName: Question]>([:])
    /// The maximum number of hosts whose question is kept, as many as there are clients of servers.
    private static let hosts = 256

    /// Creates a finder.
    ///
    /// - Parameter roots: The anchors.
    convenience init(roots: RootStore) {
        self.init(PathValidator(roots: roots) { DispatchTime.now().uptimeNanoseconds })
    }

    /// Creates a finder with given limits and a given clock.
    init(_ validator: PathValidator) { self.validator = validator }

    /// The digest of the anchors.
    var rootsDigest: [UInt8] { self.validator.roots.digest }

    /// The numbers of cache hits and misses.
    var counts: PathCounts { self.cache.withLockedValue { PathCounts(hits: $0.hits, misses: $0.misses) } }

    /// Prepares a question.
    func question(_ presented: [[UInt8]], for host: HostName) -> Question {
        if let newest = self.questions.withLockedValue({ $0[host] }), newest.isAbout(presented) { return newest }
        let identity = ServerIdentity.host(host)
        let key = PathCache.Key(
            presented: presented, identity: identity, roots: self.validator.roots.digest,
            limits: self.validator.limits)
        let question = Question(presented: presented, identity: identity, key: key)
        self.questions.withLockedValue { questions in
            if questions.count >= Self.hosts, questions[host] == nil { questions = [:] }
            questions[host] = question
        }
        return question
    }

    /// The cached path, while it is valid. Does not wait.
    func remembered(_ question: Question, at time: Timestamp) -> ValidatedPath? {
        self.cache.withLockedValue { $0.path(for: question.key, at: time) }
    }

    /// The cached path, or the outcome of validating now.
    func validatedPath(_ question: Question, at time: Timestamp) async -> Result<ValidatedPath, PathValidationError> {
        if let path = self.remembered(question, at: time) { return .success(path) }
        return await self.find(question, at: time)
    }

    /// Validates and caches the path; a costly refusal of the last minute is taken from the cache.
    func find(_ question: Question, at time: Timestamp) async -> Result<ValidatedPath, PathValidationError> {
        if let refusal = self.cache.withLockedValue({ $0.refusal(for: question.key, at: time) }) {
            return .failure(refusal)
        }
        let outcome = await self.validator.validate(
            presented: question.presented, as: question.identity, at: time)
        self.cache.withLockedValue { $0.keep(outcome, for: question.key, at: time) }
        return outcome.result
    }
}

/// The numbers of handshakes with and without a cached path.
public struct PathCounts: Hashable, Sendable {
    /// The number of handshakes whose path was cached.
    public let hits: Int
    /// The number of handshakes whose path was not cached.
    public let misses: Int
}
#endif
