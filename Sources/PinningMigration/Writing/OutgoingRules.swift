// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// An entry as another tool can express it.
struct OutgoingEntry {
    /// The entry without the settings that the other tool lacks.
    var entry: PinnedDomain

    /// Whether it only exempts its hosts from an entry of a parent domain.
    var isCarveOut: Bool { self.entry.mode == .off }

    /// The digests of its pins in base64, each once.
    var digests: [String] { self.digests { _ in true } }

    /// The digests of pins of some positions.
    func digests(where isTaken: (KnownPin.Position) -> Bool) -> [String] {
        var seen = Set<Pin>()
        return self.entry.pins.filter { isTaken($0.position) && seen.insert($0.pin).inserted }
            .map { Base64.encode($0.pin.digest) }
    }

    /// The day on which it ends, `yyyy-MM-dd`.
    var lastDay: String? { self.entry.expiresAt.map { String($0.description.prefix(10)) } }
}

/// Removes from rules the settings that another tool lacks, with warnings.
struct OutgoingRules {
    /// The rules that are written.
    let rules: MigratedRules
    /// The form.
    let format: MigrationFormat
    /// The differences there.
    var collector = MigrationCollector()
    private let index: [HostName: PinnedDomain]

    /// Creates the reduction of all rules.
    init(_ rules: MigratedRules, as format: MigrationFormat) {
        self.rules = rules
        self.format = format
        self.index = Dictionary(rules.domains.map { ($0.domain, $0) }) { first, _ in first }
    }

    /// The entries that can be written.
    mutating func entries() -> [OutgoingEntry] {
        self.warnOfTheWhole()
        var entries: [OutgoingEntry] = []
        for entry in self.rules.domains.sorted(by: { $0.domain.description < $1.domain.description }) {
            if let outgoing = self.outgoing(entry) { entries.append(outgoing) }
        }
        if self.format == .pinnedDomains { self.warnOfUnions(among: entries) }
        return entries
    }

    private mutating func warnOfTheWhole() {
        if !self.rules.revoked.isEmpty {
            let count = self.rules.revoked.reduce(0) { $0 + $1.serials.count }
            self.collector.warn(
                nil, "revoked", .weaker, "left out: that form has no revoked certificates; there are \(count)")
        }
        if !self.rules.denied.isEmpty {
            self.collector.warn(
                nil, "denied", .weaker, "left out: that form has no denied keys; there are \(self.rules.denied.count)")
        }
        if self.rules.unusablePins > 0 {
            self.collector.warn(
                nil, "pins", .stricter, "left out: pins of an unknown form; there are \(self.rules.unusablePins)")
        }
        for suspension in self.rules.suspended {
            let host: String? = if case .entry(let host) = suspension.scope { host.description } else { nil }
            self.collector.warn(
                host, "suspended", .stricter, "left out: suspended here until \(suspension.until), but enforced there")
        }
        switch self.rules.unlisted {
        case .allow: break
        case .report: self.collector.warn(nil, "unlisted", .same, "left out: unlisted hosts are not reported there")
        case .deny:
            self.collector.warn(nil, "unlisted", .weaker, "left out: unlisted hosts are refused here, but not there")
        }
        if !self.rules.reportTo.isEmpty {
            self.collector.warn(
                nil, "reportTo", .same, "left out: failures that no entry covers are not reported there")
        }
    }

    /// The nearest entry of a parent domain that covers a host.
    func farther(_ host: HostName) -> PinnedDomain? {
        guard !host.isAddress else { return nil }
        var labels = host.description.split(separator: ".").dropFirst()
        while !labels.isEmpty {
            if let parent = try? HostName(labels.joined(separator: ".")), let entry = self.index[parent],
                entry.includeSubdomains
            {
                return entry
            }
            labels.removeFirst()
        }
        return nil
    }

    private mutating func outgoing(_ entry: PinnedDomain) -> OutgoingEntry? {
        let name = entry.domain.description
        let can = self.format.abilities
        if entry.domain.isAddress, !can.contains(.addresses) {
            if entry.mode != .off {
                self.collector.warn(name, "domain", .weaker, "left out: an IP address cannot be pinned there")
            }
            return nil
        }
        if entry.mode == .off { return self.carveOut(entry, "mode: off") }
        if entry.mode == .report, !can.contains(.reportMode) {
            self.collector.warn(name, "mode", .same, "left out: the entry only reports here; that form cannot report")
            return self.carveOut(entry, "mode: report")
        }
        if entry.mode == .enforce, !entry.isInRollout {
            self.collector.warn(
                name, "rollout", .stricter, "only a share of installations enforces here, but all of them there")
        }
        var entry = entry
        let certificates = entry.pins.count { $0.pin.kind == .certificate }
        if certificates > 0 {
            entry.pins.removeAll { $0.pin.kind == .certificate }
            self.collector.warn(
                name, "cert-sha256", .stricter,
                "left out: \(certificates) certificate pins; only public keys are pinned there")
        }
        guard !entry.pins.isEmpty else {
            self.collector.warn(name, "pins", .weaker, "left out: none of its pins can be written")
            return self.carveOut(entry, "an entry without pins")
        }
        self.warnOfSettings(entry, name)
        if self.format == .pinnedDomains { self.place(&entry, name) }
        return OutgoingEntry(entry: entry)
    }

    private mutating func warnOfSettings(_ entry: PinnedDomain, _ name: String) {
        let can = self.format.abilities
        if !can.contains(.positions), entry.pins.contains(where: { $0.position != .any }) {
            self.collector.warn(
                name, "position", .weaker,
                entry.requireIssuer
                    ? "a leaf and an issuer pin must match here; one pin anywhere in the path is enough there"
                    : "pins match anywhere in the path there")
        }
        if let demand = entry.transparency {
            let isEnforced = entry.mode == .enforce && demand.mode == .enforce
            self.collector.warn(
                name, "transparency", isEnforced ? .weaker : .same,
                isEnforced
                    ? "left out: \(demand.policy.rawValue)'s policy is enforced here, and none there"
                    : "left out: failures of \(demand.policy.rawValue)'s policy are reported here, and not there")
        }
        if let end = entry.expiresAt {
            if !can.contains(.expiry) {
                self.collector.warn(name, "expiresAt", .stricter, "left out: it stays enforced there after \(end)")
            } else if end.secondsSince1970 % 86_400 != 0 {
                self.collector.warn(name, "expiresAt", .weaker, "it ends there at the beginning of the day of \(end)")
            }
        }
        if !entry.reportTo.isEmpty, !can.contains(.reports) {
            self.collector.warn(name, "reportTo", .same, "left out: nothing is reported there")
        }
        if self.format == .trustKit, entry.mode == .enforce, Set(entry.pins.map(\.pin)).count < 2 {
            self.collector.warn(
                name, "TSKPublicKeyHashes", .stricter, "one pin: TrustKit ends the app. Add the pin of a backup key")
        }
        if self.format == .pinnedDomains, entry.includeSubdomains {
            self.collector.warn(
                name, "includeSubdomains", .weaker, "all levels of subdomains are covered here, but one level there")
        }
        if self.format == .okHttp, let farther = self.farther(entry.domain), farther.mode != .off {
            self.collector.warn(
                name, "add", .weaker, "OkHttp joins the pins of all patterns: those of \(farther.domain) match, too")
        }
    }

    /// An entry without expectations: needed only where an entry of a parent domain would apply instead.
    private mutating func carveOut(_ entry: PinnedDomain, _ what: String) -> OutgoingEntry? {
        guard let farther = self.farther(entry.domain), farther.mode != .off else { return nil }
        guard self.format.abilities.contains(.carveOuts) else {
            self.collector.warn(
                entry.domain.description, "mode", .stricter,
                "\(what) cannot be written: the entry of \(farther.domain) covers it there")
            return nil
        }
        return OutgoingEntry(
            entry: PinnedDomain(entry.domain, includeSubdomains: entry.includeSubdomains, mode: .off, pins: []))
    }

    /// Assigns pins to Apple's two lists; where both have pins, one of each must match.
    private mutating func place(_ entry: inout PinnedDomain, _ name: String) {
        let positions = Set(entry.pins.map(\.position))
        guard !entry.requireIssuer else {
            if !positions.isSuperset(of: [.leaf, .issuer]) {
                self.collector.warn(
                    name, "requireIssuer", .weaker,
                    "a leaf and an issuer pin must match here; only one of the two arrays can be written there, and no "
                        + "other pin is asked for")
            }
            return
        }
        if positions == [.issuer] { return }
        if positions.contains(.issuer) {
            entry.pins.removeAll { $0.position == .issuer }
            self.collector.warn(
                name, "position", .stricter,
                "the issuer pins are left out: beside pins of the leaf, both would have to match there")
        }
        if positions.contains(.any) {
            for index in entry.pins.indices { entry.pins[index].position = .leaf }
            self.collector.warn(
                name, "position", .stricter,
                "pins that match anywhere here are written as those of the leaf. Move those of authorities to "
                    + "NSPinnedCAIdentities, or this locks out")
        }
    }
}
