// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PinListMetadata
import PinListRepository

/// The source of a drill: the project's own domains, names and times, with nothing in it that leads out of this machine
/// and no pin of the drilled host that the project knows.
struct DrillSource: Sendable {
    /// The host that is drilled.
    let host: HostName
    /// The name of the list.
    let name: String
    /// The `domains` section.
    let domains: String
    /// The time that clients in the field wait between two refreshes, in seconds.
    let refreshInterval: Int64

    private let source: ListSource

    /// Copies a source.
    ///
    /// - Parameters:
    ///   - source: The project's.
    ///   - host: The domain of an entry that enforces; `nil` for the first such entry.
    ///   - pins: The pins of the drilled host.
    /// - Throws: ``CommandError`` when there is no such entry.
    init(copying source: ListSource, host: String?, pins: [KnownPin]) throws(CommandError) {
        self.source = source
        self.name = source.name
        self.refreshInterval = min(
            max(source.refreshAfter, MetadataLimits.refreshAfter.lowerBound), MetadataLimits.refreshAfter.upperBound)
        let entries = source.domains.map(\.domain.entry)
        let drilled = try Self.entry(of: host, among: entries)
        self.host = drilled.domain
        self.domains =
            DomainsText(
                entries.map { entry in
                    var entry = entry
                    entry.reportTo = []
                    guard entry.domain == drilled.domain else { return entry }
                    entry.pins = pins
                    entry.requireIssuer = false
                    entry.expiresAt = nil
                    return entry
                }
            ).text
    }

    private static func entry(
        of host: String?, among entries: [PinnedDomain]
    ) throws(CommandError) -> PinnedDomain {
        // A name, not an address: the drill leads a name to this machine.
        let fitting = entries.filter { $0.mode == .enforce && !$0.domain.isAddress }
        guard let host else {
            if let first = fitting.first { return first }
            throw CommandError(
                .doesNotHold, "no entry of tumbler.yaml enforces pins of a name, so no connection could fail",
                hint: "mode: enforce")
        }
        let name: HostName
        do throws(InputError) { name = try HostArgument.name(host) } catch {
            throw CommandError(.usage, "--host \(host): \(error)")
        }
        if let entry = fitting.first(where: { $0.domain == name }) { return entry }
        let isThere = entries.contains { $0.domain == name }
        let nearest = NearestName.of("\(name)", among: fitting.map(\.domain.description)).map { "there is \($0)" }
        throw CommandError(
            .usage,
            isThere
                ? "--host \(name): its entry does not enforce, or is for an address, so no connection could fail"
                : "--host \(name): there is no entry for it in tumbler.yaml",
            hint: isThere ? "drill an entry with mode: enforce" : nearest ?? "name an entry's own domain")
    }

    /// The `tumbler.yaml` of the drill.
    ///
    /// - Parameters:
    ///   - service: The service of the drill, which failures are reported to as well.
    ///   - pinsKey: The key that signs lists.
    func text(service: String, pinsKey: String) -> String {
        [
            "# A drill: a copy with throw-away keys, which is removed when the drill ends.",
            "name: \(YAMLWriter.quoted(self.name))",
            "validFor: \(SourceDuration.text(self.source.validFor))",
            "refreshAfter: \(SourceDuration.text(self.source.refreshAfter))",
            "propagation: \(SourceDuration.text(self.source.propagation))",
            "unlisted: \(self.source.unlisted.rawValue)",
            "reportTo: [\(YAMLWriter.quoted("\(service)/v1/reports"))]",
            "server: \(YAMLWriter.quoted(service))",
            "signers: {pins: [\"file:\(pinsKey)\"], root: [\"file:\(NewProject.rootKeyName)\"]}",
            "\(self.domains)denied: []",
            "suspended: []",
            "",
        ].joined(separator: "\n")
    }
}
