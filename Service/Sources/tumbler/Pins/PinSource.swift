// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
@_spi(Tools) import PinListClient
import PinListMetadata
import PinListRepository
import PinningNIO

/// The source of the pins of `fetch`: exactly one of the command line, the files of an app, an app's client with its
/// state, and the project folder.
struct PinSource: ParsableArguments {
    @Option(
        name: .customLong("pin"),
        help: "A pin of the address's host, in any written form; may be given several times. Other hosts are refused.")
    var pins: [String] = []

    @Option(help: ArgumentHelp("The list that an app ships.", valueName: "file"), completion: .file())
    var bundled: String?

    @Option(
        name: .customLong("list-url"),
        help: ArgumentHelp("Refresh the list from this base address first.", valueName: "base"))
    var listURL: String?

    @Option(
        help: ArgumentHelp("With --bundled or --list-url: the root that the app ships.", valueName: "file"),
        completion: .file())
    var root: String?

    @Option(
        help: ArgumentHelp("With --list-url: the state folder of the client.", valueName: "dir"), completion: .directory
    )
    var state: String?

    @Option(
        help: ArgumentHelp(
            "With --bundled or --list-url: the log list that the app ships, as its list names it.", valueName: "file"),
        completion: .file())
    var logs: String?

    @OptionGroup var project: ProjectOption

    func validate() throws {
        let namesList = self.bundled != nil || self.listURL != nil
        if !self.pins.isEmpty, namesList || self.root != nil || self.state != nil {
            throw ValidationError("pins are from --pin or from a list, not from both")
        }
        if namesList, self.root == nil { throw ValidationError("--root is missing: it vouches for the list") }
        if !namesList, self.root != nil { throw ValidationError("--root goes with --bundled or --list-url") }
        if self.logs != nil, !namesList { throw ValidationError("--logs goes with --bundled or --list-url") }
        if (self.listURL == nil) != (self.state == nil) {
            throw ValidationError("--list-url and --state go together")
        }
        if self.project.directory != nil, namesList || !self.pins.isEmpty {
            throw ValidationError("pins are from the project folder of -C, or from elsewhere, not from both")
        }
        if self.pins.count > MetadataLimits.pins {
            throw ValidationError("over \(MetadataLimits.pins) pins for one host")
        }
    }

    /// The client under whose rules a host is asked; with `--list-url`, after one refresh.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - time: When it is asked.
    ///   - connections: How a list is fetched.
    /// - Throws: ``CommandError`` when there are no rules.
    func pinning(
        for host: HostName, at time: Timestamp, by connections: Connections
    ) async throws(CommandError) -> Pinning {
        if !self.pins.isEmpty {
            let list = try EphemeralList(pinning: host, to: try self.parsedPins(), at: time)
            return try Self.pinning(list.root, list.list, nil, at: time)
        }
        guard let root = self.root else { return try self.projectPinning(at: time) }
        let rootBytes = try InputFile.read(root)
        let bundled = try self.bundled.map { path throws(CommandError) in try InputFile.read(path) }
        let logs = try self.logs.map { path throws(CommandError) in try InputFile.read(path) }
        guard let listURL = self.listURL, let state = self.state else {
            return try Self.pinning(rootBytes, bundled, logs, at: time)
        }
        guard let address = URL(string: listURL) else {
            throw CommandError(.usage, "--list-url is not a URL")
        }
        let fetcher = try await connections.aside.fetcher(for: listURL)
        let pinning = try Self.pinning(rootBytes, bundled, logs, at: time, address, .folder(state), fetcher)
        try await Self.refresh(pinning)
        return pinning
    }

    /// Says that the list which decides has expired.
    func sayStale(_ pinning: Pinning) async {
        guard self.pins.isEmpty, let list = await pinning.status.list, list.isStale else { return }
        StandardError.warning(RefreshReport.staleness(name: list.name, version: list.version))
    }

    private func parsedPins() throws(CommandError) -> [Pin] {
        var pins: [Pin] = []
        for text in self.pins {
            do throws(InputError) { pins.append(try Pin(text)) } catch {
                throw CommandError(
                    .usage, "--pin \(text): \(error)", hint: "tumbler pin prints the pins of what you have")
            }
        }
        return pins
    }

    private func projectPinning(at time: Timestamp) throws(CommandError) -> Pinning {
        let folder: ProjectFolder
        do { folder = try self.project.find() } catch {
            guard self.project.directory == nil else { throw error }
            throw CommandError(
                .usage, "there are no pins: no --pin, no --bundled, no --list-url, and no project folder here",
                hint: "tumbler fetch --pin sha256/… URL, or -C DIR")
        }
        let (roots, list) = try CommandError.wrapping { () throws(RepositoryError) in
            (try folder.roots(), try folder.newestList())
        }
        guard let root = roots.last, let list else {
            throw CommandError(
                .undecided, "there is no \(roots.isEmpty ? "root" : "signed list") in the project folder",
                hint: "tumbler release signs tumbler.yaml")
        }
        let listed = (try? KnownList(list, named: ProjectFolder.listName, roots: []))?.list.logs
        let logs = try CommandError.wrapping { () throws(RepositoryError) in
            try listed.map { listed throws(RepositoryError) in try folder.logs(listed) }
        }
        return try Self.pinning(root, list, logs, at: time)
    }

    private static func pinning(
        _ root: [UInt8], _ list: [UInt8]?, _ logs: [UInt8]?, at time: Timestamp, _ address: URL? = nil,
        _ state: StateLocation = .memory, _ fetcher: HTTPClientFetcher? = nil
    ) throws(CommandError) -> Pinning {
        do throws(PinningSetupError) {
            let pinning = try Pinning(
                forCommandAt: time, root: root, list: list, logs: logs, refreshFrom: address, state: state,
                fetcher: fetcher)
            // With an address a refresh comes first, and says what it did not get.
            if address == nil { Self.note(pinning.recentEvents) }
            return pinning
        } catch {
            throw CommandError(error.code == .address ? .usage : .undecided, error.reason)
        }
    }

    /// Says that policies of Certificate Transparency are not evaluated.
    private static func note(_ events: [PinningEvent]) {
        let kinds: Set<PinningEvent.Kind> = [.logsMissing, .logsUnreadable, .unknownTransparency]
        for event in events where kinds.contains(event.kind) { StandardError.note("\(event)") }
    }

    /// Refreshes once. The list in force afterwards decides, even when the refresh failed; the error is printed.
    private static func refresh(_ pinning: Pinning) async throws(CommandError) {
        let outcome = await pinning.refresh()
        let report = RefreshReport(await pinning.status, outcome, pinning.recentEvents)
        for complaint in report.complaints + report.notes { StandardError.note(complaint) }
        guard report.list != nil else {
            throw CommandError(
                .undecided, "there is no list: none is stored, none was fetched",
                hint: "--bundled FILE is the list that the app ships")
        }
        if !report.complaints.isEmpty { StandardError.note("in force: \(report.lines.joined())") }
    }
}
