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

        /// Whether these certificates are those of the question, byte for byte. At every connection, so not by `==`,
        /// which goes from byte to byte.
        func isAbout(_ chain: [[UInt8]]) -> Bool {
            chain.count == self.presented.count
                && zip(chain, self.presented).allSatisfy { new, old in
                    new.count == old.count && memcmp(new, old, old.count) == 0
                }
        }
    }

    private let validator: PathValidator
    private let cache = NIOLockedValueBox(PathCache())
    /// The newest question about each host: a server mostly presents what it presented before, and then nothing needs to
    /// be hashed.
    private let questions = NIOLockedValueBox<[HostName: Question]>([:])
    /// The most hosts whose question is kept.
    private static let hosts = 256

    /// Creates a finder.
    ///
    /// - Parameter roots: The anchors.
    convenience init(roots: RootStore) {
        self.init(PathValidator(roots: roots) { DispatchTime.now().uptimeNanoseconds })
    }

    /// Creates a finder with limits and a clock of one's own.
    init(_ validator: PathValidator) { self.validator = validator }

    /// The digest of the anchors.
    var rootsDigest: [UInt8] { self.validator.roots.digest }

    /// How often a path was remembered, and how often it was not.
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

    /// The path that was found before, while it holds. Waits for nobody.
    func remembered(_ question: Question, at time: Timestamp) -> ValidatedPath? {
        self.cache.withLockedValue { $0.path(for: question.key, at: time) }
    }

    /// The path that was found before, or what validating comes to now.
    func validatedPath(_ question: Question, at time: Timestamp) async -> Result<ValidatedPath, PathValidationError> {
        if let path = self.remembered(question, at: time) { return .success(path) }
        return await self.find(question, at: time)
    }

    /// Validates, and remembers the path; a refusal that was costly a moment ago is not found again.
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

/// How often a validated path was remembered from an earlier handshake, and how often it had to be found.
public struct PathCounts: Hashable, Sendable {
    /// Handshakes whose path was remembered.
    public let hits: Int
    /// Handshakes whose path was not.
    public let misses: Int
}
#endif
