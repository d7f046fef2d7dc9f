// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata
@_spi(Tools) public import PinningMigration

/// Entries as the `domains` section of a `tumbler.yaml` (formats.md, section 9).
public struct DomainsText: Hashable, Sendable {
    /// The section.
    public let text: String

    /// The number of entries in the text.
    public let entryCount: Int

    /// The warnings: settings that a source cannot express, and findings that the linter will have.
    public let warnings: [MigrationWarning]

    /// Writes entries.
    ///
    /// One that enforces without a pin is refused in a list. It becomes a comment, and a warning.
    public init(_ domains: [PinnedDomain]) {
        var lines: [String] = []
        var warnings: [MigrationWarning] = []
        var count = 0
        for entry in domains {
            let host = entry.domain.description
            if let missing = Self.missing(entry) {
                lines.append("  # \(host) is left out: \(missing)")
                warnings.append(
                    MigrationWarning(
                        domain: host, setting: "pins", effect: .weaker,
                        message: "left out of the list: \(missing). Add it again with tumbler pin --yaml"))
                continue
            }
            if entry.includeSubdomains, PublicSuffixes.contains(entry.domain, orUnknownTopLevel: true) {
                warnings.append(
                    MigrationWarning(
                        domain: host, setting: "includeSubdomains", effect: .same,
                        message: "under a public suffix are the hosts of many owners: lint refuses it"))
            }
            count += 1
            lines += Self.lines(entry)
        }
        self.text = ([count == 0 ? "domains: []" : "domains:"] + lines + [""]).joined(separator: "\n")
        self.entryCount = count
        self.warnings = warnings
    }

    /// The part that an entry lacks for a list.
    private static func missing(_ entry: PinnedDomain) -> String? {
        guard entry.mode != .off else { return nil }
        if entry.pins.isEmpty { return "it has no usable pin" }
        guard entry.requireIssuer else { return nil }
        let positions = Set(entry.pins.map(\.position))
        return positions == [.leaf, .issuer] ? nil : "it asks for a leaf and an issuer pin and has only one of them"
    }

    private static func lines(_ entry: PinnedDomain) -> [String] {
        var lines = ["  - domain: \(YAMLWriter.quoted(entry.domain.description))"]
        if entry.includeSubdomains { lines.append("    includeSubdomains: true") }
        lines.append("    mode: \(entry.mode == .off ? "\"off\"" : entry.mode.rawValue)")
        if entry.requireIssuer { lines.append("    requireIssuer: true") }
        if let end = entry.expiresAt { lines.append("    expiresAt: \(end)") }
        if !entry.reportTo.isEmpty {
            lines.append("    reportTo: [\(entry.reportTo.map(YAMLWriter.quoted).joined(separator: ", "))]")
        }
        guard !entry.pins.isEmpty else { return lines }
        lines.append("    pins:")
        return lines + entry.pins.map { "      - \(YAMLWriter.line($0))" }
    }
}

extension MigratedRules {
    /// Makes a text of a list, for writing it in another tool's form.
    @_spi(Tools) public init(_ list: PinList) {
        self.init(
            domains: list.domains.map { domain in
                var entry = domain.entry
                entry.isInRollout = domain.rollout >= 100
                return entry
            }, denied: list.denied, revoked: list.revoked, suspended: list.suspended, unlisted: list.unlisted,
            reportTo: list.reportTo)
        self.unusablePins = list.unusablePinCount
    }

    /// Makes a text of a source.
    @_spi(Tools) public init(_ source: ListSource) {
        self.init(
            domains: source.domains.map { domain in
                var entry = domain.domain.entry
                entry.isInRollout = domain.domain.rollout >= 100
                return entry
            }, denied: source.denied.map(\.value), revoked: source.revoked.map(\.value),
            suspended: source.suspended.map(\.value), unlisted: source.unlisted, reportTo: source.reportTo)
    }
}
