// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PinListRepository

/// `--allow RULE`: findings that do not stop a command.
struct AllowOption: ParsableArguments {
    @Option(name: .customLong("allow"), help: "A rule of lint that may be broken. May be given several times.")
    var rules: [String] = []

    func validate() throws {
        for rule in self.rules where LintRule.named(rule) == nil {
            let nearest = NearestName.of(rule, among: LintRule.all.map(\.id)).map { "; there is \($0)" } ?? ""
            throw ValidationError("--allow \(rule): there is no such rule\(nearest)")
        }
    }

    /// Whether a finding is allowed.
    func allows(_ finding: LintFinding) -> Bool { self.rules.contains(finding.rule.id) }
}
