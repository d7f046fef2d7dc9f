// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
@_spi(Tools) import PinListRepository
@_spi(Tools) import PinningMigration

/// The result that `convert` prints, and with `--json` as JSON.
struct Conversion: Encodable {
    /// The result.
    let output: String

    /// The number of entries in it.
    let entryCount: Int

    private let warnings: [PrintedWarning]

    private enum CodingKeys: CodingKey { case output, warnings }

    /// A section for a source.
    init(_ migrated: MigratedPins) {
        let text = DomainsText(migrated.domains)
        self.init(text.text, migrated.warnings + text.warnings, text.entryCount)
    }

    /// From one tool to another.
    init(_ migrated: MigratedPins, to format: MigrationFormat) {
        let written = WrittenConfiguration(
            MigratedRules(domains: migrated.domains, unlisted: migrated.unlisted), as: format)
        self.init(written.text, migrated.warnings + written.warnings, written.hostCount)
    }

    /// From ours to another tool's.
    init(_ rules: MigratedRules, to format: MigrationFormat) {
        let written = WrittenConfiguration(rules, as: format)
        self.init(written.text, written.warnings, written.hostCount)
    }

    private init(_ output: String, _ warnings: [MigrationWarning], _ entryCount: Int) {
        self.output = output
        self.warnings = warnings.map { PrintedWarning(warning: $0) }
        self.entryCount = entryCount
    }

    /// Says on standard error what is not the same.
    func printWarnings() { for warning in self.warnings { StandardError.warning("\(warning.warning)") } }
}

/// A warning as `convert --json` prints it.
private struct PrintedWarning: Encodable {
    let warning: MigrationWarning

    private enum CodingKeys: CodingKey { case domain, setting, effect, message }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.warning.domain, forKey: .domain)
        try container.encode(self.warning.setting, forKey: .setting)
        try container.encode(self.warning.effect.rawValue, forKey: .effect)
        try container.encode(self.warning.message, forKey: .message)
    }
}
