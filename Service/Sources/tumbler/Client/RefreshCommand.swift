// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
@_spi(Tools) import PinListClient
import PinningNIO

/// One refresh exactly as an app's client does it: formats.md, sections 3.3, 6 and 7.
struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Refresh a list once, exactly as an app's client does.",
        discussion: """
            Loads what the state folder holds, fetches new roots and the newest list, verifies, stores, and says what \
            is in force. Exit code 0: nothing was refused, 1: something was, 2: the network or the disk failed.
            """
    )

    @Option(name: .customLong("list-url"), help: ArgumentHelp("The base address of the list.", valueName: "base"))
    var listURL: String

    @Option(help: ArgumentHelp("The root that the app ships.", valueName: "file"), completion: .file())
    var root: String

    @Option(help: ArgumentHelp("The state folder of the client.", valueName: "dir"), completion: .directory)
    var state: String

    @Option(
        help: ArgumentHelp(
            "The list that the app ships; without it a first refresh begins without a list.", valueName: "file"),
        completion: .file())
    var bundled: String?

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print what is in force, and what was refused, as JSON.")
    var json = false

    @OptionGroup var time: TimeOption

    func run() async throws {
        guard let address = URL(string: self.listURL) else {
            throw CommandError(.usage, "--list-url is not a URL", hint: "https://HOST/v1/lists/NAME")
        }
        let fetcher = try await self.connection.connections.fetcher(for: self.listURL)
        let pinning = try self.pinning(refreshingFrom: address, by: fetcher)
        let outcome = await pinning.refresh()
        let report = RefreshReport(await pinning.status, outcome, pinning.recentEvents)
        if self.json { try JSONOutput.write(report) } else { try StandardOutput.write(lines: report.lines) }
        if let warning = report.warning { StandardError.warning(warning) }
        for note in report.notes { StandardError.note(note) }
        for complaint in report.complaints { StandardError.failure(CommandError(report.exit, complaint)) }
        guard report.exit == .holds else { throw ExitCode(report.exit.rawValue) }
    }

    private func pinning(
        refreshingFrom address: URL, by fetcher: HTTPClientFetcher
    ) throws(CommandError) -> Pinning {
        let root = try InputFile.read(self.root)
        let bundled = try self.bundled.map { path throws(CommandError) in try InputFile.read(path) }
        do throws(PinningSetupError) {
            return try Pinning(
                forCommandAt: self.time.time, root: root, list: bundled, refreshFrom: address,
                state: .folder(self.state), fetcher: fetcher)
        } catch {
            throw CommandError(error.code == .address ? .usage : .doesNotHold, error.reason)
        }
    }
}
