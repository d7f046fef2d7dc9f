// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation

/// The recent decisions: a count for each reason, and the newest refusal of each host.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class DecisionStatistics: @unchecked Sendable {
    /// The maximum number of hosts whose refusal is remembered: memory that redirects of a server must not fill.
    private static let hosts = 256
    /// The time for which a refusal explains errors, in seconds.
    private static let seconds: Int64 = 60

    private let lock = NSLock()
    private var countByReason: [PinningDecision.Reason: Int] = [:]
    private var refusals: [String: (decision: PinningDecision, time: Timestamp)] = [:]

    /// The number of decisions by reason.
    var counts: [PinningDecision.Reason: Int] { self.lock.withLock { self.countByReason } }

    /// Records a decision.
    func note(_ decision: PinningDecision, at time: Timestamp) {
        self.lock.withLock {
            self.countByReason[decision.reason, default: 0] += 1
            guard decision.verdict == .block else {
                // Nearly always there is nothing to remove.
                if !self.refusals.isEmpty { self.refusals[decision.host] = nil }
                return
            }
            self.remember(decision, for: decision.host, at: time)
        }
    }

    /// Lets a refusal explain errors of a host that it was not made for.
    func explain(_ host: String, by refusal: PinningDecision, at time: Timestamp) {
        let name = (try? HostName(host))?.description ?? host
        self.lock.withLock { self.remember(refusal, for: name, at: time) }
    }

    private func remember(_ refusal: PinningDecision, for host: String, at time: Timestamp) {
        self.refusals[host] = (refusal, time)
        if self.refusals.count > Self.hosts, let oldest = self.refusals.min(by: { $0.value.time < $1.value.time }) {
            self.refusals[oldest.key] = nil
        }
    }

    /// The newest refusal of a host that explains an error now.
    func refusal(of host: String, at time: Timestamp) -> PinningDecision? {
        let name = (try? HostName(host))?.description ?? host
        return self.lock.withLock {
            guard let (decision, noted) = self.refusals[name],
                abs(time.secondsSince1970 - noted.secondsSince1970) <= Self.seconds
            else { return nil }
            return decision
        }
    }
}
