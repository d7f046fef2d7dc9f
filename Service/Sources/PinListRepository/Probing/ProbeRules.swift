// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// Evaluates what hosts serve under a list, seen from the apps that enforce it.
///
/// They are evaluated by the newest list, and by all lists that installations may still hold. An app outside a rollout, or
/// one that only reports, locks no user out. So every installation counts as inside each rollout that is not at zero:
/// the result is whether *any* user is locked out.
public struct ProbeRules: Sendable {
    /// The list.
    public let list: PinList

    /// The time of the evaluation: suspensions and the ends of entries are counted from here.
    let reference: Timestamp

    /// The share of the installations that enforce an entry, in percent, where that is not all of them.
    let rollouts: [HostName: Int]

    /// The log lists that policies of Certificate Transparency are evaluated with; `nil` where the project has none.
    let logs: ProbeLogs?

    private let time: Timestamp
    private let notice: Int64
    private let held: HeldRules?
    private let policy: PinningPolicy
    private let unsuspended: PinningPolicy

    /// Prepares a list.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - time: Now.
    ///   - notice: The time before the end of a certificate at which it is said, in seconds.
    ///   - held: The lists that installations may still hold; `nil` where only this list is known.
    ///   - logs: The log lists for policies of Certificate Transparency; `nil` for none.
    /// - Throws: ``RepositoryError`` for a list that no rules can be made of.
    public init(
        _ list: PinList, at time: Timestamp, notice: Int64, held: HeldLists? = nil, logs: ProbeLogs? = nil
    ) throws(RepositoryError) {
        self.list = list
        self.held = try held.map { held throws(RepositoryError) in try HeldRules(held, at: time) }
        self.time = time
        self.logs = logs
        self.notice = notice
        self.reference = max(time, list.issuedAt)
        self.rollouts = Dictionary(
            list.domains.filter { $0.rollout < 100 }.map { ($0.entry.domain, $0.rollout) }
        ) { first, _ in first }
        var fullRollout = list
        for index in fullRollout.domains.indices where fullRollout.domains[index].rollout > 0 {
            fullRollout.domains[index].rollout = 100
        }
        let isStale = list.expiresAt <= self.reference
        do throws(InputError) {
            self.policy = try fullRollout.policy(for: nil, isStale: isStale)
            fullRollout.suspended = []
            self.unsuspended = try fullRollout.policy(for: nil, isStale: isStale)
        } catch {
            throw RepositoryError(.metadata, "no rules can be made of this list: \(error)")
        }
    }

    /// Whether the list has expired; clients go on enforcing it.
    public var isExpired: Bool { self.list.expiresAt <= self.reference }

    /// The hosts to ask: those that the entries are named for, those that older lists enforce which installations may
    /// still hold, then others, each once.
    public func hosts(and others: [HostName]) -> [HostName] {
        var seen: Set<HostName> = []
        let entries = self.list.domains.map(\.entry.domain) + (self.held?.hosts ?? [])
        return (entries + others).filter { seen.insert($0).inserted }
    }

    /// Evaluates what a probe observed.
    ///
    /// - Parameters:
    ///   - host: The host that was asked.
    ///   - observation: The observation of the host.
    ///   - memory: The observations of earlier probes; this one is added.
    func evaluate(
        _ host: HostName, _ observation: ProbeObservation, _ memory: inout ProbeMemory, elsewhere: Set<String> = []
    ) -> ProbedHost {
        let entry = self.policy.entry(for: host)
        guard let decision = self.decision(for: host, observation) else {
            var reason = ""
            if case .unreachable(let words) = observation { reason = words }
            return ProbedHost(
                state: .unknown, host: host, entry: entry, decision: nil, refusal: nil, path: [], daysLeft: nil,
                issuerChanged: nil, error: PrintableText.line(reason), notes: self.standing(of: entry))
        }
        let path = zip(decision.path.certificates, decision.path.publicKeyPins).map {
            ProbedCertificate($0, pin: $1)
        }
        let present = Self.pins(of: entry, in: decision)
        let before = memory.keep(host, path, pins: present, at: self.time)
        let issuer = memory.hosts[host.description]?.issuer
        let changed = path.isEmpty ? nil : before.map { $0.issuer != issuer }
        let ends = path.contains { certificate in
            certificate.notAfter.map { $0.secondsSince1970 - self.time.secondsSince1970 <= self.notice } ?? true
        }
        var notes = self.standing(of: entry)
        notes += self.suspensions(decision, host, observation)
        if changed == true, let before, let leaf = path.first {
            notes.append("the issuer changed since \(before.at): from \(before.issuerName) to \(leaf.issuer)")
        }
        notes += Self.pins(
            of: entry, path: path, present: present, elsewhere: elsewhere, ever: memory.pins(of: host))
        let refusal = self.refusal(of: host, observation)
        let locksOut = decision.verdict == .block || refusal.map { !$0.isTolerated } ?? false
        if let refusal { notes.append(refusal.text) }
        return ProbedHost(
            state: locksOut ? .locksOut : ends ? .endsSoon : .well, host: host, entry: entry,
            decision: decision, refusal: refusal, path: path,
            daysLeft: path.compactMap { $0.daysLeft(at: self.time) }.min(),
            issuerChanged: changed, error: decision.detail.map { PrintableText.line($0) }, notes: notes)
    }

    /// The pins of an entry that are in the path that was evaluated.
    private static func pins(of entry: PinnedDomain?, in decision: PinningDecision) -> Set<String> {
        Set((entry?.pins ?? []).filter { !decision.path.indices(matching: $0).isEmpty }.map(\.pin.description))
    }

    /// The pins of a host's entry that are in what one of its addresses serves.
    func pins(of host: HostName, in observation: ProbeObservation) -> Set<String> {
        self.decision(for: host, observation).map { Self.pins(of: self.policy.entry(for: host), in: $0) } ?? []
    }

    /// The decision of an app that enforces; `nil` when there is nothing to evaluate.
    func decision(for host: HostName, _ observation: ProbeObservation) -> PinningDecision? {
        self.policy.decision(for: host, observation, at: self.reference).map { decision in
            decision.evaluated { policy in
                self.evaluation(under: policy, observation)
            }
        }
    }

    /// The lists that installations may still hold and that refuse what is served; `nil` when none does.
    func refusal(of host: HostName, _ observation: ProbeObservation) -> HeldRefusal? {
        self.held?.refusal(of: host, observation)
    }

    /// The suspensions that hold back a refusal that would come otherwise.
    private func suspensions(
        _ decision: PinningDecision, _ host: HostName, _ observation: ProbeObservation
    ) -> [String] {
        guard decision.reason == .suspended,
            let later = self.unsuspended.decision(for: host, observation, at: self.reference)
        else { return [] }
        let end = self.policy.nextEndOfSuspension(after: self.reference).map { " (the next one ends \($0))" } ?? ""
        return [
            later.verdict == .block
                ? "suspended\(end); without that it would be refused: \(later.reason)"
                : "suspended\(end); without that it would be allowed as well: \(later.reason)"
        ]
    }
}

extension PinningPolicy {
    /// The decision on an observation under these rules; `nil` when there is nothing to evaluate.
    func decision(
        for host: HostName, _ observation: ProbeObservation, at time: Timestamp
    ) -> PinningDecision? {
        switch observation {
        case .validated(let path): self.validate(path, for: host.description, at: time)
        case .refused(let reason, let detail): self.refusal(of: host.description, reason, detail: detail)
        case .unreachable: nil
        }
    }
}
