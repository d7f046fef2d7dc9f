// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning

/// How a list is released: by `release`, and by each step of a rotation that publishes.
struct ReleaseOptions: ParsableArguments {
    @OptionGroup var allow: AllowOption
    @OptionGroup var signers: SignerOptions
    @OptionGroup var service: ServiceOptions

    @Flag(name: .customLong("no-publish"), help: "Do not publish on the service: it is done elsewhere, or later.")
    var noPublish = false

    @Option(help: ArgumentHelp("Publish to this folder, too: v1/lists/NAME below it.", valueName: "dir"))
    var export: String?

    @Flag(help: "Do not ask.")
    var yes = false

    /// The release of a project, now.
    ///
    /// - Parameter live: How hosts are looked at; `nil` for not at all.
    func release(_ project: ProjectOption, live: LiveOption? = nil, at time: Timestamp) -> Release {
        Release(
            allow: self.allow, live: live, signers: self.signers, service: self.service, noPublish: self.noPublish,
            export: self.export, yes: self.yes, project: project, time: time)
    }
}
