// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

/// Evaluates certificates by a list. A value, made once for a list; evaluating a name costs a look-up for each of its labels.
public struct SightingRules: Sendable {
    private let entries: [String: PinnedDomain]
    /// The domains of entries directly below a name: what a wildcard for that name stands for.
    private let below: [String: [String]]
    private let denied: Set<Pin>

    /// The rules of a list.
    public init(_ list: PinList) {
        var entries: [String: PinnedDomain] = [:]
        var below: [String: [String]] = [:]
        for domain in list.domains {
            let name = domain.entry.domain.description
            entries[name] = domain.entry
            if !domain.entry.domain.isAddress, let parent = Self.parent(of: name) {
                below[parent, default: []].append(name)
            }
        }
        (self.entries, self.below) = (entries, below)
        self.denied = Set(list.denied.map(\.pin))
    }

    /// Names what an evaluation goes by at a time: the list, and the entries of it that have ended. One that was made by
    /// another edition has to be made anew: an entry has ended since, or a clock was wrong.
    ///
    /// - Parameter digest: The digest of the list.
    package static func edition(of list: PinList, _ digest: String, at time: Timestamp) -> String {
        // Entries end one after the other: their number says which.
        let ended = list.domains.reduce(0) { $0 + ($1.entry.expiresAt.map { $0 <= time } == true ? 1 : 0) }
        return ended == 0 ? digest : "\(digest)+\(ended)"
    }

    /// Evaluates a certificate.
    ///
    /// - Parameters:
    ///   - names: Its names, as ``SightedCertificate/names`` has them.
    ///   - key: The pin of its key.
    ///   - issuers: ``SightedIssuers/verified(of:in:)``.
    ///   - isServed: Whether its key was seen served.
    ///   - time: Now: an entry that has ended enforces nothing.
    public func evaluate(
        names: [String], key: Pin, issuers: [Pin], isServed: Bool, at time: Timestamp
    ) -> SightingEvaluation {
        var worst: SightingEvaluation?
        let isDenied = self.denied.contains(key) || issuers.contains { self.denied.contains($0) }
        for entry in self.covering(names) {
            let state = isDenied ? .denied : Self.state(entry, key, issuers, isServed: isServed)
            let isEnforced = entry.mode == .enforce && entry.expiresAt.map { time < $0 } != false
            let evaluated = SightingEvaluation(state: state, entry: entry.domain, isEnforced: isEnforced)
            if worst.map({ Self.weight(evaluated) > Self.weight($0) }) != false { worst = evaluated }
        }
        return worst ?? SightingEvaluation(state: .unlisted, entry: nil, isEnforced: false)
    }

    private static func state(
        _ entry: PinnedDomain, _ key: Pin, _ issuers: [Pin], isServed: Bool
    ) -> SightingState {
        if entry.pins.contains(where: { $0.pin == key && $0.position.covers(index: 0) }) {
            return isServed ? .pinned : .backup
        }
        let known = Set(issuers)
        return entry.pins.contains { $0.position.covers(index: 1) && known.contains($0.pin) } ? .issuer : .unknown
    }

    /// The severity of an evaluation; of two that are alike the one that an entry enforces is the more severe.
    private static func weight(_ evaluation: SightingEvaluation) -> Int {
        let order: [SightingState] = [.unlisted, .pinned, .backup, .issuer, .unknown, .denied]
        return 2 * (order.firstIndex(of: evaluation.state) ?? 0) + (evaluation.isEnforced ? 1 : 0)
    }

    /// The entries that apply to a host for which a certificate with these names counts, each once.
    private func covering(_ names: [String]) -> [PinnedDomain] {
        var domains: Set<String> = []
        var found: [PinnedDomain] = []
        func add(_ entry: PinnedDomain?) {
            if let entry, domains.insert(entry.domain.description).inserted { found.append(entry) }
        }
        for name in names {
            // A client takes one star for one whole label (RFC 6125, section 6.4.3).
            let isWildcard = name.hasPrefix("*.")
            guard let host = try? HostName(isWildcard ? String(name.dropFirst(2)) : name) else { continue }
            guard isWildcard else {
                add(self.entries[host.description] ?? (host.isAddress ? nil : self.parentEntry(of: host.description)))
                continue
            }
            guard !host.isAddress else { continue }
            for domain in self.below[host.description] ?? [] { add(self.entries[domain]) }
            let own = self.entries[host.description]
            add(own?.includeSubdomains == true ? own : self.parentEntry(of: host.description))
        }
        return found
    }

    /// The entry of the nearest name above one that includes its subdomains.
    private func parentEntry(of name: String) -> PinnedDomain? {
        var name = name
        while let parent = Self.parent(of: name) {
            if let entry = self.entries[parent], entry.includeSubdomains { return entry }
            name = parent
        }
        return nil
    }

    private static func parent(of name: String) -> String? {
        name.firstIndex(of: ".").map { String(name[name.index(after: $0)...]) }
    }
}
