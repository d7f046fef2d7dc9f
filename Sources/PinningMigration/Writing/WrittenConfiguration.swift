// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Tools) public import CertificatePinning

/// Rules in another tool's form, and warnings about all that this form lacks.
@_spi(Tools) public struct WrittenConfiguration: Hashable, Sendable {
    /// The file.
    public let text: String

    /// The number of hosts in it.
    public let hostCount: Int

    /// The differences there.
    public let warnings: [MigrationWarning]

    /// Writes rules.
    public init(_ rules: MigratedRules, as format: MigrationFormat) {
        var outgoing = OutgoingRules(rules, as: format)
        let entries = outgoing.entries()
        self.text =
            switch format {
            case .trustKit: PropertyListText.trustKit(entries)
            case .pinnedDomains: PropertyListText.pinnedDomains(entries)
            case .android: AndroidText.configuration(entries)
            case .okHttp: OkHttpText.builder(entries)
            }
        self.hostCount = entries.count { !$0.isCarveOut }
        self.warnings = outgoing.collector.warnings
    }
}

/// The rules of a list, for writing them in another tool's form.
@_spi(Tools) public struct MigratedRules: Hashable, Sendable {
    /// The entries. One whose rollout is below 100 has ``/CertificatePinning/PinnedDomain/isInRollout`` false.
    public var domains: [PinnedDomain]
    /// The keys that are refused anywhere in a path.
    public var denied: [DeniedKey]
    /// The certificates that are refused by issuer and serial number.
    public var revoked: [RevokedCertificates]
    /// The suspensions.
    public var suspended: [Suspension]
    /// The rule for hosts that no entry covers.
    public var unlisted: UnlistedHosts
    /// The addresses for failures that no entry covers.
    public var reportTo: [String]
    /// The number of pins that this version cannot use.
    public var unusablePins = 0

    /// Creates rules.
    public init(
        domains: [PinnedDomain], denied: [DeniedKey] = [], revoked: [RevokedCertificates] = [],
        suspended: [Suspension] = [], unlisted: UnlistedHosts = .allow, reportTo: [String] = []
    ) {
        self.domains = domains
        self.denied = denied
        self.revoked = revoked
        self.suspended = suspended
        self.unlisted = unlisted
        self.reportTo = reportTo
    }
}

/// Android's network security configuration as text.
enum AndroidText {
    /// `res/xml/network_security_config.xml`.
    static func configuration(_ entries: [OutgoingEntry]) -> String {
        var lines = ["<?xml version=\"1.0\" encoding=\"utf-8\"?>", "<network-security-config>"]
        for outgoing in entries {
            let entry = outgoing.entry
            lines.append("    <domain-config>")
            lines.append("        <domain includeSubdomains=\"\(entry.includeSubdomains)\">\(entry.domain)</domain>")
            if !outgoing.isCarveOut {
                let expiration = outgoing.lastDay.map { " expiration=\"\($0)\"" } ?? ""
                lines.append("        <pin-set\(expiration)>")
                lines += outgoing.digests.map { "            <pin digest=\"SHA-256\">\($0)</pin>" }
                lines.append("        </pin-set>")
            }
            lines.append("    </domain-config>")
        }
        return (lines + ["</network-security-config>", ""]).joined(separator: "\n")
    }
}

/// OkHttp's pinner as text.
enum OkHttpText {
    /// A declaration in Kotlin.
    static func builder(_ entries: [OutgoingEntry]) -> String {
        var lines = [
            "import okhttp3.CertificatePinner", "",
            "val certificatePinner: CertificatePinner = CertificatePinner.Builder()",
        ]
        for outgoing in entries {
            let pattern = (outgoing.entry.includeSubdomains ? "**." : "") + outgoing.entry.domain.description
            lines += outgoing.digests.map { "    .add(\"\(pattern)\", \"sha256/\($0)\")" }
        }
        return (lines + ["    .build()", ""]).joined(separator: "\n")
    }
}
