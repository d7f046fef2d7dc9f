// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateTransparency
internal import Foundation
internal import PinListMetadata

/// The log list that policies of Certificate Transparency are evaluated with, and what it proved of the paths that were seen.
///
/// Signatures are verified once for a path: the policy and the time have no part in that, and another log list is another
/// value. Immutable but for its memory, so any thread asks.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class LogsInForce: @unchecked Sendable {
    /// What a path is remembered by: the keys of its leaf and of the leaf's issuer, which were hashed with the path.
    private struct Key: Hashable {
        let leaf: Pin?
        let issuer: Pin?
    }

    /// Evidence, and the certificate that it is of: a key may have several.
    private struct Remembered {
        let leaf: [UInt8]
        let evidence: TransparencyEvidence
    }

    /// The most keys that are remembered. When there are more all are forgotten, and verified again where they come back.
    private static let maximum = 1_024

    /// How the list names the file.
    let listed: ListedLogs

    /// The file.
    let bytes: [UInt8]

    private let logs: LogList
    private let lock = NSLock()
    private var remembered: [Key: Remembered] = [:]
    private var verifiedPaths = 0

    /// Reads a log list.
    ///
    /// - Throws: `LogListError`.
    init(_ bytes: [UInt8], listed: ListedLogs) throws(LogListError) {
        self.logs = try LogList(bytes)
        self.listed = listed
        self.bytes = bytes
    }

    /// When the publisher of the logs made the list.
    var timestamp: Timestamp? { self.logs.timestamp }

    /// Whether the list is too old to enforce anything at a time.
    func isStale(at time: Timestamp) -> Bool { self.logs.isStale(at: time) }

    /// That the list is stale is said once.
    let staleSaid = FirstTime()

    /// Of how many paths signatures were verified, for tests: it is counted, and not timed.
    var verifications: Int { self.lock.withLock { self.verifiedPaths } }

    /// Whether evaluating a path verifies no signature.
    func remembers(_ path: ValidatedPath) -> Bool { self.lock.withLock { self.known(path) != nil } }

    /// What a policy makes of a path at a time; `nil` when the list is stale.
    func evaluation(
        of path: ValidatedPath, under policy: TransparencyRule.Policy, at time: Timestamp
    ) -> TransparencyEvaluation? {
        guard !self.isStale(at: time) else { return nil }
        return self.evidence(of: path).evaluation(under: TransparencyPolicy(policy), at: time)
    }

    private func evidence(of path: ValidatedPath) -> TransparencyEvidence {
        if let known = self.lock.withLock({ self.known(path) }) { return known }
        // Not under the lock: of two threads with the same path each may verify once.
        let evidence = TransparencyEvidence(of: path, logs: self.logs)
        self.lock.withLock {
            self.verifiedPaths += 1
            let key = Self.key(of: path)
            if self.remembered.count >= Self.maximum, self.remembered[key] == nil { self.remembered = [:] }
            self.remembered[key] = Remembered(leaf: path.certificates.first ?? [], evidence: evidence)
        }
        return evidence
    }

    private func known(_ path: ValidatedPath) -> TransparencyEvidence? {
        guard let known = self.remembered[Self.key(of: path)], let leaf = path.certificates.first, known.leaf == leaf
        else { return nil }
        return known.evidence
    }

    private static func key(of path: ValidatedPath) -> Key {
        Key(leaf: path.publicKeyPins.first ?? nil, issuer: path.publicKeyPins.dropFirst().first ?? nil)
    }
}

extension PolicyInForce {
    /// A decision with what its entry asks of Certificate Transparency. Without a log list, or with one that is stale,
    /// nothing is evaluated.
    ///
    /// - Parameters:
    ///   - decision: What follows from the pins.
    ///   - time: The reference time.
    ///   - tell: Is given what a person should know, once: that the log list is stale, or that there is none for rules
    ///     without a list.
    func evaluated(
        _ decision: consuming PinningDecision, at time: Timestamp,
        tell: (PinningEvent.Kind, String) -> Void
    ) -> PinningDecision {
        guard decision.entry?.transparency != nil else { return decision }
        let path = decision.path
        return decision.evaluated { policy in
            guard let logs = self.logs else {
                if self.listDigest == nil, self.lackOfLogs.isNow() {
                    tell(.logsMissing, "an entry asks for the policy \(policy.rawValue), and there is no log list")
                }
                return nil
            }
            if let evaluation = logs.evaluation(of: path, under: policy, at: time) { return evaluation }
            if logs.staleSaid.isNow() { tell(.logsStale, logs.staleness) }
            return nil
        }
    }
}

extension LogsInForce {
    /// That the list is stale, in a sentence.
    var staleness: String {
        let made = self.timestamp.map { "of \($0)" } ?? "without a time"
        return
            "the log list in force is \(made), and one of over \(LogList.maximumAge / 86_400) days enforces nothing: publish a newer one"
    }
}

/// Whether something happens for the first time.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class FirstTime: @unchecked Sendable {
    private let lock = NSLock()
    private var isOver = false

    /// Whether it does; asking is what happens.
    func isNow() -> Bool {
        self.lock.withLock {
            defer { self.isOver = true }
            return !self.isOver
        }
    }
}
