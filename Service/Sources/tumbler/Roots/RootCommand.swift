// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import PinListMetadata
import PinListRepository

/// `root`: the operators' work with roots, which say which keys may sign.
struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "root",
        abstract: "Manage roots, which say which keys may sign: make the first, the next, or show one.",
        subcommands: [RootNewCommand.self, RootRotateCommand.self, RootShowCommand.self]
    )
}

/// Writes the first root of a name, unsigned.
struct RootNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Write the first root of a name, unsigned.",
        discussion: """
            PUB is a public key: FILE.pub of `tumbler key new`, PEM or DER of P-256, Ed25519 or ML-DSA-65, or \
            pkcs11:… of a token. A key of ML-DSA-65 belongs into --hybrid: clients without ML-DSA count the others alone. \
            A key may have both roles, though one that signs lists every week should not be able to sign roots.
            """
    )

    @Option(help: "The name of the lists; in general the app's identifier.")
    var name: String

    @Option(
        name: .customLong("root"), help: ArgumentHelp("A key that signs roots. Several times.", valueName: "pub"),
        completion: .file())
    var rootKeys: [String]

    @Option(
        name: .customLong("pins"), help: ArgumentHelp("A key that signs lists. Several times.", valueName: "pub"),
        completion: .file())
    var pinsKeys: [String]

    @OptionGroup var terms: RootTermsOptions

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var output: OutputOption

    func run() async throws {
        var change = try await self.terms.change()
        for text in self.rootKeys { change.added.append((.root, try await PublicKeyArgument.metadataKey(text))) }
        for text in self.pinsKeys { change.added.append((.pins, try await PublicKeyArgument.metadataKey(text))) }
        let finished = change
        let root = try CommandError.wrapping { () throws(RepositoryError) in try finished.first(named: self.name) }
        try self.output.expectUnsigned()
        try self.output.write(root.payload)
        let shown = RootDescription(root, payload: root.payload)
        try self.output.report(shown, shown.lines, asJSON: self.json)
    }
}

/// Shows a root.
struct RootShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the keys that may sign by a root, and its expiry.",
        discussion: "FILE is a payload or an envelope. Nothing is verified: tumbler verify does that."
    )

    @Argument(help: "A root.", completion: .file())
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let metadata = try CommandError.wrapping { () throws(RepositoryError) in
            let bytes = try BoundedFile.read(self.file, maximum: MetadataLimits().rootBytes)
            return try SignableMetadata(bytes, named: self.file)
        }
        guard case .root(let root) = metadata.content else {
            throw CommandError(
                .doesNotHold, "\(self.file) is a list, not a root", hint: "tumbler verify \(self.file) --root FILE")
        }
        try RootDescription(root, payload: metadata.envelope.payload).write(asJSON: self.json)
    }
}

/// Writes the next root, unsigned.
struct RootRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Write the next root, unsigned: other keys, other thresholds, or only a later end.",
        discussion: """
            The root that it follows is --root, or the newest of the project folder. The next one is trusted when it \
            carries the signatures that both ask for. Refused when clients that verify the algorithms of verifiable: in \
            tumbler.yaml alone could never reach a threshold, unless --allow unverifiable-threshold.
            """
    )

    @Option(help: ArgumentHelp("The root that it follows.", valueName: "file"), completion: .file())
    var root: String?

    @OptionGroup var project: ProjectOption

    @Option(help: ArgumentHelp("A role gets a key: pins=new.pub.", valueName: "role=pub"))
    var add: [RoleOption] = []

    @Option(
        help: ArgumentHelp(
            "A role, or its hybrid demand, loses a key, named by its id or a prefix of it.",
            valueName: "role=keyid"))
    var remove: [RoleOption] = []

    @OptionGroup var terms: RootTermsOptions
    @OptionGroup var allow: AllowOption

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var output: OutputOption

    func validate() throws { try self.allow.expectOnly(.unverifiableThreshold) }

    func run() async throws {
        var change = try await self.terms.change()
        for added in self.add {
            change.added.append((added.kind, try await PublicKeyArgument.metadataKey(added.value)))
        }
        change.removed = self.remove.map { ($0.kind, $0.value) }
        let finished = change
        let before = try self.root.map { path throws(CommandError) in try RootOption.read(path) }
        let newest = try before ?? self.project.newestRoot()
        let root = try CommandError.wrapping { () throws(RepositoryError) in try finished.next(after: newest) }
        try ReachableThresholds.expect(of: root, self.project, unless: self.allow)
        try self.output.expectUnsigned()
        try self.output.write(root.payload)
        let shown = RootDescription(root, payload: root.payload)
        try self.output.report(shown, shown.lines, asJSON: self.json)
    }
}
