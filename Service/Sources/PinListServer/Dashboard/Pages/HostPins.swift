// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinReportAnalysis
internal import PinRotation

/// A host of the list, with what probes saw of it.
struct HostPins: Hashable, Sendable {
    /// One of its pins.
    struct Pinned: Hashable, Sendable {
        /// Whether probes saw it.
        enum Service: Hashable, Sendable {
            /// The pin is served, in a certificate that ends then.
            case served(until: Timestamp)
            /// A probe saw the host, and not this pin: a backup.
            case notServed
            /// No probe saw the host.
            case neverProbed
        }

        /// The pin: `sha256/…`.
        var pin: String
        /// The position at which it may match: `any`, `leaf` or `issuer`.
        var position: String
        /// The list's note, or nothing.
        var note: String
        /// Whether probes saw it.
        var service: Service
        /// The names of the probes that saw it.
        var probes: [String]
        /// Whether it could be deployed; `nil` where nothing is expected of the host.
        var evaluation: DeployableKeys.Evaluation? = nil
    }

    /// The entry's domain.
    var domain: String
    /// Whether names below it are meant, too.
    var includesSubdomains: Bool
    /// `enforce`, `report` or `off`.
    var mode: String
    /// The share of installations that enforce it, in percent.
    var rollout: Int
    /// The time from which the entry is no longer enforced; `nil` when it has no end.
    var expiresAt: Timestamp?
    /// The end of the suspension that is on for it.
    var suspendedUntil: Timestamp?
    /// Its pins.
    var pins: [Pinned]
    /// The time at which a probe last saw it; `nil` when none did.
    var probedAt: Timestamp?
    /// The certificates that it serves and that their issuer revoked, each in words.
    var revoked: [String] = []
    /// The state of the rotation of its keys, in a word; `nil` when none is planned.
    var rotation: String? = nil
    /// The share of installations that report its failures, in words; nothing where all do.
    var reporting = ""
    /// The number of certificates that monitors found in logs.
    var loggedCertificates = 0
    /// The entries of logs for the newest of those that apps would refuse, in a sentence; nothing where there is none.
    var unexpected = ""

    /// Days before the end of a certificate at which it is time to act: those of `tumbler probe`.
    static let certificateDays = (soon: 30.0, now: 7.0)
    /// The end of the bars of certificates, in days: what public CAs issue for.
    private static let axis = 100.0

    /// The missing parts in words, and whether each locks people out now.
    var missing: [(text: String, isUrgent: Bool)] {
        var missing: [(text: String, isUrgent: Bool)] = []
        guard self.mode != "off" else { return missing }
        missing += self.revoked.map { ("served, and revoked: \($0)", true) }
        guard !self.pins.isEmpty else { return missing }
        if self.probedAt == nil {
            missing.append(("never probed: run tumbler probe --push daily", false))
            if self.pins.count < 2 { missing.append(("one pin only, no backup", false)) }
        } else if !self.pins.contains(where: { $0.isServed }) {
            let isEnforced = self.mode == "enforce"
            let words = isEnforced ? "enforcing clients are locked out" : "enforcing clients would be locked out"
            missing.append(("no pin is served: \(words)", isEnforced))
        } else if self.pins.allSatisfy({ $0.isServed }) {
            missing.append(("in use, and no backup is left: a lost key locks all clients out", false))
        } else if self.pins.contains(where: { $0.isServed && $0.isBackup }),
            !self.pins.contains(where: { !$0.isServed && $0.isBackup })
        {
            missing.append(("the backup key is in use, and no backup is left", false))
        }
        return missing
    }

    /// The view of the host for templates.
    func view(in frame: PageFrame) -> View {
        View([
            "domain": .markup(VisibleText.line(self.domain, limit: 253)),
            "filter": "\(VisibleText.plain(self.domain, limit: 253))",
            "subdomains": .flag(self.includesSubdomains), "mode": .markup(VisibleText.line(self.mode, limit: 16)),
            "isEnforced": .flag(self.mode == "enforce"), "isOff": .flag(self.mode == "off"),
            "rollout": self.rollout == 100 ? "" : "\(self.rollout) % enforce, the others report",
            "reporting": "\(self.reporting)",
            "expires": .markup(self.expiresAt.map { frame.times.full($0) } ?? ""),
            "suspended": .markup(self.suspendedUntil.map { frame.times.full($0) } ?? ""),
            "probed": .markup(self.probedAt.map { frame.times.full($0) } ?? "never"),
            "missing": .views(
                self.missing.map {
                    View(["text": .markup(VisibleText.line($0.text, limit: 400)), "isUrgent": .flag($0.isUrgent)])
                }),
            "hasMissing": .flag(!self.missing.isEmpty),
            "pins": .views(self.pins.map { $0.view(in: frame, axis: Self.axis) }),
            "hasPins": .flag(!self.pins.isEmpty), "safe": .view(self.safe),
            "logged": .view(
                self.loggedCertificates == 0
                    ? nil
                    : View([
                        "count": """
                        \(NumberText.count(self.loggedCertificates, "certificate", "certificates"))
                        """,
                        "href": "\(CertificatesPage.link(to: self.domain, in: frame))",
                        "unexpected": .markup(VisibleText.line(self.unexpected, limit: 1_024)),
                    ])),
            "rotation": .view(
                self.rotation.map { state in
                    View([
                        "state": .markup(VisibleText.line(state, limit: 16)),
                        "href": "\(RotationsPage.link(to: self.domain, in: frame))",
                    ])
                }),
        ])
    }

    /// The keys that are safe to deploy, in a line; `nil` where that is no question.
    private var safe: View? {
        let evaluated = self.pins.filter { $0.evaluation != nil }
        guard !evaluated.isEmpty else { return nil }
        let safe = evaluated.filter(\.isSafe).map { DigestText.short($0.pin) }
        let isMeasured = evaluated.contains { if case .refused? = $0.evaluation { true } else { false } }
        return View([
            "keys": .markup(Markup.join(safe, separator: ", ")), "hasKeys": .flag(!safe.isEmpty),
            "isNone": .flag(safe.isEmpty && isMeasured), "isUnknown": .flag(!isMeasured),
        ])
    }
}

extension HostPins.Pinned {
    /// Whether a probe saw it.
    var isServed: Bool {
        if case .served = self.service { true } else { false }
    }

    /// Whether the list's note calls it a backup.
    var isBackup: Bool { self.note.lowercased().contains("backup") }

    /// Whether so few would refuse it that the gate says safe, where nothing else is agreed.
    var isSafe: Bool {
        guard case .refused(let share)? = self.evaluation else { return false }
        return share <= GateRules.usualMaxRefusing / 100
    }

    /// Whether it could be deployed, in words.
    private var evaluationText: Markup {
        switch self.evaluation {
        case .refused(let share) where self.isSafe:
            """
            <span class="state calm"><span aria-hidden="true">●</span> safe</span> \
            <span class="faint">\(Share.percent(share)) refuse it</span>
            """
        case .refused(let share):
            """
            <span class="state now"><span aria-hidden="true">■</span> not safe</span> \
            <span class="faint">\(Share.percent(share)) refuse it</span>
            """
        case .notMeasured(let why):
            """
            <span class="state unknown"><span aria-hidden="true">○</span> not measured</span> \
            <span class="faint">\(VisibleText.line(why, limit: 300))</span>
            """
        case .needsChain(let why):
            """
            <span class="state unknown"><span aria-hidden="true">○</span> not known</span> \
            <span class="faint">\(VisibleText.line(why, limit: 300))</span>
            """
        case nil: "–"
        }
    }

    fileprivate func view(in frame: PageFrame, axis: Double) -> View {
        var left: DaysLeft?
        var until: Timestamp?
        if case .served(let end) = self.service {
            left = DaysLeft(from: frame.time, to: end, at: HostPins.certificateDays)
            until = end
        }
        let shown = self.probes.prefix(3).map { VisibleText.line($0, limit: 32) }
        let more: Markup = self.probes.count > 3 ? " and \(self.probes.count - 3) more" : ""
        return View([
            "pin": .markup(DigestText.short(self.pin)), "note": .markup(VisibleText.folded(self.note)),
            "position": self.position == "any" ? "" : .markup(VisibleText.line(self.position, limit: 16)),
            "isServed": .flag(self.isServed), "isBackup": .flag(self.service == .notServed),
            "isUnknown": .flag(self.service == .neverProbed),
            "probes": .markup("\(Markup.join(shown, separator: ", "))\(more)"),
            "until": .markup(until.map { frame.times.date($0) } ?? ""), "left": .markup(left?.words ?? ""),
            "bar": .markup(left?.bar(axis) ?? ""), "deploy": .markup(self.evaluationText),
        ])
    }
}
