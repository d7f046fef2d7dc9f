// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinRotation

/// The plan of a rotation, and what the service sees of it.
public struct RotationOverview: Hashable, Sendable {
    /// The list.
    public let name: String
    /// The noted hostname.
    public let host: String
    /// When the plan was pushed.
    public let storedAt: Timestamp
    /// The plan; `nil` for one that a later version stored and that this one cannot read.
    public let plan: RotationPlan?

    init(_ stored: StoredRotation) { self.init(stored, try? RotationPlan(json: stored.bytes)) }

    /// States a plan that was read before.
    init(_ stored: StoredRotation, _ plan: RotationPlan?) {
        self.name = stored.name
        self.host = stored.host
        self.storedAt = stored.storedAt
        self.plan = plan
    }

    /// Where it stands, in a word.
    var state: String { self.plan?.state.rawValue ?? "not readable" }

    /// Whether something is still to be done.
    var isOpen: Bool { self.plan.map { !$0.state.isFinal } ?? true }

    /// When the next state is planned; `nil` after the last one.
    func due(at now: Timestamp) -> Timestamp? {
        guard let plan, !plan.state.isFinal else { return nil }
        return plan.outlook(RotationFacts(), at: now).planned
    }

    /// The hosts whose servers were seen with the new key, as far as probes were handed in.
    func seen(in probes: [StoredProbe]) -> [String] {
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
