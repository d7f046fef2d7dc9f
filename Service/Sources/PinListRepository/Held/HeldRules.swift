// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata

/// What the lists that installations may still hold make of what hosts serve.
///
/// Suspensions are left out: they end. Everybody is in every rollout that is not at zero; where installations were
/// counted, a rollout counts as its part of them.
public struct HeldRules: Sendable {
    private struct Rules {
        let policy: PinningPolicy
        let rollouts: [HostName: Int]
    }

    /// The lists.
    public let held: HeldLists

    private let time: Timestamp
    private let rules: [Rules]

    /// Prepares lists.
    ///
    /// - Parameters:
    ///   - held: The lists.
    ///   - time: Now.
    /// - Throws: ``RepositoryError`` for a list that no rules can be made of.
    public init(_ held: HeldLists, at time: Timestamp) throws(RepositoryError) {
        self.held = held
        self.time = time
        var rules: [Rules] = []
        for list in held.lists.map(\.list) {
            var everybody = list
            everybody.suspended = []
            for index in everybody.domains.indices where everybody.domains[index].rollout > 0 {
                everybody.domains[index].rollout = 100
            }
            let rollouts = list.domains.filter { (1..<100).contains($0.rollout) }.map { ($0.entry.domain, $0.rollout) }
            do throws(InputError) {
                rules.append(
                    Rules(
                        policy: try everybody.policy(for: nil, isStale: false),
                        rollouts: Dictionary(rollouts) { first, _ in first }))
            } catch {
                throw RepositoryError(.metadata, "no rules can be made of version \(list.version): \(error)")
            }
        }
        self.rules = rules
    }

    /// The hosts of entries that enforce in any of the lists.
    var hosts: [HostName] {
        var seen: Set<HostName> = []
        return self.held.lists.flatMap(\.list.domains).filter { $0.entry.mode == .enforce }.map(\.entry.domain)
            .filter { seen.insert($0).inserted }
    }

    /// Which lists refuse what a host serves; `nil` when none does, or the host could not be asked.
    public func refusal(of host: HostName, _ observation: ProbeObservation) -> HeldRefusal? {
        if case .unreachable = observation { return nil }
        return self.held.refusal(
            zip(self.held.lists, self.rules).map { held, rules in self.part(of: held, rules, host, observation) })
    }

    /// The part of those who hold a list that refuses.
    private func part(
        of held: HeldLists.Held, _ rules: Rules, _ host: HostName, _ observation: ProbeObservation
    ) -> Double {
        let time = max(self.time, held.list.issuedAt)
        guard let decision = rules.policy.decision(for: host, observation, at: time), decision.verdict == .block else {
            return 0
        }
        // Outside of a rollout a mismatch is reported. What else blocks, blocks everybody.
        guard decision.reason == .noMatchingPin, let entry = rules.policy.entry(for: host),
            let rollout = rules.rollouts[entry.domain]
        else { return 1 }
        return Double(rollout) / 100
    }
}
