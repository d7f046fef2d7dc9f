// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository
import PinRotation

/// `rotate status`: the states of rotations.
struct RotateStatusCommand: ServiceAskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the state of rotations, what is missing, and what comes next.",
        discussion: """
            Each address of the host is asked for its certificate, unless --no-look says otherwise, and so are the \
            hosts below it that probes saw, and those of --host. Nothing is written but what was seen, into \
            \(ProbeMemoryFile.defaultPath), and the page of --checklist.
            """
    )

    @Argument(help: "The domain of an entry; else every rotation.", transform: RotatedHost.host)
    var host: HostName?

    @Flag(help: "Print as JSON.")
    var json = false

    @Option(
        help: ArgumentHelp("Write a page with check boxes: before, during, after.", valueName: "file.md"),
        completion: .file())
    var checklist: String?

    @Option(help: ArgumentHelp("The chain to deploy, for the gate.", valueName: "file"), completion: .file())
    var certificate: String?

    @OptionGroup var look: RotationLookOptions
    @OptionGroup var servicePlace: ServicePlaceOptions
    @OptionGroup(title: "Connections") var connection: ConnectionOptions
    @OptionGroup var project: ProjectOption
    @OptionGroup var time: TimeOption

    func validate() throws {
        if self.host == nil, self.certificate != nil || self.checklist != nil || !self.look.hosts.isEmpty {
            throw ValidationError("--certificate, --checklist and --host go with a HOST")
        }
    }

    func run() async throws {
        let knowledge = try await RotationKnowledge(self.project, self.service, self.look, at: self.time.time)
        var situations: [RotationSituation] = []
        for entry in try self.entries(knowledge.folder) {
            situations.append(try await knowledge.situation(of: entry, certificate: self.certificate))
        }
        if let checklist, let plan = situations.first?.plan {
            let file = URL(fileURLWithPath: checklist, relativeTo: ProjectOption.working)
            try WrittenFile.write(
                Array(RotationChecklist(plan: plan).text.utf8), to: file.path, .published, existing: .replaced)
        }
        if self.json {
            return try PrintedRotation.write(.array(situations.map { PrintedRotation(situation: $0).json }))
        }
        guard !situations.isEmpty else {
            return try StandardOutput.write(lines: [
                "no rotation is planned; tumbler rotate plan HOST --key FILE makes a plan"
            ])
        }
        try StandardOutput.write(lines: situations.flatMap { RotationLines(situation: $0).lines })
    }

    private func entries(_ folder: RotationFolder) throws -> [RotationFolder.Entry] {
        guard let host else { return try folder.plans() }
        return [try RotationFolder.Entry.expected(host, in: folder)]
    }
}

extension RotationFolder.Entry {
    /// The plan of a host.
    ///
    /// - Throws: ``CommandError`` when there is none, or it cannot be read.
    static func expected(_ host: HostName, in folder: RotationFolder) throws(CommandError) -> RotationFolder.Entry {
        let entry = try CommandError.wrapping { () throws(RepositoryError) in try folder.plan(of: host) }
        guard let entry else {
            throw CommandError(
                .doesNotHold, "there is no \(RotationFolder.path(of: host))",
                hint: "tumbler rotate plan \(host) --key FILE makes a plan")
        }
        return entry
    }
}
