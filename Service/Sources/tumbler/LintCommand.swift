// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository

/// What is dangerous in a list, before it is signed.
struct LintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Say what is dangerous in a source or a list.",
        discussion: """
            Without an argument the source of the project folder is read. --published compares with the list that \
            clients have, --live with what the hosts serve now. Exit code 0: no errors, 1: errors; --strict counts \
            warnings as errors.
            """
    )

    @Argument(help: "A tumbler.yaml, or a list: an envelope or its payload.")
    var input: String?

    @OptionGroup var published: PublishedOption
    @OptionGroup var live: LiveOption
    @OptionGroup var allow: AllowOption

    @Flag(help: "Count warnings as errors.")
    var strict = false

    @Flag(help: "Print the findings as JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func run() async throws {
        let time = self.time.time
        var linter = try await self.linter(at: time)
        linter.listHost = self.published.host
        linter.served = try await self.live.observe(linter.hostsToObserve, at: time)
        let findings = linter.findings
        let counted = findings.filter { !self.allow.allows($0) }
        let errors = counted.count { self.strict || $0.rule.severity == .error }
        if self.json {
            try JSONOutput.write(findings.map { PrintedFinding(finding: $0, isAllowed: self.allow.allows($0)) })
        } else {
            var lines: [String] = []
            for finding in findings {
                lines.append(
                    PrintableText.line(finding.line, maximumLength: 2_048)
                        + (self.allow.allows(finding) ? " [allowed]" : ""))
                lines.append("    fix: \(finding.rule.fix)")
            }
            let warnings = counted.count { $0.rule.severity == .warning }
            lines.append("errors: \(counted.count - warnings), warnings: \(warnings)")
            try StandardOutput.write(lines: lines)
        }
        guard errors == 0 else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }

    /// What is linted: a list as it is, or what a source would build.
    private func linter(at time: Timestamp) async throws -> Linter {
        if let input, !input.hasSuffix(".yaml"), !input.hasSuffix(".yml") {
            let bytes = try InputFile.read(input)
            if KnownList.isJSON(bytes) {
                // Whoever signs or verifies looks at signatures; here the text alone matters.
                let list = try KnownList(bytes, named: input, roots: []).list
                let roots = try (try? self.project.find())?.roots() ?? []
                var linter = Linter(list, at: time)
                linter.root = try KnownList.chain(roots)?.chain.newest
                linter.verifiable = try self.project.verifiable()
                linter.published = try await self.published.load(roots: roots)?.list
                return linter
            }
        }
        let input = try SourceInput(self.input, self.project)
        let roots = try input.project.roots()
        let published = try await self.published.load(roots: roots)
        let newest = try input.newest(published)
        var linter = Linter(try PinList(building: input.source, after: newest, at: time), at: time)
        linter.source = input.source
        linter.published = published?.list ?? newest
        linter.root = try KnownList.chain(roots)?.chain.newest
        return linter
    }
}

/// A finding as `lint --json` prints it.
private struct PrintedFinding: Encodable {
    let finding: LintFinding
    let isAllowed: Bool

    private enum CodingKeys: CodingKey { case allowed }

    func encode(to encoder: any Encoder) throws {
        try self.finding.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.isAllowed, forKey: .allowed)
    }
}
