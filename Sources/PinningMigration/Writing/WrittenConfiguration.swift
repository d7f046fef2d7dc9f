// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Rules in another tool's form, and all that this form cannot say.
@_spi(Tools) public struct WrittenConfiguration: Hashable, Sendable {
    /// The file.
    public let text: String

    /// How many hosts stand in it.
    public let hostCount: Int

    /// What is not the same there.
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
