// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListServer
import PinListStore

/// Another link that logs in to the dashboard, without a token.
struct LoginLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ServiceCommand.loginLink.rawValue, abstract: ServiceCommand.loginLink.abstract,
        discussion: """
            Run it on the service's machine, while the service runs. The link can be used once, within ten minutes, \
            and sees what a token of scope read sees, for twelve hours. The token that the service makes for it is labelled \
            "login link" and owned by the user who ran this; tumbler token list shows it, and logging out revokes it.
            """)

    @Option(
        help: ArgumentHelp(
            "The address of the dashboard for the browser, when it differs from the listener's: behind a proxy.",
            valueName: "url"))
    var address: String?

    @OptionGroup var service: LocalServiceOptions
    @OptionGroup var time: TimeOption

    func run() async throws {
        let configuration = try self.service.layers().configuration
        let address = try self.dashboard(configuration)
        let store = try LocalServiceOptions.store(configuration, for: .adding)
        let link = try await LoginLink.make(
            in: store, owner: OperatingUser.name(ProcessInfo.processInfo.environment), by: "cli", at: self.time.time)
        StandardError.note("this link logs in once, within ten minutes")
        try StandardOutput.write(lines: [link.text(at: address)])
    }

    private func dashboard(_ configuration: ServiceConfiguration) throws(CommandError) -> String {
        if let address { return try ServiceAddress(address, from: "--address").description }
        let listen = configuration.operatorListen
        guard listen.port != 0 else {
            throw CommandError(
                .usage, "the configuration leaves the port of the dashboard to the system",
                hint: "--address URL, as tumbler serve printed it")
        }
        return "\(configuration.tls == nil ? "http" : "https")://\(listen)"
    }
}
