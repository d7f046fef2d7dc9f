// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import Foundation
import PinListMetadata
import PinListRepository

/// From nothing to a project folder with keys, a root and a list.
struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a project folder: keys, the first root, tumbler.yaml, the first list.",
        discussion: """
            A --domain without pins is asked live, and what it serves is proposed on the terminal; nothing is signed \
            unseen. The first passphrase is for the key that signs roots, the second for the key that signs lists; one \
            alone is for both, and without options both are asked for.
            """
    )

    @Argument(help: "The folder to make.")
    var directory: String

    @Option(help: "The name of the list, such as com.example.app.")
    var name: String

    @Option(
        name: .customLong("domain"),
        help: ArgumentHelp("A host to pin, with its pins. May be given several times.", valueName: "host[=pin,pin]"))
    var domains: [String] = []

    @OptionGroup var allow: AllowOption
    @OptionGroup var passphrases: PassphraseOptions

    @Flag(help: "Do not encrypt the keys: whoever gets the files has them.")
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
        for domain in self.domains { entries.append(try await self.entry(domain)) }
        let folder = ProjectFolder(
            URL(fileURLWithPath: self.directory, isDirectory: true, relativeTo: ProjectOption.working))
        let project = try NewProject(in: folder, name: self.name, entries: entries, at: self.time.time)
        let (source, list) = try project.list()
        try self.lint(list, source)
        let root = try self.passphrase(0, for: NewProject.rootKeyName)
        let pins = self.passphrases.count == 1 ? root : try self.passphrase(1, for: NewProject.pinsKeyName)
        try await project.write(rootPassphrase: root, pinsPassphrase: pins)
        if self.insecurePlaintext { StandardError.note("the keys are not encrypted: whoever reads them has them") }
        try StandardOutput.write(lines: [
            "\(self.directory): root 1, and version \(list.version) of \(list.name), which expires \(list.expiresAt)",
            "An app embeds root/1.json as tumbler-root.json and pins.json as tumbler-pins.json.",
            "After a change of tumbler.yaml: tumbler release",
        ])
    }

    private func passphrase(_ index: Int, for key: String) throws(CommandFailure) -> Passphrase? {
        guard !self.insecurePlaintext else { return nil }
        return try CommandFailure.wrapping { () throws(RepositoryError) in
            try self.passphrases.source(at: index).newPassphrase(for: key)
        }
    }

    private func lint(_ list: PinList, _ source: ListSource) throws(CommandFailure) {
        var linter = Linter(list, at: self.time.time)
        linter.source = source
        let findings = linter.findings.filter { !self.allow.allows($0) }
        for finding in findings where finding.rule.severity == .warning { StandardError.note(finding.line) }
        guard let first = findings.first(where: { $0.rule.severity == .error }) else { return }
        throw CommandFailure(.doesNotHold, first.line, hint: "\(first.rule.fix); or --allow \(first.rule.id)")
    }

    /// `HOST=PIN,PIN`, or `HOST` alone, which is asked.
    private func entry(_ text: String) async throws -> NewProject.Entry {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let host = String(parts[0])
        guard parts.count == 2 else { return try await self.proposed(host) }
        var pins: [KnownPin] = []
        // `pin-sha256="…"` has a second equals sign and no comma; base64 has no comma either.
        for (index, pin) in parts[1].split(separator: ",", omittingEmptySubsequences: false).enumerated() {
            do throws(InputError) {
                pins.append(KnownPin(try Pin(String(pin)), note: index == 0 ? "current" : "backup"))
            } catch {
                throw CommandFailure(.usage, "--domain \(host): \(error)", hint: "tumbler pin prints pins")
            }
        }
        return NewProject.Entry(host, pins: pins)
    }

    /// What a host serves now, once a person said that it is right.
    private func proposed(_ host: String) async throws -> NewProject.Entry {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                .usage, "--domain \(host) has no pins, and nobody can be asked here whether what it serves is right",
                hint: "--domain \(host)=PIN,PIN; tumbler pin https://\(host) prints what it serves")
        }
        guard let server = ServerAddress("\(host):443") else {
            throw CommandFailure(.usage, "--domain \(host): no host")
        }
        var pins: [KnownPin] = []
        for (index, certificate) in try await LiveServer.presentedChain(of: server).enumerated() {
            guard let pin = try? Pin(publicKeyOf: certificate) else {
                StandardError.note("\(host) serves a certificate that cannot be read; it is left out")
                continue
            }
            let isLeaf = index == 0
            let subject = DistinguishedNameText(subjectOf: certificate)?.description ?? "no subject"
            StandardError.note("\(host) serves \(pin), \(isLeaf ? "its own key" : "an issuer"): \(subject)")
            if SigningConsent.ask("Pin it?") {
                pins.append(KnownPin(pin, position: isLeaf ? .leaf : .issuer, note: isLeaf ? "current" : "issuer"))
            }
        }
        guard !pins.isEmpty else { throw CommandFailure(.doesNotHold, "no pin of \(host) was taken") }
        return NewProject.Entry(host, pins: pins)
    }
}
