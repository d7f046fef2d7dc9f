// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// Puts signed roots and a signed list onto the service, in one transaction.
struct PublishCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish signed roots and a signed list on the service, all or none.",
        discussion: """
            FILES are envelopes of one name in any order; without any, the roots and pins.json of the project folder. \
            The service evaluates them as every client will. What is published already stays as it is, so publishing \
            once more does no harm. A log list that the list names is uploaded first: it is kept in logs/ of the \
            project, is the file of logs: in tumbler.yaml, or is named with --logs. The token comes from a file, never from the command line.

            Exit code 0: published, now or earlier; 1: refused; 2: the network or the server failed.
            """
    )

    @Argument(help: "Envelopes: roots, and a list.", completion: .file())
    var files: [String] = []

    @Option(help: ArgumentHelp("The log list that the list names.", valueName: "file"), completion: .file())
    var logs: String?

    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions

    @Flag(help: "Print the new publications as JSON.")
    var json = false

    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func run() async throws {
        let time = self.time.time
        let publication = try self.publication()
        let own = try self.ownList(in: publication)
        // A history that cannot be read keeps nothing from going out: that is said afterwards.
        if let own { try (try? ListHistory(of: own.project))?.expectTurn(of: own.list, at: time) }
        let client = try self.service.requiredClient(self.project, scope: "publish")
        let changes: [String]
        let logs = try self.logs(of: publication)
        do throws(ServiceClient.PublishingError) {
            changes = try await client.publish(publication, logs: logs)
        } catch {
            throw error.failure
        }
        do throws(RepositoryError) {
            if let own { try ListHistory.keep(own.list, in: own.project, publishedAt: time) }
        } catch { throw CommandError.afterPublishing(CommandError(error)) }
        if self.json { return try JSONOutput.write(PublishedChanges(name: publication.name, changes: changes)) }
        let what = changes.isEmpty ? "published already" : "published \(changes.joined(separator: ", "))"
        try StandardOutput.write(lines: ["\(publication.name): \(what)"])
    }

    /// The log list that the list of a publication names; `nil` where it names none, or it is not at hand: the service may
    /// have it, and says so otherwise.
    private func logs(of publication: Publication) throws(CommandError) -> [UInt8]? {
        guard let listed = publication.listedLogs else { return nil }
        if let logs {
            let bytes = try InputFile.read(logs)
            guard listed.isFile(bytes) else {
                throw CommandError(
                    .undecided,
                    "\(logs) is not the log list that the list names: that has the SHA-256 \(listed.digest)",
                    hint: "name the file that the list was built with")
            }
            return bytes
        }
        guard let project = try? self.project.find() else { return nil }
        return try? project.logs(listed)
    }

    /// The project whose `pins.json` is in a publication, and that list: it is written down when it went out.
    private func ownList(in publication: Publication) throws -> (project: ProjectFolder, list: [UInt8])? {
        guard let project = try? self.project.find(), let newest = try project.newestList(),
            publication.files.contains(where: { $0.bytes == newest })
        else { return nil }
        return (project, newest)
    }

    private func publication() throws(CommandError) -> Publication {
        var files: [Publication.File] = []
        for path in self.files {
            files.append(
                try CommandError.wrapping { () throws(RepositoryError) in
                    Publication.File(path, try BoundedFile.read(path, maximum: MetadataLimits().listBytes))
                })
        }
        guard files.isEmpty else {
            return try CommandError.wrapping { () throws(RepositoryError) in try Publication(files) }
        }
        let project = try self.project.find()
        let list = try CommandError.wrapping { () throws(RepositoryError) in try project.newestList() }
        guard let list else {
            throw CommandError(
                .undecided, "there is no \(ProjectFolder.listName) in the project folder",
                hint: "tumbler release signs tumbler.yaml; or name the files")
        }
        return try CommandError.wrapping { () throws(RepositoryError) in
            try Publication(roots: try project.roots(), list: list)
        }
    }
}

/// The output of `publish --json`.
private struct PublishedChanges: Encodable {
    let name: String
    let changes: [String]
}
