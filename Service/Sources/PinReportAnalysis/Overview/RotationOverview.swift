// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinRotation

/// The plan of a rotation, and what the service sees of it.
package struct RotationOverview: Hashable, Sendable {
    /// The list.
    package let name: String
    /// The noted hostname.
    package let host: String
    /// The time at which the plan was pushed.
    package let storedAt: Timestamp
    /// The plan; `nil` for one that a later version stored and that this one cannot read.
    package let plan: RotationPlan?

    package init(_ stored: StoredRotation) { self.init(stored, try? RotationPlan(json: stored.bytes)) }

    /// States a plan that was read before.
    package init(_ stored: StoredRotation, _ plan: RotationPlan?) {
        self.name = stored.name
        self.host = stored.host
        self.storedAt = stored.storedAt
        self.plan = plan
    }

    /// The state, in a word.
    package var state: String { self.plan?.state.rawValue ?? "not readable" }

    /// Whether something is still to be done.
    package var isOpen: Bool { self.plan.map { !$0.state.isFinal } ?? true }

    /// The time for which the next state is planned; `nil` after the last one.
    package func due(at now: Timestamp) -> Timestamp? {
        guard let plan, !plan.state.isFinal else { return nil }
        return plan.outlook(RotationFacts(), at: now).planned
    }

    /// The hosts whose servers were seen with the new key, as far as probes were handed in.
    package func seen(in probes: [StoredProbe]) -> [String] {
        guard let plan else { return [] }
        let entries = Set(plan.entries.map(\.description))
        return probes.filter { $0.name == self.name && entries.contains($0.host) }.filter { probe in
            let facts = ProbeFacts(probe.result)
            // One address of many is enough: installations are locked out there.
            return plan.new.isIn(facts.path.map { try? Pin($0.pin) })
                || facts.addressLeaves.contains { plan.new.isIn([try? Pin($0)]) }
        }.map(\.host)
    }
}
