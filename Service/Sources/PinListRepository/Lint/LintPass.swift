// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// One run of the rules: what is known, indexed once, so that 10,000 entries cost as much as 10,000 look-ups.
struct LintPass {
    let list: PinList
    let time: Timestamp
    let source: ListSource?
    let published: PinList?
    let unseen: PinList?
    let held: HeldLists?
    let signers: [LintSigner]
    let root: Root?
    let verifiable: Set<MetadataKey.Algorithm>
    let served: [ServedPath]?
    let probed: ProbeMemory?
    let serviceHosts: [HostName]
    let listHosts: [HostName]

    /// The entries that apply, without suspensions and denied keys; `nil` for a list that no payload could hold.
    let entries: PinningPolicy?

    /// The hosts of entries of older lists that have no entry of their own in this one.
    let hostsWithoutOwnEntry: Set<HostName>

    /// The entries of the source by their hosts.
    let sourceDomains: [HostName: SourceDomain]

    /// The paths that were seen, by their hosts.
    let paths: [HostName: ValidatedPath]

    /// The hosts of entries by the name above them, as a wildcard of a certificate stands for them.
    let hostsBelow: [Substring: [HostName]]

    init(_ linter: Linter) {
        self.list = linter.list
        self.time = linter.time
        self.source = linter.source
        self.published = linter.published
        self.unseen = linter.unseen
        self.held = linter.held
        self.signers = linter.signers
        self.root = linter.root
        self.verifiable = linter.source?.verifiable ?? linter.verifiable
        self.served = linter.served
        self.probed = linter.probed
        self.serviceHosts = linter.serviceHosts
        self.listHosts = linter.listHosts
        self.entries = linter.rules
        self.hostsWithoutOwnEntry = Set(linter.olderDomains.map(\.entry.domain)).subtracting(
            linter.list.domains.map(\.entry.domain))
        self.sourceDomains = Dictionary((linter.source?.domains ?? []).map { ($0.host, $0) }) { first, _ in first }
        self.paths = Dictionary(
            (linter.served ?? []).compactMap { served in served.path.map { (served.host, $0) } }
        ) { first, _ in first }
        self.hostsBelow = Dictionary(grouping: linter.list.domains.map(\.entry.domain).filter { !$0.isAddress }) {
            $0.description.drop { $0 != "." }.dropFirst()
        }
    }

    /// The position of an entry in the source.
    func position(of host: HostName) -> SourcePosition? { self.sourceDomains[host]?.position }

    /// The position of a pin of an entry in the source.
    func position(of host: HostName, pin index: Int) -> SourcePosition? {
        guard let pins = self.sourceDomains[host]?.pins, pins.indices.contains(index) else { return nil }
        return pins[index].position
    }
}

/// Findings about installations that do not have the newest list yet.
extension LintPass {
    var heldFindings: [LintFinding] {
        guard let held else { return [] }
        var findings: [LintFinding] = []
        if !held.isMeasured {
            if self.propagation < ListSource.defaultPropagation {
                findings.append(LintFinding(.propagationShort, "list", SourceDuration.text(self.propagation)))
            }
            for missing in held.missing { findings.append(LintFinding(.listsMissing, "list", missing)) }
        }
        guard let served, let rules = try? HeldRules(held, at: self.time) else { return findings }
        for observation in served {
            guard let path = observation.path,
                let refusal = rules.refusal(of: observation.host, .validated(path)), !refusal.isTolerated
            else { continue }
            findings.append(
                LintFinding(
                    .heldListRefuses, "\(observation.host)", refusal.text, at: self.position(of: observation.host)))
        }
        return findings
    }
}

/// Findings about the signers, and the clients that can verify them.
extension LintPass {
    var rootFindings: [LintFinding] {
        guard let root else { return [] }
        let subject = "root \(root.version)"
        var findings: [LintFinding] = []
        for keyID in root.pins.allKeyIDs where root.root.allKeyIDs.contains(keyID) {
            findings.append(LintFinding(.sharedKey, subject, "key \(keyID.prefix(16))…"))
        }
        for threshold in root.unreachableThresholds(verifying: self.verifiable) {
            findings.append(LintFinding(.unverifiableThreshold, subject, "\(threshold)"))
        }
        for (name, role) in [("root", root.root), ("pins", root.pins)] {
            guard let hybrid = role.hybrid else { continue }
            let unknown = root.keys(of: hybrid).filter { !MetadataKey.Algorithm.allCases.contains($0.algorithm) }
            guard let key = unknown.first else { continue }
            findings.append(
                LintFinding(.hybridNotDemanded, subject, "the role \(name), key \(key.keyID.prefix(16))…"))
        }
        for path in root.unknownMembers { findings.append(LintFinding(.unknownMember, "root: \(path)")) }
        return findings
    }
}

/// Findings about validity: of the list, the root, entries and suspensions.
extension LintPass {
    /// The maximum time that a list should hold, in seconds: 90 days.
    private static let maximumValidity: Int64 = 90 * 86_400

    /// The time before its end at which a root should be replaced, in seconds: 180 days, since apps must ship the next
    /// one.
    private static let rootNotice: Int64 = 180 * 86_400

    /// The maximum time that a suspension should hold, in seconds: a day.
    private static let maximumSuspension: Int64 = 86_400

    var timeFindings: [LintFinding] {
        var findings: [LintFinding] = []
        let validity = self.list.expiresAt.secondsSince1970 - self.list.issuedAt.secondsSince1970
        if validity > Self.maximumValidity {
            findings.append(LintFinding(.validTooLong, "list", SourceDuration.rough(validity)))
        }
        if validity < self.list.refreshInterval {
            findings.append(LintFinding(.validShorterThanRefresh, "list", SourceDuration.text(validity)))
        }
        if self.list.refreshAfter != self.list.refreshInterval {
            findings.append(LintFinding(.refreshClamped, "list", SourceDuration.text(self.list.refreshAfter)))
        }
        if let root {
            let left = root.expiresAt.secondsSince1970 - self.time.secondsSince1970
            if left <= 0 {
                findings.append(LintFinding(.rootExpired, "root \(root.version)", "at \(root.expiresAt)"))
            } else if left < Self.rootNotice {
                findings.append(LintFinding(.rootExpiresSoon, "root \(root.version)", "at \(root.expiresAt)"))
            }
        }
        for domain in self.list.domains {
            guard let expiresAt = domain.entry.expiresAt else { continue }
            let host = domain.entry.domain
            findings.append(LintFinding(.domainExpiry, "\(host)", "at \(expiresAt)", at: self.position(of: host)))
        }
        return findings + self.suspensionFindings
    }

    private var suspensionFindings: [LintFinding] {
        // Those of the source with their places, the ended ones among them; else those of the list.
        let suspensions: [(Suspension, SourcePosition?)] =
            self.source.map { $0.suspended.map { ($0.value, $0.position) } } ?? self.list.suspended.map { ($0, nil) }
        let hosts = Set(self.list.domains.map(\.entry.domain))
        var findings: [LintFinding] = []
        for (suspension, position) in suspensions {
            let seconds = suspension.until.secondsSince1970 - self.time.secondsSince1970
            let name = suspension.scope.description
            if seconds > Self.maximumSuspension {
                findings.append(LintFinding(.suspensionOverADay, name, "until \(suspension.until)", at: position))
            }
            if seconds <= 0 {
                findings.append(LintFinding(.suspensionEnded, name, "at \(suspension.until)", at: position))
            } else if case .entry(let host) = suspension.scope, !hosts.contains(host) {
                findings.append(LintFinding(.suspensionOfNothing, name, at: position))
            }
        }
        return findings
    }
}
