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
    let held: HeldLists?
    let signers: [LintSigner]
    let root: Root?
    let verifiable: Set<MetadataKey.Algorithm>
    let served: [ServedPath]?
    let serviceHosts: [HostName]
    let listHosts: [HostName]

    /// The entries that apply, without suspensions and denied keys; `nil` for a list that no payload could hold.
    let entries: PinningPolicy?

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
        self.held = linter.held
        self.signers = linter.signers
        self.root = linter.root
        self.verifiable = linter.source?.verifiable ?? linter.verifiable
        self.served = linter.served
        self.serviceHosts = linter.serviceHosts
        self.listHosts = linter.listHosts
        self.entries = try? PinningPolicy(domains: linter.list.domains.map(\.entry), unlisted: linter.list.unlisted)
        self.sourceDomains = Dictionary((linter.source?.domains ?? []).map { ($0.host, $0) }) { first, _ in first }
        self.paths = Dictionary(
            (linter.served ?? []).compactMap { served in served.path.map { (served.host, $0) } }
        ) { first, _ in first }
        self.hostsBelow = Dictionary(grouping: linter.list.domains.map(\.entry.domain).filter { !$0.isAddress }) {
            $0.description.drop { $0 != "." }.dropFirst()
        }
    }

    /// Where an entry was written.
    func position(of host: HostName) -> SourcePosition? { self.sourceDomains[host]?.position }

    /// Where a pin of an entry was written.
    func position(of host: HostName, pin index: Int) -> SourcePosition? {
        guard let pins = self.sourceDomains[host]?.pins, pins.indices.contains(index) else { return nil }
        return pins[index].position
    }
}
