// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// `lint`: finds dangerous content in a list, before it is signed.
struct LintCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Find dangerous content in a source or a list.",
        discussion: """
            Without an argument the source of the project folder is read. --published compares with the list that \
            clients have, --live with what the hosts serve now: it must match every list that installations may still \
            hold. A service that measured adoption says which these are (--server, or server: in tumbler.yaml, with a \
            token); without one they are the lists of the last propagation, from lists/. Exit code 0: no errors, 1: \
            errors; --strict counts warnings as errors.
            """
    )

    @Argument(help: "A tumbler.yaml, or a list: an envelope or its payload.", completion: .file())
    var input: String?

    @OptionGroup var published: PublishedOption
    @OptionGroup var live: LiveOption
    @OptionGroup var allow: AllowOption
    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions

    @Flag(help: "Treat warnings as errors.")
    var strict = false

    @Flag(help: "Print the findings as JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func run() async throws {
        let time = self.time.time
        var linter = try await self.linter(at: time)
        linter.listHost = self.published.host
        linter.served = try await self.live.observe(
            linter.hostsToObserve, by: self.service.connection.connections, at: time)
        let findings = linter.findings
        let basis = self.basis(of: linter)
        let counted = findings.filter { !self.allow.allows($0) }
        let errors = counted.count { self.strict || $0.rule.severity == .error }
        if self.json {
            if let basis { StandardError.note(basis) }
            try JSONOutput.write(findings.map { PrintedFinding(finding: $0, isAllowed: self.allow.allows($0)) })
        } else {
            var lines: [String] = basis.map { [$0] } ?? []
            for finding in findings {
                lines.append(
                    (finding.rule.severity == .error ? Colour.red : .yellow).word(
                        finding.rule.severity.rawValue, of: PrintableText.line(finding.line, maximumLength: 2_048))
                        + (self.allow.allows(finding) ? " [allowed]" : ""))
                lines.append("    fix: \(finding.rule.fix)")
            }
            let warnings = counted.count { $0.rule.severity == .warning }
            lines.append("errors: \(counted.count - warnings), warnings: \(warnings)")
            try StandardOutput.write(lines: lines)
        }
        guard errors == 0 else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }

    /// The basis of the checks on held lists; `nil` when nothing is out yet.
    private func basis(of linter: Linter) -> String? {
        if let held = linter.held { return held.lists.isEmpty ? nil : held.line }
        guard self.live.live else { return nil }
        return "this list alone was looked at: those that installations hold are known in its project"
    }

    /// The linter with its input: a list as it is, or what a source would build.
    private func linter(at time: Timestamp) async throws -> Linter {
        if let input, !input.hasSuffix(".yaml"), !input.hasSuffix(".yml") {
            let bytes = try InputFile.read(input)
            if KnownList.isJSON(bytes) {
                // Signing and verifying look at signatures; here the text alone matters.
                let list = try KnownList(bytes, named: input, roots: []).list
                let project = try? self.project.find()
                let roots = try project?.roots() ?? []
                var linter = Linter(list, at: time)
                linter.root = try KnownList.chain(roots)?.chain.newest
                linter.verifiable = try self.project.verifiable()
                linter.published = try await self.published.load(
                    roots: roots, by: self.service.connection.connections)?.list
                if let project, try project.name() == list.name {
                    linter.held = try await HeldLists.known(
                        in: project, name: list.name, source: (try? SourceInput(nil, self.project))?.source,
                        published: linter.published, service: self.service, at: time)
                }
                return linter
            }
        }
        let input = try SourceInput(self.input, self.project)
        let roots = try input.project.roots()
        let published = try await self.published.load(roots: roots, by: self.service.connection.connections)
        let newest = try input.newest(published)
        var linter = Linter(try PinList(building: input.source, after: newest, at: time), at: time)
        linter.source = input.source
        linter.published = published?.list ?? newest
        linter.probed = ProbeMemoryFile.memory(of: input.project)
        linter.held = try await HeldLists.known(
            in: input.project, name: input.source.name, source: input.source, published: published?.list,
            service: self.service, at: time)
        linter.signers = LintSigner.signers(of: input.source, in: input.project.folder)
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
