// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListRepository

/// Writes a suspension into the source.
struct SuspendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend",
        abstract: "Suspend the pins of an entry, or all: an edit of tumbler.yaml.",
        discussion: """
            Until its end, clients with the released list validate without pins; denied keys stay denied. Whole lines \
            of tumbler.yaml come or go, and nothing else changes in it. tumbler release puts it out.
            """
    )

    @Argument(help: "The domain of an entry, or '*' for every entry.")
    var domain: String

    @Option(name: .customLong("for"), help: ArgumentHelp("How long, from now: 12h.", valueName: "duration"))
    var length: String

    @Option(help: "The reason; it is published.")
    var reason: String

    @Flag(help: "Print the suspension as JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    /// A suspension over a day is warned of, in seconds.
    private static let maximum: Int64 = 86_400

    func validate() throws {
        guard SourceDuration.seconds(of: self.length) != nil else {
            throw ValidationError("--for \(self.length): write \(SourceDuration.form)")
        }
    }

    func run() throws {
        guard let seconds = SourceDuration.seconds(of: self.length) else { return }
        let time = self.time.time
        let file = try SourceFileEdit(self.project)
        let scope = try file.edit.scope(self.domain)
        let until = Timestamp(secondsSince1970: time.secondsSince1970 + seconds)
        let suspension = Suspension(scope, until: until, reason: self.reason)
        try file.write(try file.edit.suspending(suspension, at: time))
        if seconds > Self.maximum {
            StandardError.note("over 24 hours: until its end an interceptor can hold clients on the suspended list")
        }
        if self.json {
            return try JSONOutput.write(
                WrittenSuspension(domain: scope.description, until: until.description, reason: self.reason))
        }
        try StandardOutput.write(lines: ["\(scope) suspended until \(until); tumbler release puts it out"])
    }
}

/// The result that `suspend --json` prints.
private struct WrittenSuspension: Encodable {
    let domain: String
    let until: String
    let reason: String
}
