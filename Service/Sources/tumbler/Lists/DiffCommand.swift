// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListDifference
import PinListMetadata
import PinListRepository

/// The differences between two lists.
struct DiffCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print the differences between two lists.",
        discussion: """
            Both are envelopes or their payloads; signatures are not looked at. A line each: + added, - removed, \
            ~ changed. Without lists, in a project folder: what is published (--published, else the list that server: \
            serves, else pins.json) against what tumbler.yaml would build. When only the version and the dates differ, \
            a note says so. Exit code 0: the same, 1: they differ, 2: that is not known; of a source, dates are no \
            difference.
            """
    )

    @Argument(help: "The older list.", completion: .file())
    var old: String?

    @Argument(help: "The newer list.", completion: .file())
    var new: String?

    @OptionGroup var published: PublishedOption

    @Flag(help: "Print the differences as JSON.")
    var json = false

    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions
    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func validate() throws {
        if self.old != nil, self.new == nil { throw ValidationError("two lists are compared: name the newer one, too") }
        if self.old != nil, self.published.published != nil {
            throw ValidationError("--published goes with the source of a project, not with two lists")
        }
    }

    func run() async throws {
        let difference: ListDifference
        do { difference = try await self.difference() } catch {
            let failure = error as? CommandError ?? (error as? RepositoryError).map { CommandError($0) }
            guard let failure, failure.exitCode == .doesNotHold else { throw error }
            // 1 is the answer that they differ, and runbooks go on with it.
            throw CommandError(.undecided, failure.message, hint: failure.hint)
        }
        // A source has no dates of its own.
        let isDifferent = !difference.isEmpty && (self.old != nil || !difference.isRenewal)
        if self.json {
            try JSONOutput.write(difference)
        } else {
            try StandardOutput.write(lines: difference.lines)
        }
        if difference.isRenewal { StandardError.note("only dates change") }
        guard !isDifferent else { throw ExitCode(CommandExit.doesNotHold.rawValue) }
    }

    /// The differences between the two lists that are named, or those of the source to what clients have.
    private func difference() async throws -> ListDifference {
        guard let old, let new else { return try await self.unpublished() }
        let lists = try [old, new].map { name in try KnownList(try InputFile.read(name), named: name, roots: []).list }
        return ListDifference(old: lists[0], new: lists[1])
    }

    /// The changes that the source would make to what clients have.
    private func unpublished() async throws -> ListDifference {
        let time = self.time.time
        let input: SourceInput
        do throws(CommandError) { input = try SourceInput(nil, self.project) } catch {
            guard self.project.directory == nil, (try? self.project.find()) == nil else { throw error }
            throw CommandError(
                .usage, "no lists are named, and there is no project folder here",
                hint: "tumbler diff OLD NEW, or -C DIR")
        }
        let roots = try input.project.roots()
        let published = try await self.published.load(roots: roots, by: self.service.connection.connections)?.list
        let old: PinList?
        if let published { old = published } else { old = try await self.served(input, roots) }
        return ListDifference(old: old, new: try PinList(building: input.source, after: old, at: time))
    }

    /// The list that the service serves; that of `pins.json` where there is no service.
    private func served(_ input: SourceInput, _ roots: [[UInt8]]) async throws -> PinList? {
        guard let address = try self.service.address(or: input.source) else {
            return try input.project.publishedList()
        }
        do throws(CommandError) {
            guard let bytes = try await self.service.client(address, nil).servedList(input.source.name) else {
                return nil
            }
            return try CommandError.wrapping { () throws(RepositoryError) in
                try KnownList(bytes, named: "the list that \(address) serves", roots: roots).list
            }
        } catch {
            // What clients have is not known: nothing is said about it.
            throw CommandError(
                .undecided, error.message,
                hint: error.hint ?? "--published pins.json compares with the project's own list")
        }
    }
}
