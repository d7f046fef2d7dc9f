// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CertificateSightings
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// Certificates that a monitor found in logs, handed to the service.
struct SightingCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "sighting",
        abstract: "Hand certificates that were found in Certificate Transparency logs to the service.",
        discussion: """
            The service evaluates each by the list that it serves: a certificate of a pinned host whose key is not in the \
            list is an alarm, hours or weeks before a server presents it.

            --from certspotter is the hook of certspotter(8): it reads the environment that certspotter-script(8) \
            describes, and the certificate that it names. Otherwise FILE is PEM (a chain, the certificate first) or DER; \
            a precertificate is read, too. --json-lines reads one object a line, from a file or from standard input (-): \
            der, cert_der, or cert with data, in base64; with log and loggedAt where they are known.

            The token is one of scope probe or publish. Exit code 0: the service has them; 1: the service refused them; \
            2: nothing was handed in, or only a part.
            """
    )

    /// The monitor that a hook belongs to.
    enum Monitor: String, ExpressibleByArgument, CaseIterable {
        /// certspotter(8).
        case certspotter
    }

    @Argument(help: ArgumentHelp("A certificate or a chain, PEM or DER.", valueName: "file"), completion: .file())
    var files: [String] = []

    @Option(help: ArgumentHelp("The monitor whose hook this is: certspotter.", valueName: "monitor"))
    var from: Monitor?

    @Option(
        name: .customLong("json-lines"),
        help: ArgumentHelp("A file with one certificate a line, as JSON; - is standard input.", valueName: "file"),
        completion: .file())
    var jsonLines: String?

    @Option(help: ArgumentHelp("The name of the list; by default that of the project.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("The log that the certificates are from.", valueName: "log"))
    var log: String?

    @Option(help: ArgumentHelp("The time of logging, RFC 3339.", valueName: "time"), transform: Self.time)
    var loggedAt: Timestamp?

    @OptionGroup var project: ProjectOption

    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions

    @Flag(help: "Print the answer as JSON.")
    var json = false

    func validate() throws {
        let sources = (self.files.isEmpty ? 0 : 1) + (self.from == nil ? 0 : 1) + (self.jsonLines == nil ? 0 : 1)
        guard sources == 1 else {
            throw ValidationError("name files, or --from certspotter, or --json-lines FILE: one of them")
        }
        guard self.files.count <= 1_000 else { throw ValidationError("over 1,000 files; use --json-lines") }
    }

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        if self.from != nil, let event = CertspotterEvent.other(environment) {
            return StandardError.note(event)
        }
        let client = try self.service.requiredClient(self.project, scope: "probe")
        let name = try self.project.listName(or: self.name)
        var outcome = SightingOutcome()
        if self.from != nil {
            // certspotter ends when its hook fails, and begins with the same certificate again.
            let told = try CertspotterEvent.certificate(environment).map { [$0] } ?? []
            try await outcome.hand(in: told, to: client, of: name)
        } else if let jsonLines {
            var lines = try SightingLines(jsonLines)
            while let batch = try lines.next(&outcome) { try await outcome.hand(in: batch, to: client, of: name) }
        } else {
            for path in self.files {
                let told: ToldCertificate
                do throws(CommandError) {
                    told = try SightedFile.certificate(
                        InputFile.read(path), named: path, log: self.log ?? "", loggedAt: self.loggedAt)
                } catch {
                    outcome.isPartial = true
                    StandardError.warning(error.message)
                    continue
                }
                try await outcome.add(told, to: client, of: name)
            }
        }
        try await outcome.finish(client, of: name)
        if self.json { try JSONOutput.write(outcome.answer) } else { try StandardOutput.write(lines: outcome.lines) }
        if outcome.isPartial { throw ExitCode(CommandExit.undecided.rawValue) }
    }

    private static func time(_ text: String) throws -> Timestamp {
        do throws(InputError) { return try Timestamp(text) } catch { throw ValidationError("--logged-at \(error)") }
    }
}
