// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation
internal import PinFailureReports
internal import PinListMetadata

/// What handshakes are evaluated by, from one list to the next. Immutable, so that any thread reads it without waiting.
///
/// It holds the rules of the list while it is valid and those for when it has expired: which of them decide is asked of
/// the clock at each decision, so that a clock that was wrong for a moment decides for no longer.
public final class PolicyInForce: Sendable {
    /// What reports say of the list; `nil` without one.
    let reportedList: ReportedList?
    /// Whether this installation reports a failure; `nil` without a list: every failure is reported.
    let sampling: ReportSampling?
    /// Counts the rules that came into force; open connections are evaluated again when it changes.
    public let epoch: UInt64
    /// Whether the list had expired when the rules came into force: open connections were evaluated by that.
    let wasStale: Bool

    /// What policies of Certificate Transparency are evaluated with; `nil` for nothing.
    let logs: LogsInForce?

    /// That an entry's policy of Certificate Transparency cannot be evaluated is said once.
    let lackOfLogs = FirstTime()

    private let valid: PinningPolicy
    private let stale: PinningPolicy
    /// No rule is evaluated by an earlier time: the build date, and the `issuedAt` of a current list.
    private let earliest: Timestamp?
    /// When the list expires; `nil` without a list.
    private let expiresAt: Timestamp?

    /// The digest of the list's envelope; `nil` without a list.
    public var listDigest: String? { self.reportedList?.digest }

    /// The version of the list; `nil` without a list.
    public var listVersion: Int64? { self.reportedList?.version }

    /// Puts rules together.
    ///
    /// - Parameters:
    ///   - valid: The rules while the list is valid.
    ///   - stale: The rules once it has expired.
    ///   - reportedList: What reports say of the list.
    ///   - sampling: Whether this installation reports.
    ///   - epoch: Counts the rules that came into force.
    ///   - earliest: No rule is evaluated by an earlier time.
    ///   - expiresAt: When the list expires.
    ///   - logs: What policies of Certificate Transparency are evaluated with.
    ///   - clock: When the rules come into force.
    init(
        valid: PinningPolicy, stale: PinningPolicy, reportedList: ReportedList?, sampling: ReportSampling?,
        epoch: UInt64, earliest: Timestamp?, expiresAt: Timestamp?, logs: LogsInForce? = nil,
        at clock: Timestamp
    ) {
        self.valid = valid
        self.stale = stale
        self.reportedList = reportedList
        self.sampling = sampling
        self.epoch = epoch
        self.earliest = earliest
        self.expiresAt = expiresAt
        self.logs = logs
        self.wasStale = Self.isStale(expiresAt, at: Self.reference(earliest, clock))
    }

    /// The rules at a time of the clock.
    public func policy(at clock: Timestamp) -> PinningPolicy { self.isStale(at: clock) ? self.stale : self.valid }

    /// Whether the list has expired at a time of the clock.
    func isStale(at clock: Timestamp) -> Bool { Self.isStale(self.expiresAt, at: self.referenceTime(clock)) }

    /// Whether this installation reports a decision. A denied key is reported by every installation.
    func isReported(_ decision: PinningDecision, at clock: Timestamp) -> Bool {
        guard let sampling = self.sampling, decision.reportedReason != .deniedKey else { return true }
        return sampling.includes(decision.entry?.domain, at: clock)
    }

    /// The time that rules are evaluated by.
    public func referenceTime(_ clock: Timestamp) -> Timestamp { Self.reference(self.earliest, clock) }

    private static func reference(_ earliest: Timestamp?, _ clock: Timestamp) -> Timestamp {
        earliest.map { max(clock, $0) } ?? clock
    }

    private static func isStale(_ expiresAt: Timestamp?, at reference: Timestamp) -> Bool {
        expiresAt.map { $0 <= reference } ?? false
    }
}

/// Holds the policy in force for all threads. The lock is held for as long as it takes to copy a reference.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class LockedPolicy: @unchecked Sendable {
    private let lock = NSLock()
    private var policy: PolicyInForce
    private var observers: [UUID: AsyncStream<PolicyInForce>.Continuation] = [:]

    init(_ policy: PolicyInForce) { self.policy = policy }

    /// The policy. Setting it tells those who observe.
    var value: PolicyInForce {
        get { self.lock.withLock { self.policy } }
        set {
            let observers = self.lock.withLock {
                self.policy = newValue
                return Array(self.observers.values)
            }
            for observer in observers { observer.yield(newValue) }
        }
    }

    /// The policies from now on; who is slow sees the newest.
    func changes() -> AsyncStream<PolicyInForce> {
        let id = UUID()
        let (changes, observer) = AsyncStream.makeStream(of: PolicyInForce.self, bufferingPolicy: .bufferingNewest(1))
        observer.onTermination = { [weak self] _ in
            guard let self else { return }
            self.lock.withLock { self.observers[id] = nil }
        }
        self.lock.withLock { self.observers[id] = observer }
        return changes
    }
}

extension TrustState {
    /// The rules of the list in force, for one installation. Where there is no list at all, nothing may pass unpinned.
    func policy(
        for installation: InstallationID?, epoch: UInt64, logs: LogsInForce?, _ configuration: PinningConfiguration,
        at clock: Timestamp
    ) -> PolicyInForce {
        let held = self.inForce?.held
        let valid = held.flatMap {
            try? $0.list.policy(for: installation, isStale: false, observing: configuration.isObserving)
        }
        let stale = held.flatMap { held in
            // The entries are the same then: one index serves both.
            configuration.whenStale == .enforce
                ? valid?.naming(ListIdentity(name: held.list.name, version: held.list.version, stale: true))
                : try? held.list.policy(
                    for: installation, isStale: true, whenStale: configuration.whenStale,
                    observing: configuration.isObserving)
        }
        let nothing = PinningPolicy(unlisted: configuration.isObserving ? .report : .deny)
        let isCurrent = held?.status == .current
        return PolicyInForce(
            valid: valid ?? nothing, stale: stale ?? nothing, reportedList: held.map { ReportedList($0) },
            sampling: held.map { ReportSampling($0.list, for: installation) }, epoch: epoch,
            earliest: [configuration.buildDate, isCurrent ? held?.list.issuedAt : nil].compactMap { $0 }.max(),
            expiresAt: held?.list.expiresAt, logs: logs, at: clock)
    }
}
