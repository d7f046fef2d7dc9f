// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// A host has as many verdicts as addresses: behind one of them may stand a server with another key.
extension ProbeRules {
    /// Evaluates what was seen at each address of a host.
    ///
    /// The host is as its worst address. One that could not be asked leaves the host undecided, unless this machine has
    /// no route to it and another one was asked.
    ///
    /// - Parameters:
    ///   - host: The host that was asked.
    ///   - observations: The observations of its addresses.
    ///   - memory: The observations of earlier probes; this one is added.
    public func evaluate(
        _ host: HostName, _ observations: [AddressObservation], _ memory: inout ProbeMemory
    ) -> ProbedHost {
        let asked = observations.filter { !$0.observation.isUnreachable }
        let silent = observations.filter { $0.observation.isUnreachable && (asked.isEmpty || !$0.hasNoRoute) }
        let before = memory
        var found: ProbedHost?
        let pins = asked.reduce(into: Set<String>()) { $0.formUnion(self.pins(of: host, in: $1.observation)) }
        var seen: Set<ProbeObservation> = []
        // Where all addresses present the same, there is one thing to evaluate.
        var distinct: [ProbeObservation] = []
        for observation in asked.map(\.observation) where seen.insert(observation).inserted {
            distinct.append(observation)
            var kept = before
            let next = self.evaluate(host, observation, &kept, elsewhere: pins)
            guard found.map({ next.state.isWorse(than: $0.state) }) ?? true else { continue }
            (found, memory) = (next, kept)
        }
        memory.add(pins: pins, of: host)
        let unreachable = silent.first?.observation ?? .unreachable("it has no address")
        var evaluated = found ?? self.evaluate(host, unreachable, &memory)
        self.addTransparency(to: &evaluated, distinct, isComplete: silent.isEmpty, &memory)
        if !silent.isEmpty, evaluated.state == .well { evaluated.state = .unknown }
        evaluated.addresses = observations.compactMap { self.probed(host, $0) }
        if let first = evaluated.addresses.first, !evaluated.addresses.allSatisfy({ $0.isLike(first) }) {
            evaluated.notes += evaluated.addresses.map(\.line)
        }
        return evaluated
    }

    private func probed(_ host: HostName, _ observation: AddressObservation) -> ProbedAddress? {
        guard let address = observation.address else { return nil }
        let decision = self.decision(for: host, observation.observation)
        var error = decision?.detail
        if case .unreachable(let reason) = observation.observation { error = reason }
        return ProbedAddress(
            address: address, decision: decision, refusal: self.refusal(of: host, observation.observation),
            error: error.map { PrintableText.line($0) })
    }
}

extension ProbeObservation {
    fileprivate var isUnreachable: Bool { if case .unreachable = self { true } else { false } }
}

extension ProbedHost.State {
    /// Whether a host in this state is more urgent than one in another.
    fileprivate func isWorse(than other: ProbedHost.State) -> Bool { self.weight > other.weight }

    private var weight: Int {
        switch self {
        case .well: 0
        case .unknown: 1
        case .endsSoon: 2
        case .revoked: 3
        case .locksOut: 4
        }
    }
}
