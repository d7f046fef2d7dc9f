// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// The facts of a group as sentences.
package struct CauseEvidence {
    private let facts: GroupFacts

    /// The maximum number of hosts and signals that are named: more hosts are counted.
    private static let maximumNamed = 5

    init(_ facts: GroupFacts) { self.facts = facts }

    /// The number of reports, and their time span.
    var count: String {
        let seconds = self.facts.seen.upperBound.secondsSince1970 - self.facts.seen.lowerBound.secondsSince1970
        let reports = self.facts.count == 1 ? "1 report" : "\(self.facts.count) reports"
        return seconds == 0 ? "\(reports)." : "\(reports) within \(Self.duration(seconds))."
    }

    /// The number of networks, in words.
    var networks: String {
        guard let networks = self.facts.networks else { return "It was not measured from how many networks." }
        if networks.number == 1 { return "They came from 1 network: one place, or one person." }
        return "They came from \(networks) networks in a day."
    }

    /// The issuer as it names itself.
    var issuer: String? {
        guard !self.facts.group.issuer.isEmpty else { return nil }
        return "The certificate says that its issuer is: \(self.facts.group.issuer)"
    }

    /// Whether the issuer is public, and how that is known.
    var authority: String? {
        switch self.facts.issuerIsPublicCA {
        case true?: "By its name or its root it is a certificate authority of the public web; a name can be copied."
        case false?: "It is not a known certificate authority of the public web."
        case nil: nil
        }
    }

    /// The observation of a probe.
    var probe: String? {
        guard let probed = self.facts.probed, !self.facts.group.issuer.isEmpty else { return nil }
        let when = probed.at < self.facts.seen.lowerBound ? ", before the first of these reports," : ""
        if probed.hasLeaf { return "Your probe of \(probed.at)\(when) saw this key at the host." }
        return probed.hasIssuer
            ? "Your probe of \(probed.at)\(when) saw another key at the host, of the same issuer."
            : "Your probe of \(probed.at)\(when) saw another key at the host, of another issuer."
    }

    /// The number of leaves.
    var leaves: String? {
        switch (self.facts.leaves.number, self.facts.leaves.isMore) {
        case (0, _): nil
        case (1, false): "All reports show the same server key."
        default: "The reports show \(self.facts.leaves) different server keys."
        }
    }

    /// Whether devices trust the root.
    var validated: String? {
        guard !self.facts.group.issuer.isEmpty else { return nil }
        return self.facts.isChainValidated
            ? "The devices had validated the chain: they trust its root, which may have been installed later."
            : "No validated chain was reported: the presented chain is shown."
    }

    /// The list that was reported, beside the newest of the time when the last report came.
    var list: String? {
        guard let reported = self.facts.group.listVersion else { return nil }
        guard let newest = self.facts.newestListVersion else { return "The apps held version \(reported) of the list." }
        return reported < newest
            ? "The apps held version \(reported) of the list; version \(newest) was the newest then."
            : "The apps held version \(reported) of the list, the newest then."
    }

    /// Other hosts with the same issuer.
    var otherHosts: String? {
        let hosts = self.facts.otherHosts.sorted()
        guard !hosts.isEmpty else { return nil }
        let named = hosts.prefix(Self.maximumNamed).joined(separator: ", ")
        let rest = hosts.count > Self.maximumNamed ? " and \(hosts.count - Self.maximumNamed) more" : ""
        return "The same issuer was reported for other hosts: \(named)\(rest)."
    }

    /// The signals of the apps.
    var signals: String? {
        let signals = self.facts.signals.sorted()
        guard !signals.isEmpty else { return nil }
        return "The apps noticed: \(signals.prefix(Self.maximumNamed).joined(separator: ", "))."
    }

    /// The share of one version of the app.
    var version: String? {
        guard let percent = self.facts.appVersionPercent, !self.facts.group.appVersion.isEmpty else { return nil }
        return
            "\(percent) % of the reports of this failure come from version \(self.facts.group.appVersion) of the app."
    }

    /// The state of the senders' clocks.
    var clock: String? {
        guard let skew = self.facts.clockSkew, skew.magnitude >= UInt64(LikelyCause.notableSkew) else { return nil }
        let magnitude = Int64(clamping: skew.magnitude)
        return skew > 0
            ? "The senders' clocks are about \(Self.duration(magnitude)) ahead of this service's."
            : "The reports carry times about \(Self.duration(magnitude)) before they came: "
                + "clocks that are behind, or reports that waited."
    }

    /// The evidence that every cause of a failed pin is shown with.
    var seen: [String] {
        [
            self.issuer, self.authority, self.probe, self.leaves, self.validated, self.count, self.networks,
            self.otherHosts,
            self.list, self.version, self.signals, self.clock,
        ].compactMap { $0 }
    }

    /// `45 s`, `12 min`, `3 h` or `2 days`, rounded down.
    static func duration(_ seconds: Int64) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}
