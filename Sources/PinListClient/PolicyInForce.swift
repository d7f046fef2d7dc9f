// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import Foundation
internal import PinFailureReports
internal import PinListMetadata

/// The rules that handshakes are judged by, at one moment. Immutable, so that any thread reads it without waiting.
public final class PolicyInForce: Sendable {
    /// The rules.
    public let policy: PinningPolicy
    /// What reports say of the list; `nil` without one.
    let reportedList: ReportedList?
    /// Counts the lists that came into force; open connections are judged again when it changes.
    public let epoch: UInt64

    /// No rule is judged by an earlier time: the build date, and the `issuedAt` of a current list.
    private let earliest: Timestamp?
    /// When the list expires, unless it has already.
    let expiresAt: Timestamp?

    /// The digest of the list's envelope; `nil` without a list.
    public var listDigest: String? { self.reportedList?.digest }

    init(
        policy: PinningPolicy, reportedList: ReportedList?, epoch: UInt64, earliest: Timestamp?, expiresAt: Timestamp?
    ) {
        self.policy = policy
        self.reportedList = reportedList
        self.epoch = epoch
        self.earliest = earliest
        self.expiresAt = expiresAt
    }

    /// The time that rules are judged by.
    public func referenceTime(_ clock: Timestamp) -> Timestamp { max(clock, self.earliest ?? clock) }
}

/// Holds the policy in force for all threads. The lock is held for as long as it takes to copy a reference.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class PolicyBox: @unchecked Sendable {
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
        for installation: InstallationID?, epoch: UInt64, _ configuration: PinningConfiguration, at clock: Timestamp
    ) -> PolicyInForce {
        let isStale = self.isStale(clock)
        let held = self.inForce?.held
        let policy = held.flatMap {
            try? $0.list.policy(
                for: installation, isStale: isStale, whenStale: configuration.whenStale,
                observing: configuration.isObserving)
        }
        let isCurrent = held?.status == .current
        return PolicyInForce(
            policy: policy ?? PinningPolicy(unlisted: configuration.isObserving ? .report : .deny),
            reportedList: held.map { ReportedList($0) }, epoch: epoch,
            earliest: [configuration.buildDate, isCurrent ? held?.list.issuedAt : nil].compactMap { $0 }.max(),
            expiresAt: isStale ? nil : held?.list.expiresAt)
    }
}
