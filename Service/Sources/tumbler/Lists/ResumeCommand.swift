// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListRepository

/// Takes a suspension out of the source.
struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "End a suspension: an edit of tumbler.yaml.",
        discussion: "The lines that suspend wrote are removed, and nothing else changes. tumbler release publishes it."
    )

    @Argument(help: "The domain that is suspended, or '*' where every entry is.")
    var domain: String

    @Flag(help: "Print the resumed entries as JSON.")
    var json = false

    @OptionGroup var project: ProjectOption

    func run() throws {
        let file = try SourceFileEdit(self.project)
        let scope = try self.scope(file)
        try file.write(try file.edit.resuming(scope))
        self.warn(of: file.edit.source.suspended.map(\.value), beside: scope)
        if self.json { return try JSONOutput.write(["domain": scope.description]) }
        try StandardOutput.write(lines: ["\(scope) not suspended any more; tumbler release puts it out"])
    }

    /// Says which other suspension still relaxes what was resumed.
    private func warn(of suspended: [Suspension], beside resumed: Suspension.Scope) {
        let now = Timestamp(roundingDown: Date().timeIntervalSince1970)
        for other in suspended where other.scope != resumed && other.until > now {
            guard other.scope == .everything || resumed == .everything else { continue }
            let what = other.scope == .everything ? "every entry" : "\(other.scope)"
            let word = other.scope == .everything ? "'*'" : "\(other.scope)"
            StandardError.warning(
                "\(what) is suspended until \(other.until) all the same: tumbler resume \(word) ends that")
        }
    }

    /// A suspension whose entry is gone may still be taken out.
    private func scope(_ file: SourceFileEdit) throws -> Suspension.Scope {
        let held = file.edit.source.suspended.map(\.value.scope)
        if let host = try? HostArgument.name(self.domain), held.contains(.entry(host)) { return .entry(host) }
        return try file.edit.scope(self.domain)
    }
}
