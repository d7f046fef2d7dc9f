// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface

/// The everyday command: from what people wrote to what clients get.
struct ReleaseCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Lint, build, show the difference, sign, verify and publish the project's list.",
        discussion: """
            Stops before the first thing that fails, with nothing written. The keys are those of signers: in \
            tumbler.yaml unless --key names others; when they do not make the threshold, use build, sign and combine. \
            The list becomes pins.json of the project folder; --export writes the tree of a static host as well. With \
            server: in tumbler.yaml and a token, it is published there: the list that the service serves is the one \
            that is compared with, and when the service refuses, pins.json stays what it was. A checkout that has not got \
            that list is behind, and releases nothing unless --allow checkout-behind. Without a token nothing \
            is released, unless --no-publish is given. Without server:, a list of a project that was ever exported is not \
            out before tumbler export writes it. What goes out is kept in lists/, with the time.
            """
    )

    @OptionGroup var live: LiveOption
    @OptionGroup var signers: SignerOptions
    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions
    @OptionGroup var options: ReleaseOptions

    @Flag(help: "Print the released list as JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func run() async throws {
        let released = try await self.options.release(
            self.project, signedBy: self.signers, to: self.service, live: self.live, at: self.time.time
        ).run()
        if self.json { return try JSONOutput.write(released) }
        try StandardOutput.write(lines: released.lines)
    }
}

/// The options of a release: of `release`, and of each step of a rotation that publishes.
///
/// The signers and the service stand beside it in these commands: a debug build of the parser checks a group in a group
/// four times as often as the group around it.
struct ReleaseOptions: ParsableArguments {
    @OptionGroup var allow: AllowOption

    @Flag(name: .customLong("no-publish"), help: "Do not publish on the service.")
    var noPublish = false

    @Option(
        help: ArgumentHelp("Publish to this folder, too: v1/lists/NAME below it.", valueName: "dir"),
        completion: .directory)
    var export: String?

    @Flag(help: "Do not ask.")
    var yes = false

    /// The release of a project, now.
    ///
    /// - Parameters:
    ///   - signers: Those who sign the list.
    ///   - service: The service that it is published on.
    ///   - live: The way in which hosts are probed; `nil` for not at all.
    func release(
        _ project: ProjectOption, signedBy signers: SignerOptions, to service: ServiceOptions, live: LiveOption? = nil,
        at time: Timestamp
    ) -> Release {
        Release(
            allow: self.allow, live: live, signers: signers, service: service, noPublish: self.noPublish,
            export: self.export, yes: self.yes, project: project, time: time)
    }
}
