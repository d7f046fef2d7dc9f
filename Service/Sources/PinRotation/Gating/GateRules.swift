// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// The gate: decides whether deploying a certificate would lock clients out.
///
/// The first rule that applies decides (formats.md, section 8). A measurement is never overridden by the time that has
/// passed, and what is not known is never safe.
public struct GateRules: Sendable {
    /// The default share of refusing installations that the gate tolerates, in percent.
    public static let usualMaxRefusing: Double = 1

    /// The newest list, and another one that is out as the newest.
    private let newest: [ListRules]
    private let holders: GateHolders
    private let counted: [(rules: ListRules, requests: Int64)]
    private let recent: [ListRules]
    private let maxRefusing: Double
    private let time: Timestamp

    /// Prepares the lists.
    ///
    /// - Parameters:
    ///   - newest: The newest list; where two are taken for that, such as the project's and the service's, both.
    ///   - holders: The lists that installations hold.
    ///   - logs: The log list that a list names.
    ///   - maxRefusing: The share of installations that may refuse, in percent, 0 to 100.
    ///   - time: Now.
    /// - Throws: `InputError` for a list that no rules can be made of.
    public init(
        newest: [PinList], holders: GateHolders, logs: (PinList) -> KnownLogs,
        maxRefusing: Double = Self.usualMaxRefusing, at time: Timestamp
    ) throws(InputError) {
        func rules(_ lists: [PinList]) throws(InputError) -> [ListRules] {
            try lists.map { list throws(InputError) in try ListRules(list, logs: logs(list), at: time) }
        }
        self.newest = try rules(newest.sorted { $0.version < $1.version })
        self.holders = holders
        let named = holders.count?.lists ?? []
        self.counted = Array(zip(try rules(named.map(\.list)), named.map { max($0.requests, 0) }))
        self.recent = try rules(holders.recent)
        self.maxRefusing = min(max(maxRefusing, 0), 100)
        self.time = time
    }

    /// The answer for a host.
    ///
    /// - Parameters:
    ///   - host: The host that would present the material.
    ///   - material: The material that it would present.
    ///   - lifetimes: The validity of the certificates of its path, leaf first; `nil` for one that cannot be read. None
    ///     for a key.
    public func answer(
        for host: HostName, _ material: GateMaterial, lifetimes: [CertificateLifetime?]
    ) -> GateAnswer {
        let refusing = self.refusing(host, material)
        let (verdict, reason) = self.verdict(host, material, lifetimes, refusing)
        let conclusion = self.newest.last?.conclusion(on: material, for: host)
        var matched: GateAnswer.Match?
        if case .accepted(_, let match)? = conclusion { matched = match }
        return GateAnswer(
            host: host, notedHostname: self.newest.last?.entry(for: host)?.domain, verdict: verdict, matched: matched,
            refusing: GateRefusing(
                share: refusing?.share, hours: self.holders.count?.hours ?? self.usualHours,
                requests: self.holders.count?.requests ?? 0),
            reason: PrintableText.line(reason, maximumLength: 1_024))
    }

    /// Whether a key alone does not say what the newest list does with its certificate: a chain is needed.
    public func needsChain(of key: Pin, for host: HostName) -> Bool {
        self.newest.contains { rules in
            if case .undecided = rules.conclusion(on: .key(key), for: host) { true } else { false }
        }
    }

    private var usualHours: Int64 { GateRefusing.hours(of: self.newest.last?.list.refreshInterval ?? 0) }

    /// The rules, in their order.
    private func verdict(
        _ host: HostName, _ material: GateMaterial, _ lifetimes: [CertificateLifetime?], _ refusing: Refusing?
    ) -> (GateVerdict, String) {
        if case .invalid(let reason, let detail) = material {
            return (.unsafe, "the chain does not validate for \(host) (\(reason)): \(detail)")
        }
        guard let newest = self.newest.last else { return (.unknown, "there is no list yet") }
        if let reason = self.refusalOfNewest(host, material) { return (.unsafe, reason) }
        if let ending = self.ending(lifetimes) { return ending }
        for rules in self.newest.reversed() {
            if case .undecided(let why) = rules.conclusion(on: material, for: host) {
                return (.unknown, "\(rules.name): \(why)")
            }
        }
        if self.isUnlisted(host) {
            return (
                .unknown,
                "no list covers \(host): with unlisted: \(newest.list.unlisted.rawValue) apps connect without comparing "
                    + "pins; name a host of an entry, or give this one an entry (mode: off when it is not to be pinned)"
            )
        }
        let note = newest.note(on: newest.conclusion(on: material, for: host), for: host)
        let (verdict, reason) = refusing.map { self.measured($0) } ?? self.byTime(host, material)
        return (verdict, note.map { "\(reason); \($0)" } ?? reason)
    }
}

/// The conclusions that need no count of installations.
extension GateRules {
    private func refusalOfNewest(_ host: HostName, _ material: GateMaterial) -> String? {
        for rules in self.newest.reversed() {
            guard case .refused(let reason, _, let detail) = rules.conclusion(on: material, for: host) else { continue }
            let words = detail.map { ": \($0)" } ?? ""
            return switch reason {
            case .deniedKey: "\(rules.name) denies a key of it\(words)"
            case .revoked: "\(rules.name) revokes a certificate of it\(words)"
            case .noMatchingPin: "\(rules.name) refuses it: no pin matches\(words)"
            case .transparency: "\(rules.name) refuses it: Certificate Transparency is not satisfied\(words)"
            case .unlistedDenied: "\(rules.name) refuses it: no entry covers \(host), and unlisted is deny\(words)"
            default: "\(rules.name) refuses it (\(reason))\(words)"
            }
        }
        return nil
    }

    private func ending(_ lifetimes: [CertificateLifetime?]) -> (GateVerdict, String)? {
        for (index, lifetime) in lifetimes.enumerated() {
            let name = index == 0 ? "the certificate" : "certificate \(index + 1) of the path"
            guard let lifetime else { return (.unknown, "when \(name) ends cannot be read") }
            guard lifetime.isEnding(at: self.time) else { continue }
            let minimum = lifetime.isShort ? "a third of its lifetime" : "7 days"
            return (.unsafe, "\(name) ends at \(lifetime.notAfter): less than \(minimum) is left")
        }
        return nil
    }

    private func isUnlisted(_ host: HostName) -> Bool {
        (self.newest + self.recent + self.counted.map(\.rules)).allSatisfy { $0.entry(for: host) == nil }
    }
}

/// The conclusions of the lists that installations hold.
extension GateRules {
    /// The lists that the counted requests name.
    private struct Refusing {
        let requests: Int64
        /// Hundredths of requests that name a list which refuses, or one that is not at hand.
        let certain: Double
        /// Hundredths of requests that name a list of which that is not decided.
        let undecided: Double

        var share: Double { min((self.certain + self.undecided) / (Double(self.requests) * 100), 1) }
    }

    /// The counted share; `nil` when the counts are not enough.
    private func refusing(_ host: HostName, _ material: GateMaterial) -> Refusing? {
        guard let count = self.holders.count, count.why == nil, count.requests >= GateRefusing.minimumRequests else {
            return nil
        }
        var certain = 0.0
        var undecided = 0.0
        var named = 0.0
        for (rules, requests) in self.counted {
            let conclusion = rules.conclusion(on: material, for: host)
            let part = Double(requests) * Double(conclusion.percent)
            if case .undecided = conclusion { undecided += part } else { certain += part }
            named += Double(requests)
        }
        certain += max(Double(count.requests) - named, 0) * 100
        return Refusing(requests: count.requests, certain: certain, undecided: undecided)
    }

    private func measured(_ refusing: Refusing) -> (GateVerdict, String) {
        // In hundredths of requests, so that the share that is just allowed is.
        let maximum = self.maxRefusing * Double(refusing.requests)
        let hours = self.holders.count?.hours ?? self.usualHours
        let text =
            "\(Share.percent(refusing.share)) of \(refusing.requests) requests in \(hours)h name a list that "
            + "refuses it or is not known"
        let limit = "at most \(Share.percent(self.maxRefusing / 100)) may"
        if refusing.certain > maximum { return (.unsafe, "\(text), and \(limit)") }
        if refusing.certain + refusing.undecided > maximum {
            return (.unknown, "\(text), or one by which it cannot be decided, and \(limit)")
        }
        return (.safe, "\(text); \(limit)")
    }

    private func byTime(_ host: HostName, _ material: GateMaterial) -> (GateVerdict, String) {
        let not = "adoption is not measured (\(self.whyNotMeasured))"
        if !self.holders.missing.isEmpty {
            let missing = self.holders.missing.joined(separator: ", ")
            return (.unknown, "installations may hold lists that are not in lists/ (\(missing)); \(not)")
        }
        let refusing = self.recent.filter { $0.conclusion(on: material, for: host).percent > 0 }
        guard refusing.isEmpty, !self.recent.isEmpty else {
            let versions = ListVersions.text(of: refusing.map(\.list.version))
            let verb = refusing.count == 1 ? "refuses" : "refuse"
            return (
                .unknown,
                refusing.isEmpty
                    ? "no list is known to be out; \(not)"
                    : "\(versions), which installations may still hold, \(verb) it; \(not)"
            )
        }
        let versions = ListVersions.text(of: self.recent.map(\.list.version))
        return (.safe, "every list of the last propagation accepts it (\(versions)); \(not)")
    }

    private var whyNotMeasured: String {
        guard let count = self.holders.count else { return self.holders.whyNotCounted }
        let counted = "\(count.requests) requests in \(count.hours)h"
        return count.why ?? "\(counted) are too few, and \(GateRefusing.minimumRequests) are needed"
    }
}

extension ListRules {
    fileprivate var name: String { "version \(self.list.version)" }

    /// A note on a list that accepts something without a pin that matches; `nil` when one does.
    fileprivate func note(on conclusion: Conclusion, for host: HostName) -> String? {
        guard case .accepted(let reason, _) = conclusion, reason != .pinMatch else { return nil }
        switch reason {
        case .noMatchingPin:
            return "no pin of \(self.name) matches, which it reports and does not refuse"
        case .transparency:
            return "\(self.name): Certificate Transparency is not satisfied, which it reports and does not refuse"
        case .domainExpired: return "the entry of \(self.name) has ended, so no pin is compared"
        case .notPinned where self.entry(for: host) != nil:
            return "the entry of \(self.name) is off, so no pin is compared"
        default: return "no entry of \(self.name) covers \(host), so no pin is compared"
        }
    }
}

/// The material that a server would present.
public enum GateMaterial: Hashable, Sendable {
    /// A chain that validates for the host: its path.
    case path(ValidatedPath)
    /// A chain that does not validate for the host: the reason, and a sentence.
    case invalid(PinningDecision.Reason, String)
    /// A key, of which no certificate is there yet: the pin of its SubjectPublicKeyInfo.
    case key(Pin)
}

/// A share as people read it.
public enum Share {
    /// `0.4 %`: rounded up, so that few are not none.
    ///
    /// - Parameter share: 0 to 1.
    public static func percent(_ share: Double) -> String {
        guard share.isFinite, let tenths = Int(exactly: (min(max(share, 0), 1) * 1_000).rounded(.up)) else {
            return "? %"
        }
        return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }
}
