// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation
internal import PinFailureReports
internal import PinListMetadata

/// The policy in force, by which handshakes are evaluated until the next list. Immutable, so that any thread reads it
/// without waiting.
///
/// It holds the rules for a valid and for an expired list. The clock chooses between them at each decision, so that a
/// wrong clock has no effect beyond that moment.
public final class PolicyInForce: Sendable {
    /// The members of reports about the list; `nil` without one.
    let reportedList: ReportedList?
    /// The sampling of reports; `nil` without a list: every failure is reported.
    let sampling: ReportSampling?
    /// A counter of the rules that came into force; open connections are evaluated again when it changes.
    public let epoch: UInt64
    /// Whether the list had expired when the rules came into force: open connections were evaluated by that.
    let wasStale: Bool

    /// The log list for policies of Certificate Transparency; `nil` for none.
    let logs: LogsInForce?

    /// Whether the event about an entry's policy that cannot be evaluated was sent: it is sent once.
    let lackOfLogs = FirstTime()

    /// Whether the entries have another effect once the list has expired. Then the clock decides on what a pin allowed, too.
    @_spi(Adapters) public let changesWhenStale: Bool

    private let valid: PinningPolicy
    private let stale: PinningPolicy
    /// The earliest reference time: the build date, or the `issuedAt` of a current list.
    private let earliest: Timestamp?
    /// The expiry of the list; `nil` without a list.
    private let expiresAt: Timestamp?

    /// The digest of the list's envelope; `nil` without a list.
    public var listDigest: String? { self.reportedList?.digest }

    /// The version of the list; `nil` without a list.
    public var listVersion: Int64? { self.reportedList?.version }

    /// Creates the policy in force.
    ///
    /// - Parameters:
    ///   - valid: The rules while the list is valid.
    ///   - stale: The rules once it has expired.
    ///   - reportedList: The members of reports about the list.
    ///   - sampling: The sampling of reports.
    ///   - epoch: A counter of the rules that came into force.
    ///   - earliest: The earliest reference time.
    ///   - expiresAt: The expiry of the list.
    ///   - changesWhenStale: Whether the entries have another effect after it.
    ///   - logs: The log list in force for policies of Certificate Transparency.
    ///   - clock: The time when the rules come into force.
    init(
        valid: PinningPolicy, stale: PinningPolicy, reportedList: ReportedList?, sampling: ReportSampling?,
        epoch: UInt64, earliest: Timestamp?, expiresAt: Timestamp?, changesWhenStale: Bool = false,
        logs: LogsInForce? = nil, at clock: Timestamp
    ) {
        self.valid = valid
        self.stale = stale
        self.reportedList = reportedList
        self.sampling = sampling
        self.epoch = epoch
        self.earliest = earliest
        self.expiresAt = expiresAt
        self.changesWhenStale = changesWhenStale && expiresAt != nil
        self.logs = logs
        self.wasStale = Self.isStale(expiresAt, at: Self.reference(earliest, clock))
    }

    /// Whether its list is another one than that of other rules, and came into force later. Versions do not say: a root
    /// that revokes a signer frees them.
    func hasNewerList(than other: PolicyInForce) -> Bool {
        guard let list = self.reportedList else { return false }
        return other.reportedList.map { $0.order < list.order && $0.digest != list.digest } ?? true
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

    /// The reference time of the rules.
    public func referenceTime(_ clock: Timestamp) -> Timestamp { Self.reference(self.earliest, clock) }

    private static func reference(_ earliest: Timestamp?, _ clock: Timestamp) -> Timestamp {
        earliest.map { max(clock, $0) } ?? clock
    }

    private static func isStale(_ expiresAt: Timestamp?, at reference: Timestamp) -> Bool {
        expiresAt.map { $0 <= reference } ?? false
    }
}

/// Holds the policy in force for all threads. The lock is held only to copy a reference.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class LockedPolicy: @unchecked Sendable {
    private let lock = NSLock()
    private var policy: PolicyInForce
    private var observers: [UUID: AsyncStream<PolicyInForce>.Continuation] = [:]

    init(_ policy: PolicyInForce) { self.policy = policy }

    /// The policy. Setting it notifies observers.
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

    /// The later policies; a slow observer sees the newest.
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
    /// The rules of the list in force, for one installation. Without any list every host is refused.
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
            expiresAt: held?.list.expiresAt, changesWhenStale: configuration.whenStale != .enforce, logs: logs,
            at: clock)
    }
}
