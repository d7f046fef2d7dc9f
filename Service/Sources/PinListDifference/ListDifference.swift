// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import PinListMetadata

/// The differences between two lists, for those who are asked to sign the newer one.
public struct ListDifference: Hashable, Sendable, Encodable {
    /// The differences: those of the list itself, then of its entries in the order of the newer one, then of what is
    /// denied, revoked and suspended.
    public private(set) var changes: [ListChange] = []

    /// Whether there is none.
    public var isEmpty: Bool { self.changes.isEmpty }

    /// Whether only the version and the dates differ: the list was signed anew, and says the same.
    public var isRenewal: Bool {
        let renewed: Set<String> = ["version", "issuedAt", "expiresAt"]
        return !self.isEmpty && self.changes.allSatisfy { $0.subject == "list" && renewed.contains($0.what) }
    }

    /// A line for each.
    public var lines: [String] { self.changes.map(\.line) }

    /// Compares two lists.
    ///
    /// - Parameters:
    ///   - old: The older one; `nil` when there is none, and all is new.
    ///   - new: The newer one.
    public init(old: PinList?, new: PinList) {
        self.compareLists(old, new)
        let (oldDomains, newDomains) = (Self.byName(old?.domains ?? []), Self.byName(new.domains))
        for domain in new.domains {
            let name = "\(domain.entry.domain)"
            let before = oldDomains[name]
            let coming = Self.effect(ofComing: domain, in: oldDomains, old?.unlisted ?? .allow)
            let leaving = before.map { Self.effect(ofLeaving: $0, in: newDomains, new.unlisted) } ?? .nothing
            self.compare(before, domain, coming: coming, leaving: leaving)
        }
        for domain in old?.domains ?? [] where newDomains["\(domain.entry.domain)"] == nil {
            let leaving = Self.effect(ofLeaving: domain, in: newDomains, new.unlisted)
            self.add(
                .removed, "\(domain.entry.domain)", "entry", old: Self.text(domain), weakens: leaving.acceptsMore,
                refuses: leaving.refusesMore)
        }
        self.compareDenied(old?.denied ?? [], new.denied)
        self.compareRevoked(old?.revoked ?? [], new.revoked)
        self.compareSuspended(old?.suspended ?? [], new.suspended)
    }

    private init() {}

    private static func byName(_ domains: [PinList.Domain]) -> [String: PinList.Domain] {
        Dictionary(domains.map { ("\($0.entry.domain)", $0) }) { first, _ in first }
    }

    /// The entry that applies to the subdomains of a domain, and to itself where it has no entry: that of the nearest
    /// parent that includes its subdomains.
    private static func parent(of domain: String, in entries: [String: PinList.Domain]) -> PinList.Domain? {
        var rest = domain[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if let entry = entries[String(rest)], entry.entry.includeSubdomains { return entry }
        }
        return nil
    }

    /// The effect on hosts that come under another rule. Both may be so: each of two entries may lack a pin that the
    /// other one has.
    private struct Effect {
        /// Whether clients accept there what they refused before.
        let acceptsMore: Bool
        /// Whether clients refuse there what they accepted before.
        let refusesMore: Bool

        /// The effect where no host comes under another rule.
        static let nothing = Effect(acceptsMore: false, refusesMore: false)
    }

    /// The effect on hosts for which one entry comes into the place of another one.
    private static func effect(of entry: PinList.Domain, inPlaceOf other: PinList.Domain) -> Effect {
        var difference = ListDifference()
        difference.compare(other, entry, coming: .nothing, leaving: .nothing)
        let isEnforced = Self.isEnforced(entry)
        // More than everything cannot be accepted, and an entry that no installation enforces refuses nothing.
        let acceptedAll = other.entry.mode == .off || (isEnforced && !Self.isEnforced(other))
        return Effect(
            acceptsMore: !acceptedAll && difference.changes.contains(where: \.weakens),
            refusesMore: isEnforced && difference.changes.contains(where: \.mayRefuse))
    }

    /// The effect on hosts to which an entry did not apply before: they had that of a parent, or were not listed.
    private static func effect(
        ofComing entry: PinList.Domain, in entries: [String: PinList.Domain], _ unlisted: UnlistedHosts
    ) -> Effect {
        guard let parent = Self.parent(of: "\(entry.entry.domain)", in: entries) else {
            return Effect(acceptsMore: unlisted == .deny, refusesMore: unlisted != .deny && Self.isEnforced(entry))
        }
        return Self.effect(of: entry, inPlaceOf: parent)
    }

    /// The effect on hosts to which an entry does not apply any more: they have that of a parent, or are not listed.
    private static func effect(
        ofLeaving entry: PinList.Domain, in entries: [String: PinList.Domain], _ unlisted: UnlistedHosts
    ) -> Effect {
        guard let parent = Self.parent(of: "\(entry.entry.domain)", in: entries) else {
            return Effect(acceptsMore: unlisted != .deny && entry.entry.mode != .off, refusesMore: unlisted == .deny)
        }
        return Self.effect(of: parent, inPlaceOf: entry)
    }

    /// Whether a mismatch blocks in any installation.
    private static func isEnforced(_ domain: PinList.Domain) -> Bool {
        domain.entry.mode == .enforce && domain.rollout > 0
    }

    private mutating func compareLists(_ old: PinList?, _ new: PinList) {
        guard let old else {
            self.add(.added, "list", "\(new.name) version", new: "\(new.version)")
            return
        }
        self.value("list", "name", old.name, new.name)
        self.value("list", "version", "\(old.version)", "\(new.version)")
        self.value("list", "issuedAt", "\(old.issuedAt)", "\(new.issuedAt)")
        self.value("list", "expiresAt", "\(old.expiresAt)", "\(new.expiresAt)")
        self.value("list", "refreshAfter", "\(old.refreshAfter) s", "\(new.refreshAfter) s")
        self.value(
            "list", "unlisted", old.unlisted.rawValue, new.unlisted.rawValue,
            weakens: old.unlisted == .deny && new.unlisted != .deny, refuses: new.unlisted == .deny)
        self.set("list", "reportTo", old.reportTo, new.reportTo)
        self.value("list", "reportPerMillion", "\(old.reportPerMillion)", "\(new.reportPerMillion)")
        // Another log list may lack a log, or reject one, that a served certificate needs; and have one more, whose
        // timestamps are then believed.
        func needsLogs(_ list: PinList) -> Bool {
            list.domains.contains { Self.isEnforced($0) && $0.entry.transparency?.mode == .enforce }
        }
        self.value(
            "list", "logs", old.logs?.digest ?? "none", new.logs?.digest ?? "none",
            weakens: old.logs != nil && (new.logs == nil || needsLogs(old)),
            refuses: new.logs != nil && needsLogs(new))
    }

    /// Compares two entries.
    ///
    /// - Parameters:
    ///   - coming: The effect on hosts to which the entry did not apply before.
    ///   - leaving: The effect on hosts to which it does not apply any more.
    private mutating func compare(_ old: PinList.Domain?, _ new: PinList.Domain, coming: Effect, leaving: Effect) {
        let subject = "\(new.entry.domain)"
        guard let old else {
            self.add(
                .added, subject, "entry", new: Self.text(new), weakens: coming.acceptsMore,
                refuses: coming.refusesMore)
            // What the entry refuses by its pins is a part of its effect.
            for pin in new.entry.pins { self.add(.added, subject, "pin", new: Self.text(pin), refuses: false) }
            self.addMembers(of: new, subject)
            return
        }
        let order: [PinnedDomain.Mode] = [.off, .report, .enforce]
        self.value(
            subject, "mode", old.entry.mode.rawValue, new.entry.mode.rawValue,
            weakens: (order.firstIndex(of: new.entry.mode) ?? 0) < (order.firstIndex(of: old.entry.mode) ?? 0))
        let subdomains = old.entry.includeSubdomains ? leaving : coming
        self.value(
            subject, "includeSubdomains", "\(old.entry.includeSubdomains)", "\(new.entry.includeSubdomains)",
            weakens: subdomains.acceptsMore, refuses: subdomains.refusesMore)
        self.value(
            subject, "rollout", "\(old.rollout) %", "\(new.rollout) %", weakens: new.rollout < old.rollout)
        self.value(
            subject, "requireIssuer", "\(old.entry.requireIssuer)", "\(new.entry.requireIssuer)",
            weakens: old.entry.requireIssuer && !new.entry.requireIssuer)
        self.value(
            subject, "expiresAt", old.entry.expiresAt?.description ?? "none",
            new.entry.expiresAt?.description ?? "none",
            weakens: Self.ends(new.entry.expiresAt, before: old.entry.expiresAt),
            // Under an entry that has ended clients accept everything.
            refuses: Self.isEnforced(new) && Self.ends(old.entry.expiresAt, before: new.entry.expiresAt))
        self.comparePins(subject, old.entry.pins, new.entry.pins)
        self.set(subject, "reportTo", old.entry.reportTo, new.entry.reportTo)
        let share = { (domain: PinList.Domain) in domain.reportPerMillion?.description ?? "as the list says" }
        self.value(subject, "reportPerMillion", share(old), share(new))
        self.value(
            subject, "transparency", Self.text(old.entry.transparency), Self.text(new.entry.transparency),
            weakens: Self.isLess(new.entry.transparency, than: old.entry.transparency),
            refuses: Self.isEnforced(new) && Self.isLess(old.entry.transparency, than: new.entry.transparency))
    }

    /// Names what else a new entry says.
    private mutating func addMembers(of new: PinList.Domain, _ subject: String) {
        if new.entry.requireIssuer { self.add(.added, subject, "requireIssuer", new: "true", refuses: false) }
        if let end = new.entry.expiresAt { self.add(.added, subject, "expiresAt", new: "\(end)") }
        self.set(subject, "reportTo", [], new.entry.reportTo)
        if let share = new.reportPerMillion { self.add(.added, subject, "reportPerMillion", new: "\(share)") }
        if let rule = new.entry.transparency {
            self.add(.added, subject, "transparency", new: Self.text(rule), refuses: false)
        }
    }

    private mutating func comparePins(_ subject: String, _ old: [KnownPin], _ new: [KnownPin]) {
        // A note decides nothing.
        func bare(_ known: KnownPin) -> KnownPin { KnownPin(known.pin, position: known.position) }
        let before = Dictionary(old.map { (bare($0), $0) }) { first, _ in first }
        let (after, kept) = (Set(new.map(bare)), Set(old))
        for pin in new where !kept.contains(pin) {
            if let was = before[bare(pin)] {
                self.value(subject, "note of a pin", Self.text(was), Self.text(pin))
            } else {
                self.add(.added, subject, "pin", new: Self.text(pin), weakens: true)
            }
        }
        for pin in old where !after.contains(bare(pin)) {
            self.add(.removed, subject, "pin", old: Self.text(pin))
        }
        if Set(before.keys) == after, old.map(bare) != new.map(bare) {
            self.add(.changed, subject, "the order of its pins", new: "")
        }
    }

    private static func ends(_ new: Timestamp?, before old: Timestamp?) -> Bool {
        guard let new else { return false }
        return old.map { new < $0 } ?? true
    }

    /// Whether a demand on Certificate Transparency lets certificates in that another one refuses. Neither policy is a
    /// part of the other.
    private static func isLess(_ new: TransparencyRule?, than old: TransparencyRule?) -> Bool {
        guard let old, old.mode == .enforce else { return false }
        return new?.mode != .enforce || new?.policy != old.policy
    }

    private static func text(_ rule: TransparencyRule?) -> String {
        rule.map { "\($0.mode.rawValue) \($0.policy.rawValue)" } ?? "off"
    }

    private mutating func compareDenied(_ old: [DeniedKey], _ new: [DeniedKey]) {
        func text(_ key: DeniedKey) -> String {
            "\(key.pin)\(key.isEnforced ? "" : " (report)")\(key.note.map { " \"\(PrintableText.line($0))\"" } ?? "")"
        }
        for key in new where !old.contains(key) { self.add(.added, "denied", "key", new: text(key)) }
        for key in old where !new.contains(key) {
            let isStill = new.contains { $0.pin == key.pin && $0.isEnforced }
            self.add(.removed, "denied", "key", old: text(key), weakens: key.isEnforced && !isStill)
        }
    }

    private mutating func compareRevoked(_ old: [RevokedCertificates], _ new: [RevokedCertificates]) {
        struct Revoked: Hashable {
            let issuer: Pin
            let serial: SerialNumber
            let isEnforced: Bool
            let note: String?

            var text: String {
                "\(self.serial) of \(self.issuer)\(self.isEnforced ? "" : " (report)")"
                    + (self.note.map { " \"\(PrintableText.line($0))\"" } ?? "")
            }
        }
        func all(_ entries: [RevokedCertificates]) -> [Revoked] {
            entries.flatMap { entry in
                entry.serials.map {
                    Revoked(issuer: entry.issuer, serial: $0, isEnforced: entry.isEnforced, note: entry.note)
                }
            }
        }
        struct Place: Hashable {
            let issuer: Pin
            let serial: SerialNumber
        }
        let (before, after) = (all(old), all(new))
        let (known, kept) = (Set(before), Set(after))
        let refused = Set(after.filter(\.isEnforced).map { Place(issuer: $0.issuer, serial: $0.serial) })
        for one in after where !known.contains(one) { self.add(.added, "revoked", "serial", new: one.text) }
        for one in before where !kept.contains(one) {
            let isStill = refused.contains(Place(issuer: one.issuer, serial: one.serial))
            self.add(.removed, "revoked", "serial", old: one.text, weakens: one.isEnforced && !isStill)
        }
        // Entries that were parted, joined or put into another order say the same.
        if known == kept, old != new { self.add(.changed, "revoked", "the order of its entries", new: "") }
    }

    private mutating func compareSuspended(_ old: [Suspension], _ new: [Suspension]) {
        func text(_ suspension: Suspension) -> String {
            "until \(suspension.until), \"\(PrintableText.line(suspension.reason))\""
        }
        for suspension in new where !old.contains(suspension) {
            self.add(.added, "suspended", suspension.scope.description, new: text(suspension), weakens: true)
        }
        for suspension in old where !new.contains(suspension) {
            self.add(.removed, "suspended", suspension.scope.description, old: text(suspension))
        }
    }

    // MARK: Changes

    private mutating func value(
        _ subject: String, _ what: String, _ old: String, _ new: String, weakens: Bool = false, refuses: Bool? = nil
    ) {
        guard old != new else { return }
        self.add(.changed, subject, what, old: old, new: new, weakens: weakens, refuses: refuses)
    }

    private mutating func set(_ subject: String, _ what: String, _ old: [String], _ new: [String]) {
        for value in new where !old.contains(value) { self.add(.added, subject, what, new: value) }
        for value in old where !new.contains(value) { self.add(.removed, subject, what, old: value) }
        if Set(old) == Set(new), old != new {
            self.add(.changed, subject, what, old: old.joined(separator: " "), new: new.joined(separator: " "))
        }
    }

    /// Adds a change.
    ///
    /// - Parameter refuses: Whether clients may refuse by it what they accepted before; `nil` where its kind says it.
    private mutating func add(
        _ kind: ListChange.Kind, _ subject: String, _ what: String, old: String? = nil, new: String? = nil,
        weakens: Bool = false, refuses: Bool? = nil
    ) {
        let mayRefuse = refuses ?? (!weakens && subject != "list" && !Self.harmless.contains(what))
        self.changes.append(
            ListChange(
                kind: kind, subject: subject, what: what, old: old, new: new, weakens: weakens, mayRefuse: mayRefuse))
    }

    /// The parts of an entry that refuse nothing.
    private static let harmless: Set<String> = [
        "reportTo", "reportPerMillion", "expiresAt", "note of a pin", "the order of its pins",
        "the order of its entries",
    ]

    private static func text(_ domain: PinList.Domain) -> String {
        let entry = domain.entry
        let count = entry.pins.count == 1 ? "1 pin" : "\(entry.pins.count) pins"
        return "\(entry.mode.rawValue)\(domain.rollout == 100 ? "" : " at \(domain.rollout) %"), "
            + (entry.includeSubdomains ? "with subdomains, " : "") + count
    }

    private static func text(_ known: KnownPin) -> String {
        "\(known.pin)\(known.position == .any ? "" : " \(known.position.rawValue)")"
            + (known.note.map { " \"\(PrintableText.line($0))\"" } ?? "")
    }
}
