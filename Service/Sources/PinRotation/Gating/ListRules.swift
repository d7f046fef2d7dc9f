// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import CertificateTransparency
public import PinListMetadata

/// The decisions of one list on what a host presents, in the installations that enforce it.
///
/// Suspensions are left out: they end. An expired list is enforced as before. Every installation counts as inside each
/// rollout that is not at zero; a conclusion says which part of the installations that is.
public struct ListRules: Sendable {
    /// The conclusion of a list.
    public enum Conclusion: Hashable, Sendable {
        /// No installation refuses it: why, and the pin that matched.
        case accepted(PinningDecision.Reason, GateAnswer.Match?)
        /// A percentage of the list's holders refuses it, 1 to 100: why, and a sentence where there is one.
        case refused(PinningDecision.Reason, percent: Int, detail: String?)
        /// What is at hand does not say it: why, and what is needed.
        case undecided(String)

        /// The percentage of the list's holders that refuses it. Where that is not decided, all of them may.
        public var percent: Int {
            switch self {
            case .accepted: 0
            case .refused(_, let percent, _): percent
            case .undecided: 100
            }
        }
    }

    /// The list.
    public let list: PinList

    private let policy: PinningPolicy
    private let rollouts: [HostName: Int]
    private let logs: KnownLogs
    private let time: Timestamp

    /// Prepares a list.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - logs: The log list that it names.
    ///   - time: Now. A list that was issued later is evaluated at that time.
    /// - Throws: `InputError` for a list made in code that no payload could hold.
    public init(_ list: PinList, logs: KnownLogs, at time: Timestamp) throws(InputError) {
        self.list = list
        self.time = max(time, list.issuedAt)
        self.logs = list.logs == nil ? .notAsked : logs.inForce(at: self.time)
        self.rollouts = Dictionary(
            list.domains.filter { (1..<100).contains($0.rollout) }.map { ($0.entry.domain, $0.rollout) }
        ) { first, _ in first }
        var fullRollout = list
        fullRollout.suspended = []
        for index in fullRollout.domains.indices where fullRollout.domains[index].rollout > 0 {
            fullRollout.domains[index].rollout = 100
        }
        self.policy = try fullRollout.policy(for: nil, isStale: false)
    }

    /// The entry that applies to a host.
    public func entry(for host: HostName) -> PinnedDomain? { self.policy.entry(for: host) }

    /// The conclusion for a host.
    public func conclusion(on material: GateMaterial, for host: HostName) -> Conclusion {
        switch material {
        case .path(let path): return self.conclusion(on: path, for: host)
        case .invalid(let reason, let detail):
            return .refused(reason, percent: 100, detail: detail)
        case .key(let key):
            return self.conclusion(on: key, for: host)
        }
    }

    /// The conclusion on a path: the pins, and then the entry's policy of Certificate Transparency.
    private func conclusion(on path: ValidatedPath, for host: HostName) -> Conclusion {
        let decision = self.policy.validate(path, for: host.description, at: self.time)
            .evaluated { policy in
                guard case .known(let logs) = self.logs else { return nil }
                return TransparencyEvidence(of: path, logs: logs).evaluation(
                    under: TransparencyPolicy(policy), at: self.time)
            }
        guard decision.verdict == .allow else {
            return self.refusal(decision.reason, host, detail: decision.transparency?.detail ?? decision.detail)
        }
        if case .missing = self.logs, decision.reason == .pinMatch, let entry = decision.entry,
            Self.enforcesTransparency(entry)
        {
            return .undecided(
                "the entry \(entry.domain) enforces Certificate Transparency, and the log list for it is needed in logs/"
            )
        }
        return .accepted(decision.reason, self.match(of: decision))
    }

    /// Whether a certificate that a policy of Certificate Transparency does not accept is refused.
    private static func enforcesTransparency(_ entry: PinnedDomain) -> Bool {
        entry.isEnforced && entry.transparency?.mode == .enforce
    }

    /// The conclusion when the key alone is known: it is compared with the pins that a leaf may match.
    private func conclusion(on key: Pin, for host: HostName) -> Conclusion {
        if self.policy.denied.contains(where: { $0.isEnforced && $0.pin == key }) {
            return .refused(.deniedKey, percent: 100, detail: nil)
        }
        // Without a path the policy says whether anything is expected of this host.
        let expectation = self.policy.cleartext(to: host.description, at: self.time)
        guard expectation.reason == .cleartext, let entry = expectation.entry else {
            return expectation.verdict == .allow
                ? .accepted(expectation.reason, nil) : self.refusal(expectation.reason, host, detail: nil)
        }
        let known = entry.pins.filter { $0.pin.kind == .publicKey && $0.position.covers(index: 0) }
        if !entry.requireIssuer, let match = known.first(where: { $0.pin == key }) {
            guard self.logs == .notAsked || !Self.enforcesTransparency(entry) else {
                return .undecided(
                    "the entry \(entry.domain) enforces Certificate Transparency, so a whole chain is needed")
            }
            return .accepted(.pinMatch, GateAnswer.Match(match.pin, match.position))
        }
        guard entry.isEnforced else { return .accepted(.noMatchingPin, nil) }
        if entry.requireIssuer {
            return .undecided(
                "the entry \(entry.domain) requires a pin of the issuer as well, so a whole chain is needed")
        }
        guard !known.isEmpty || entry.pins.isEmpty else {
            return .undecided(
                "the entry \(entry.domain) has no pin of a server's own key, so a whole chain is needed")
        }
        return self.refusal(.noMatchingPin, host, detail: nil)
    }

    private func refusal(_ reason: PinningDecision.Reason, _ host: HostName, detail: String?) -> Conclusion {
        // Outside of a rollout what the entry does not accept is reported. Other blocks apply to all installations.
        let rollout = self.entry(for: host).flatMap { self.rollouts[$0.domain] } ?? 100
        let isOfEntry = reason == .noMatchingPin || reason == .transparency
        return .refused(reason, percent: isOfEntry ? rollout : 100, detail: detail)
    }

    /// The pin that matched, in the position that the entry has for it.
    private func match(of decision: PinningDecision) -> GateAnswer.Match? {
        guard let matched = decision.matched else { return nil }
        let known = decision.entry?.pins.first { $0.pin == matched.pin && $0.position.covers(index: matched.index) }
        return GateAnswer.Match(matched.pin, known?.position ?? .any)
    }
}

/// Versions of lists as people read them.
public enum ListVersions {
    /// Versions, each once and in their order: `versions 3 to 5 and 7`.
    public static func text(of versions: [Int64]) -> String {
        let versions = Set(versions).sorted()
        var runs: [ClosedRange<Int64>] = []
        for version in versions {
            if let last = runs.last, last.upperBound + 1 == version {
                runs[runs.count - 1] = last.lowerBound...version
            } else {
                runs.append(version...version)
            }
        }
        let texts = runs.map(Self.numbers)
        let all = texts.dropLast().joined(separator: ", ") + (texts.count > 1 ? " and " : "") + (texts.last ?? "")
        return (versions.count == 1 ? "version " : "versions ") + all
    }

    /// Versions without a gap: `versions 3 to 5`.
    public static func text(of run: ClosedRange<Int64>) -> String {
        (run.lowerBound == run.upperBound ? "version " : "versions ") + self.numbers(run)
    }

    private static func numbers(_ run: ClosedRange<Int64>) -> String {
        guard run.lowerBound < run.upperBound else { return "\(run.lowerBound)" }
        return "\(run.lowerBound) \(run.lowerBound + 1 == run.upperBound ? "and" : "to") \(run.upperBound)"
    }
}
