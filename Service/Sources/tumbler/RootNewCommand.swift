// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PinListMetadata
import PinListRepository

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

    @Option(help: "What the lists are called; in general the app's identifier.")
    var name: String

    @Option(name: .customLong("root"), help: ArgumentHelp("A key that signs roots. Several times.", valueName: "pub"))
    var rootKeys: [String]

    @Option(name: .customLong("pins"), help: ArgumentHelp("A key that signs lists. Several times.", valueName: "pub"))
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
        let root = try CommandFailure.wrapping { () throws(RepositoryError) in try finished.first(named: self.name) }
        try self.output.write(root.payload)
        try ShownRoot(root, payload: root.payload).write(asJSON: self.json)
    }
}
