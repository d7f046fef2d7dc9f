// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// The list whose hosts are probed: that of the project folder, a file, or an address.
struct ProbeTarget: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A list: a file, or the address of a list or of its pins.json. By default pins.json of the project folder.",
            valueName: "list"), completion: .file())
    var list: String?

    @Option(
        name: .customLong("root"),
        help: ArgumentHelp(
            "A root that signs for the list; several times, in their order. By default those of the project folder.",
            valueName: "file"), completion: .file())
    var roots: [String] = []

    @OptionGroup var project: ProjectOption

    /// Reads the list. It is verified where there are roots; without any, a note says so.
    ///
    /// - Parameter connections: How it is fetched.
    /// - Throws: ``CommandError``.
    func load(by connections: Connections) async throws(CommandError) -> PinList {
        let (bytes, name) = try await self.bytes(by: connections)
        let roots = try self.rootBytes()
        let known: KnownList
        do throws(RepositoryError) { known = try KnownList(bytes, named: name, roots: roots) } catch {
            // No client is locked out by it here: nothing was asked.
            throw CommandError(.undecided, error.reason, hint: error.hint)
        }
        if !known.isVerified {
            StandardError.note("\(name): no root verifies this list; it is used unverified")
        }
        return known.list
    }

    /// The lists that installations may still hold beside one; `nil` where no project remembers them.
    ///
    /// - Throws: ``CommandError`` when what the project remembers cannot be read.
    func heldLists(
        with list: PinList, _ service: ServiceOptions, at time: Timestamp
    ) async throws(CommandError) -> HeldLists? {
        guard let project = try? self.project.find() else { return nil }
        let name = try CommandError.wrapping { () throws(RepositoryError) in try project.name() }
        guard name == list.name else { return nil }
        // Whether the project's own list is out, its history says.
        return try await HeldLists.known(
            in: project, name: list.name, source: (try? SourceInput(nil, self.project))?.source,
            published: self.list == nil ? nil : list, service: service, at: time)
    }

    /// The log lists that policies of Certificate Transparency are evaluated with: the one that the list names, else
    /// that of the project's source; `nil` where there is no project, or it has none. Beside that of the project's own
    /// list stands the one of the source, where it is another: the next release goes out with it.
    ///
    /// - Throws: ``RepositoryError`` when the list names one that is not at hand, or names none and the source's cannot
    ///   be read.
    func logs(of list: PinList) throws(RepositoryError) -> ProbeLogs? {
        guard let project = try? self.project.find(), let current = try project.logList(of: list) else { return nil }
        guard self.list == nil, list.logs != nil else { return ProbeLogs(current) }
        do throws(RepositoryError) {
            return ProbeLogs(current, next: try project.logListOfSource())
        } catch {
            // Clients have the list's: what it says must be known while the source is being edited, too.
            StandardError.warning("\(error.reason); what is served is evaluated with the log list of the list alone")
            return ProbeLogs(current)
        }
    }

    /// The file for the results of the last probe, by default: in the project folder, for its own list alone.
    var memory: URL? {
        guard self.list == nil, let folder = (try? self.project.find())?.folder else { return nil }
        return folder.appendingPathComponent(ProbeMemoryFile.defaultPath)
    }

    private func bytes(by connections: Connections) async throws(CommandError) -> ([UInt8], String) {
        guard let list = self.list else {
            let project = try self.project.find()
            let bytes = try CommandError.wrapping { () throws(RepositoryError) in try project.newestList() }
            guard let bytes else {
                throw CommandError(
                    .undecided, "there is no \(ProjectFolder.listName) in the project folder",
                    hint: "tumbler release signs tumbler.yaml; or name a list")
            }
            return (bytes, ProjectFolder.listName)
        }
        if list.contains("://") { return (try await PublishedDownload.bytes(of: list, by: connections), list) }
        return (try InputFile.read(list), list)
    }

    private func rootBytes() throws(CommandError) -> [[UInt8]] {
        var roots: [[UInt8]] = []
        for path in self.roots {
            roots.append(
                try CommandError.wrapping { () throws(RepositoryError) in
                    try BoundedFile.read(path, maximum: MetadataLimits().rootBytes)
                })
        }
        guard roots.isEmpty, self.list == nil || self.project.directory != nil else { return roots }
        let project = try self.project.find()
        return try CommandError.wrapping { () throws(RepositoryError) in try project.roots() }
    }
}
