// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PathValidation
import PinListMetadata
import PinListRepository

/// From nothing to a project folder with keys, a root and a list.
struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a project folder: keys, the first root, tumbler.yaml, the first list.",
        discussion: """
            A --domain without pins is asked live. What it serves is validated, its own key is proposed on the terminal, \
            and a backup key is made there with a request for its certificate; nothing is signed unseen. --from takes \
            the entries that tumbler convert wrote. The first passphrase is for the key that signs roots, the second for the key that signs lists; one \
            alone is for both, and without options both are asked for.
            """
    )

    @Argument(help: "The folder to make.", completion: .directory)
    var directory: String

    @Option(help: "The name of the list, such as com.example.app.")
    var name: String

    @Option(
        name: .customLong("domain"),
        help: ArgumentHelp("A host to pin, with its pins. May be given several times.", valueName: "host[=pin,pin]"))
    var domains: [String] = []

    @Option(
        help: ArgumentHelp("A domains section, as tumbler convert writes it.", valueName: "file"), completion: .file())
    var from: String?

    @Option(
        help: ArgumentHelp(
            "For hosts that are asked: the anchors; those of --cacert unless given.", valueName: "file|system"),
        completion: .file())
    var roots: String?

    @OptionGroup var connection: ConnectionOptions

    @Option(
        help: ArgumentHelp(
            "How the hosts begin: enforce refuses what does not match, report lets it pass and reports it.",
            valueName: "enforce|report"))
    var mode: FirstMode = .enforce

    @Option(
        name: .customLong("report-to"),
        help: ArgumentHelp(
            "Where apps report failures to, such as https://HOST/v1/reports. May be given several times.",
            valueName: "url"))
    var reportTo: [String] = []

    @OptionGroup var allow: AllowOption
    @OptionGroup var passphrases: PassphraseOptions

    @Flag(help: "Do not encrypt the keys: the files alone give them.")
    var insecurePlaintext = false

    @OptionGroup var time: TimeOption

    func validate() throws {
        if self.passphrases.count > 2 { throw ValidationError("there are two keys, and more passphrases") }
        if self.insecurePlaintext, self.passphrases.count > 0 {
            throw ValidationError("--insecure-plaintext needs no passphrase")
        }
    }

    func run() async throws {
        var entries: [NewProject.Entry] = []
        var backups: [BackupKey] = []
        let section = try self.section()
        for domain in self.domains {
            let (entry, backup) = try await self.entry(domain)
            entries.append(entry)
            if let backup { backups.append(backup) }
        }
        let project = try NewProject(
            in: ProjectFolder(self.folder), name: self.name, entries: entries, after: section, mode: self.mode.mode,
            reportTo: self.reportTo, at: self.time.time)
        let (source, list) = try project.list()
        try self.lint(list, source)
        let root = try self.passphrase(0, for: NewProject.rootKeyName)
        let pins = self.passphrases.count == 1 ? root : try self.passphrase(1, for: NewProject.pinsKeyName)
        let made = backups
        try await project.write(rootPassphrase: root, pinsPassphrase: pins) {
            for backup in made { try backup.write(in: self.folder) }
        }
        if self.insecurePlaintext { StandardError.note("the keys are not encrypted: every reader has them") }
        let lines = [
            "\(self.directory): root 1, and version \(list.version) of \(list.name), which expires \(list.expiresAt)",
            "An app embeds root/1.json as tumbler-root.json and pins.json as tumbler-pins.json.",
            "After a change of tumbler.yaml: tumbler release",
        ]
        try StandardOutput.write(lines: lines + backups.map(\.line))
        if self.reportTo.isEmpty {
            StandardError.note(
                "failures are reported nowhere: reportTo: in tumbler.yaml is empty"
                    + (self.mode == .report ? ", and mode: report without an address shows nothing" : ""))
        }
    }

    private var folder: URL {
        URL(fileURLWithPath: self.directory, isDirectory: true, relativeTo: ProjectOption.working)
    }

    private func passphrase(_ index: Int, for key: String) throws(CommandError) -> Passphrase? {
        guard !self.insecurePlaintext else { return nil }
        return try CommandError.wrapping { () throws(RepositoryError) in
            try self.passphrases.source(at: index).newPassphrase(for: key)
        }
    }

    private func lint(_ list: PinList, _ source: ListSource) throws(CommandError) {
        var linter = Linter(list, at: self.time.time)
        linter.source = source
        let findings = linter.findings.filter { !self.allow.allows($0) }
        for finding in findings where finding.rule.severity == .warning { StandardError.note(finding.line) }
        guard let first = findings.first(where: { $0.rule.severity == .error }) else { return }
        throw CommandError(.doesNotHold, first.line, hint: "\(first.rule.fix); or --allow \(first.rule.id)")
    }

    /// `HOST=PIN,PIN`, or `HOST` alone, which is asked.
    private func entry(_ text: String) async throws -> (NewProject.Entry, BackupKey?) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let host = String(parts[0])
        guard parts.count == 2 else { return try await self.proposed(host) }
        var pins: [KnownPin] = []
        // `pin-sha256="…"` has a second equals sign and no comma; base64 has no comma either.
        for (index, pin) in parts[1].split(separator: ",", omittingEmptySubsequences: false).enumerated() {
            do throws(InputError) {
                pins.append(KnownPin(try Pin(String(pin)), note: index == 0 ? "current" : "backup"))
            } catch {
                throw CommandError(.usage, "--domain \(host): \(error)", hint: "tumbler pin prints pins")
            }
        }
        return (NewProject.Entry(host, pins: pins), nil)
    }

    /// The entry for what a host serves now, once it was validated and a person confirmed it.
    private func proposed(_ host: String) async throws -> (NewProject.Entry, BackupKey?) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandError(
                .usage, "--domain \(host) has no pins, and there is no terminal here to confirm the key that it serves",
                hint: "--domain \(host)=PIN,PIN; tumbler pin https://\(host) prints what it serves")
        }
        let name: HostName
        do throws(InputError) { name = try HostArgument.name(host) } catch {
            throw CommandError(.usage, "--domain \(host): \(error)")
        }
        let connections = self.connection.connections
        let observer = HostObserver(
            validator: PathValidator(
                roots: try connections.roots(self.roots), monotonicNanoseconds: monotonicNanoseconds),
            connections: connections, time: self.time.time)
        return try await EntryProposal(observer: observer, folder: self.folder, isPlain: self.insecurePlaintext)
            .entry(for: name)
    }

    /// The `domains` section of a file that `convert` wrote, as it stands there.
    ///
    /// - Throws: ``CommandError`` when it is none.
    private func section() throws(CommandError) -> String? {
        guard let from else { return nil }
        let bytes = try InputFile.read(from)
        let source = try CommandError.wrapping { () throws(RepositoryError) in
            // Read as a file that is included: it holds entries, and nothing that only a whole source has.
            try ListSource(
                Array("name: a\ninclude: [".utf8) + JSONValue.string(from).bytes + Array("]\n".utf8),
                file: ProjectFolder.sourceName,
                files: DiskFiles(in: ProjectOption.working))
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let first = text.split(separator: "\n").first { line in
            !line.allSatisfy(\.isWhitespace) && !line.hasPrefix("#")
        }
        guard first?.hasPrefix("domains:") == true, !source.domains.isEmpty, source.denied.isEmpty,
            source.suspended.isEmpty
        else {
            throw CommandError(
                .doesNotHold, "\(from): this is not a domains section with entries",
                hint: "tumbler convert FILE --from TOOL > domains.yaml writes one")
        }
        return text
    }
}

/// The modes that a list may begin with; `off` is for one that has begun.
enum FirstMode: String, CaseIterable, ExpressibleByArgument {
    case enforce
    case report

    /// The mode of an entry.
    var mode: PinnedDomain.Mode { self == .enforce ? .enforce : .report }
}
