// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PinListMetadata
import PinListRepository

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

    @Option(help: ArgumentHelp("The root that it follows.", valueName: "file"))
    var root: String?

    @OptionGroup var project: ProjectOption

    @Option(help: ArgumentHelp("A role gets a key: pins=new.pub.", valueName: "role=pub"))
    var add: [RoleOption] = []

    @Option(
        help: ArgumentHelp(
            "A role, or its hybrid demand, loses a key, named by its id or the beginning of it.",
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
        let before = try self.root.map { path throws(CommandFailure) in try RootOption.read(path) }
        let newest = try before ?? self.project.newestRoot()
        let root = try CommandFailure.wrapping { () throws(RepositoryError) in try finished.next(after: newest) }
        try ReachableThresholds.expect(of: root, self.project, unless: self.allow)
        try self.output.write(root.payload)
        try ShownRoot(root, payload: root.payload).write(asJSON: self.json)
    }
}
