// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PinListMetadata
import PinListRepository

/// Shows a root.
struct RootShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print who may sign by a root, and until when.",
        discussion: "FILE is a payload or an envelope. Nothing is verified: tumbler verify does that."
    )

    @Argument(help: "A root.")
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let metadata = try CommandFailure.wrapping { () throws(RepositoryError) in
            let bytes = try BoundedFile.read(self.file, most: MetadataLimits().rootBytes)
            return try SignableMetadata(bytes, named: self.file)
        }
        guard case .root(let root) = metadata.content else {
            throw CommandFailure(
                .doesNotHold, "\(self.file) is a list, not a root", hint: "tumbler verify \(self.file) --root FILE")
        }
        try ShownRoot(root, payload: metadata.envelope.payload).write(asJSON: self.json)
    }
}
