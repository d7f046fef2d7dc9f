// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateTransparency
internal import Foundation
internal import PinListMetadata

/// The log list in force for policies of Certificate Transparency, with the evidence for the paths that were seen.
///
/// Signatures are verified once for a path, because they depend neither on the policy nor on the time; another log list
/// is another value. Immutable but for its memory, so any thread may use it.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class LogsInForce: @unchecked Sendable {
    /// The key of a remembered path: the pins of its leaf and of the leaf's issuer.
    private struct Key: Hashable {
        let leaf: Pin?
        let issuer: Pin?
    }

    /// Evidence with its certificate, because a key may have several.
    private struct Remembered {
        let leaf: [UInt8]
        let evidence: TransparencyEvidence
    }

    /// The maximum number of remembered keys. Beyond it all are removed, and verified again when they come back.
    private static let maximum = 1_024
    /// The maximum number of remembered certificates of a key: the old one and the new one are open side by side when it was
    /// renewed.
    private static let maximumOfKey = 4

    /// The reference of the list to the file.
    let listed: ListedLogs

    /// The file.
    let bytes: [UInt8]

    private let logs: LogList
    private let lock = NSLock()
    private var remembered: [Key: [Remembered]] = [:]
    private var verifiedPaths = 0

    /// Reads a log list.
    ///
    /// - Throws: `LogListError`.
    init(_ bytes: [UInt8], listed: ListedLogs) throws(LogListError) {
        self.logs = try LogList(bytes)
        self.listed = listed
        self.bytes = bytes
    }

    /// The time when the publisher made the log list.
    var timestamp: Timestamp? { self.logs.timestamp }

    /// Whether the publisher made it after another log list. Without a time it counts as the older one.
    func isNewer(than other: LogsInForce?) -> Bool {
        guard let other else { return true }
        guard let made = self.timestamp else { return false }
        return other.timestamp.map { $0 < made } ?? true
    }

    /// Whether the list is too old to enforce anything at a time.
    func isStale(at time: Timestamp) -> Bool { self.logs.isStale(at: time) }

    /// Whether the event about a stale list was sent: it is sent once, until the list is not stale.
    let staleSaid = FirstTime()

    /// The number of paths whose signatures were verified, for tests.
    var verifications: Int { self.lock.withLock { self.verifiedPaths } }

    /// Whether evaluating a path verifies no signature.
    func remembers(_ path: ValidatedPath) -> Bool { self.lock.withLock { self.known(path) != nil } }

    /// The verdict of a policy on a path at a time; `nil` when the list is stale.
    func evaluation(
        of path: ValidatedPath, under policy: TransparencyRule.Policy, at time: Timestamp
    ) -> TransparencyEvaluation? {
        guard !self.isStale(at: time) else { return nil }
        // The clock may have been ahead: the list will be stale again, and that is said then.
        self.staleSaid.reset()
        return self.evidence(of: path).evaluation(under: TransparencyPolicy(policy), at: time)
    }

    private func evidence(of path: ValidatedPath) -> TransparencyEvidence {
        if let known = self.lock.withLock({ self.known(path) }) { return known }
        // Outside of the lock: two threads with the same path may both verify it.
        let evidence = TransparencyEvidence(of: path, logs: self.logs)
        self.lock.withLock {
            self.verifiedPaths += 1
            let key = Self.key(of: path)
            if self.remembered.count >= Self.maximum, self.remembered[key] == nil { self.remembered = [:] }
            let others = self.remembered[key, default: []].suffix(Self.maximumOfKey - 1)
            self.remembered[key] = others + [Remembered(leaf: path.certificates.first ?? [], evidence: evidence)]
        }
        return evidence
    }

    private func known(_ path: ValidatedPath) -> TransparencyEvidence? {
        guard let leaf = path.certificates.first else { return nil }
        return self.remembered[Self.key(of: path)]?.last { $0.leaf == leaf }?.evidence
    }

    private static func key(of path: ValidatedPath) -> Key {
        Key(leaf: path.publicKeyPins.first ?? nil, issuer: path.publicKeyPins.dropFirst().first ?? nil)
    }
}

extension PolicyInForce {
    /// Applies the entry's demand on Certificate Transparency to a decision. Without a log list, or with a stale one,
    /// nothing is evaluated.
    ///
    /// - Parameters:
    ///   - decision: The decision by the pins.
    ///   - time: The reference time.
    ///   - tell: Receives an event for people, once: the log list is stale, or rules without a list have none.
    func evaluated(
        _ decision: consuming PinningDecision, at time: Timestamp,
        tell: (PinningEvent.Kind, String) -> Void
    ) -> PinningDecision {
        guard decision.entry?.transparency != nil else { return decision }
        let path = decision.path
        return decision.evaluated { policy in
            guard let logs = self.logs else {
                if self.listDigest == nil, self.lackOfLogs.isNow() {
                    tell(.logsMissing, "an entry asks for the policy \(policy.rawValue), but there is no log list")
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
    /// The sentence that says that the list is stale.
    var staleness: String {
        let made = self.timestamp.map { "of \($0)" } ?? "without a time"
        return
            "the log list in force is \(made); a list over \(LogList.maximumAge / 86_400) days old enforces nothing: publish a newer one"
    }
}

/// A flag that is raised once, or once again after it was reset.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class FirstTime: @unchecked Sendable {
    private let lock = NSLock()
    private var isOver = false

    /// Raises the flag; returns whether it was the first time.
    func isNow() -> Bool {
        self.lock.withLock {
            defer { self.isOver = true }
            return !self.isOver
        }
    }

    /// Lowers the flag: the next time is the first one again.
    func reset() { self.lock.withLock { self.isOver = false } }
}
