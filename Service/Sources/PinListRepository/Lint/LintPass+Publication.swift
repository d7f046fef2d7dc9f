// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
internal import PinRotation

/// Findings about clients that have the published list.
extension LintPass {
    var publicationFindings: [LintFinding] {
        guard let published else { return [] }
        var findings: [LintFinding] = []
        if let unseen {
            findings.append(
                LintFinding(
                    .checkoutBehind, "list",
                    "version \(unseen.version) of \(unseen.issuedAt) is neither pins.json nor in lists/ of this checkout"
                ))
        }
        // The published list itself may be looked at.
        if self.list.version <= published.version, self.list.payload != published.payload {
            findings.append(
                LintFinding(.versionNotAbove, "list", "\(self.list.version), published is \(published.version)"))
        }
        let heldEntries = self.heldEntries
        let new = Dictionary(self.list.domains.map { ($0.entry.domain, $0) }) { first, _ in first }
        for old in published.domains {
            let host = old.entry.domain
            guard let domain = new[host], old.entry.mode == .enforce, domain.entry.mode == .enforce else { continue }
            if domain.rollout < old.rollout {
                findings.append(
                    LintFinding(
                        .rolloutLowered, "\(host)", "from \(old.rollout) to \(domain.rollout)",
                        at: self.position(of: host)))
            }
            if let detail = self.succession(from: old.entry, to: domain.entry, published, heldEntries) {
                findings.append(LintFinding(.propagation, "\(host)", detail, at: self.position(of: host)))
            }
        }
        return findings
    }

    /// The pins of the entries that enforce, of each list that installations may still hold.
    private var heldEntries: [[HostName: Set<Pin>]] {
        var all: [[HostName: Set<Pin>]] = []
        for held in self.held?.lists ?? [] {
            var pins: [HostName: Set<Pin>] = [:]
            for domain in held.list.domains where domain.entry.mode == .enforce && domain.rollout > 0 {
                pins[domain.entry.domain] = Set(domain.entry.pins.map(\.pin))
            }
            all.append(pins)
        }
        return all
    }

    /// The finding when pins of an entry go: one that stays must be in every list that installations may still hold.
    ///
    /// Since when a pin is out is so known for each pin, however many lists went out since.
    private func succession(
        from old: PinnedDomain, to new: PinnedDomain, _ published: PinList, _ entries: [[HostName: Set<Pin>]]
    ) -> String? {
        let before = Set(old.pins.map(\.pin))
        let after = Set(new.pins.map(\.pin))
        let gone = before.subtracting(after)
        guard !gone.isEmpty else { return nil }
        let which = gone.map(\.description).sorted().joined(separator: ", ")
        let staying = before.intersection(after)
        guard !staying.isEmpty else { return "\(which) goes, and no published pin stays" }
        guard let held else { return self.succession(of: which, since: published) }
        if let lacking = self.lacking(staying, new.domain, held, entries) {
            let words = Self.words(for: lacking, self.propagation)
            return "\(which) goes, and no pin that stays is known to all: \(words)"
        }
        guard !held.isMeasured, !held.missing.isEmpty else { return nil }
        return "\(which) goes, and it is unknown whether what stays is in \(held.missing.joined(separator: ", "))"
    }

    /// The lists that lack the best-known one of some pins; `nil` when one is known to all.
    private func lacking(
        _ pins: Set<Pin>, _ host: HostName, _ held: HeldLists, _ entries: [[HostName: Set<Pin>]]
    ) -> HeldRefusal? {
        var best: HeldRefusal?
        for pin in pins.sorted(by: { $0.description < $1.description }) {
            // An installation that holds a list without an entry for the host pins nothing there.
            let parts = entries.map { pins -> Double in pins[host].map { $0.contains(pin) ? 0 : 1 } ?? 0 }
            guard let lacking = held.refusal(parts), !lacking.isTolerated else { return nil }
            if best.map({ Self.isBetter(lacking, $0) }) ?? true { best = lacking }
        }
        return best
    }

    private static func isBetter(_ one: HeldRefusal, _ other: HeldRefusal) -> Bool {
        guard let share = one.share, let minimum = other.share else { return one.versions.count < other.versions.count }
        return share < minimum
    }

    /// The lists that lack a pin, and until when, in words.
    private static func words(for refusal: HeldRefusal, _ propagation: Int64) -> String {
        let lists = refusal.versions.isEmpty ? "a list that is not in lists/" : ListVersions.text(of: refusal.versions)
        guard let share = refusal.share else {
            let until = refusal.until.map { " until \($0.adding(propagation))" } ?? ""
            return "installations may hold \(lists) without it\(until)"
        }
        return "\(Share.percent(share)) of the installations hold \(lists) without it"
    }

    /// The same where nothing but the published list is known: a pin in it has been out since it was issued at least.
    private func succession(of gone: String, since published: PinList) -> String? {
        let out = self.time.secondsSince1970 - published.issuedAt.secondsSince1970
        guard out < self.propagation else { return nil }
        return
            "\(gone) goes; what stays was published \(SourceDuration.rough(max(0, out))) ago as far as is known, and "
            + "propagation is \(SourceDuration.text(self.propagation))"
    }

    /// The time that installations may take to get a list, in seconds.
    var propagation: Int64 { self.source?.propagation ?? ListSource.defaultPropagation }
}
