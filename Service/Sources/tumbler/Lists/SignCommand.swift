// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import PinListMetadata
import PinListRepository

/// Signs a root or a list.
struct SignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Add signatures to a root or a list.",
        discussion: """
            FILE is a payload or an envelope. What is signed is shown with the SHA-256 of the payload, and confirmed \
            on the terminal, by --expect or by --yes. Each signature must verify under a key of the roots that are \
            given; a root is signed by its own keys and by those of the root before it. Nothing is written when one \
            does not. Keys of a hybrid demand are counted beside the others. A root is refused when clients that verify \
            the algorithms of verifiable: in tumbler.yaml alone could never reach a threshold of it, unless \
            --allow unverifiable-threshold.

            Exit code 0: every threshold is met; 1: signatures are still missing, the envelope is written all the same, \
            but not over pins.json of the project while that has a list with all of them.
            """
    )

    @Argument(help: "A payload or an envelope.", completion: .file())
    var file: String

    @OptionGroup var signers: SignerOptions

    @Option(
        name: .customLong("root"),
        help: ArgumentHelp("A root whose keys may sign; by default the newest of the project.", valueName: "file"),
        completion: .file())
    var roots: [String] = []

    @OptionGroup var project: ProjectOption
    @OptionGroup var allow: AllowOption

    @Option(help: ArgumentHelp("Sign only the payload with this SHA-256.", valueName: "digest"))
    var expect: String?

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var output: OutputOption

    func validate() throws {
        if let expect, expect.count != 64 || !expect.allSatisfy(\.isHexDigit) {
            throw ValidationError("--expect is a SHA-256: 64 hexadecimal digits")
        }
        try self.allow.expectOnly(.unverifiableThreshold)
    }

    func run() async throws {
        let metadata = try CommandError.wrapping { () throws(RepositoryError) in
            let bytes = try BoundedFile.read(self.file, maximum: MetadataLimits().listBytes)
            return try SignableMetadata(bytes, named: self.file)
        }
        let signers = try self.signers.signers(for: metadata.kind, self.project)
        let roots = try self.roots(for: metadata)
        var ceremony = try CommandError.wrapping { () throws(RepositoryError) in
            try SigningCeremony(metadata, under: roots)
        }
        try self.expectPayload(metadata)
        try self.project.expectRoom(for: metadata, at: self.output.path)
        try CommandError.wrapping { () throws(RepositoryError) in try metadata.expectDeniedKeys() }
        if case .root(let root) = metadata.content {
            try ReachableThresholds.expect(of: root, self.project, unless: self.allow)
        }
        let isConfirmed = self.yes || self.expect != nil
        // Before anything is written: afterwards the list would be compared with itself.
        let summary = self.summary(of: metadata)
        let warnings = self.warnings(of: metadata)
        func show() {
            for line in summary { StandardError.note(line) }
            for line in warnings { StandardError.warning(line) }
        }
        if !isConfirmed {
            try SigningConsent.expectTerminal(hint: "--expect DIGEST signs exactly that payload, --yes signs any")
            show()
            guard SigningConsent.ask("Sign this?") else {
                throw CommandError(.doesNotHold, "not signed, nothing was written")
            }
        }
        for signer in signers {
            do throws(RepositoryError) { try await ceremony.add(signer) } catch { throw CommandError(error) }
        }
        let signed = ceremony.envelope
        let file = try CommandError.wrapping { () throws(RepositoryError) in try SignableMetadata.file(of: signed) }
        if !ceremony.isComplete { try self.project.expectWhole(file, of: metadata.kind, at: self.output.path) }
        try self.output.write(file)
        if ceremony.isComplete { try self.project.keep(file, of: metadata.kind, at: self.output.path) }
        // For the log of a run without questions; after a failure there is only its line.
        if isConfirmed { show() }
        let report = SigningReport(ceremony)
        try self.output.report(report, report.lines, asJSON: self.json)
        guard ceremony.isComplete else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }

    private func roots(for metadata: SignableMetadata) throws(CommandError) -> [Root] {
        guard self.roots.isEmpty else {
            var roots: [Root] = []
            for path in self.roots { roots.append(try RootOption.read(path)) }
            return roots
        }
        switch metadata.kind {
        case .pins: return [try self.project.newestRoot()]
        // The first root has none before it, and a later one can be signed where the one before is not at hand.
        case .root: return (try? self.project.newestRoot()).map { [$0] } ?? []
        }
    }

    private func expectPayload(_ metadata: SignableMetadata) throws(CommandError) {
        guard let expect, expect.lowercased() != metadata.payloadDigest else { return }
        throw CommandError(
            .doesNotHold, "the payload's SHA-256 is \(metadata.payloadDigest), not the expected one",
            hint: "this is another file than the agreed one")
    }

    /// The summary that is shown: the list, and how it differs from what is published. `pins.json` may be this very
    /// list already, with fewer signatures; then the list before it is what people have.
    private func summary(of metadata: SignableMetadata) -> [String] {
        let project = try? self.project.find()
        var published = project.flatMap { try? $0.publishedList() }
        if let project, let held = published, held.payload == metadata.envelope.payload {
            published = (try? ListHistory(of: project))?.newestList(below: held.version)
        }
        return SigningSummary.lines(of: metadata, published: published)
    }

    /// The objections to publishing a root now.
    private func warnings(of metadata: SignableMetadata) -> [String] {
        guard case .root(let root) = metadata.content, let project = try? self.project.find(),
            (try? project.publishedList())?.name == root.name
        else { return [] }
        return PublishedListWarning.lines(of: root, try? project.newestList())
    }
}
