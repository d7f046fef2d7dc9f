// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository

/// `-C DIR`: the project folder, where it is not the nearest one above.
struct ProjectOption: ParsableArguments {
    @Option(
        name: .customShort("C"), help: ArgumentHelp("The project folder.", valueName: "dir"), completion: .directory)
    var directory: String?

    /// The project folder.
    ///
    /// - Throws: ``CommandError`` when there is none.
    func find() throws(CommandError) -> ProjectFolder {
        do { return try ProjectFolder.find(named: self.directory, from: Self.working) } catch {
            throw CommandError(error)
        }
    }

    /// The name of a list at the service.
    ///
    /// - Parameter name: What was typed; `nil` for that of the project.
    /// - Throws: ``CommandError`` when there is no project, or it has no list yet.
    func listName(or name: String?) throws(CommandError) -> String {
        if let name { return name }
        let project = try self.find()
        guard let name = try CommandError.wrapping({ () throws(RepositoryError) in try project.name() }) else {
            throw CommandError(.usage, "the project has no list yet", hint: "--name NAME")
        }
        return name
    }

    /// The working directory.
    static var working: URL {
        URL(fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
    }
}

/// Keeps a list that is written as the project's `pins.json` in `lists/` as well.
extension ProjectOption {
    /// The project whose `pins.json` a file is; `nil` for any other file.
    private func project(ofList path: String) -> ProjectFolder? {
        guard let project = try? self.find() else { return nil }
        let file = URL(fileURLWithPath: path, relativeTo: Self.working)
        let isList = file.resolvingSymlinksInPath().path == project.list.resolvingSymlinksInPath().path
        return isList ? project : nil
    }

    /// Refuses a second list of a version and a file that holds another root or list, before anything is signed.
    ///
    /// - Throws: ``CommandError``.
    func expectRoom(for metadata: SignableMetadata, at path: String) throws(CommandError) {
        guard path != InputFile.standardInput else { return }
        try CommandError.wrapping { () throws(RepositoryError) in try metadata.expectPlace(at: path) }
        guard case .pins(let list) = metadata.content, let project = self.project(ofList: path) else { return }
        try CommandError.wrapping { () throws(RepositoryError) -> Void in
            try ListHistory.expectRoom(for: list, in: project)
        }
    }

    /// Refuses an envelope that lacks signatures in place of a list of the project that has all of them.
    ///
    /// - Throws: ``CommandError``.
    func expectWhole(_ envelope: [UInt8], of kind: MetadataRole, at path: String) throws(CommandError) {
        guard kind == .pins, path != InputFile.standardInput, let project = self.project(ofList: path) else { return }
        try CommandError.wrapping { () throws(RepositoryError) in try project.expectWhole(envelope) }
    }

    /// Keeps a signed list that is not published yet.
    ///
    /// - Throws: ``CommandError``.
    func keep(_ envelope: [UInt8], of kind: MetadataRole, at path: String) throws(CommandError) {
        guard kind == .pins, let project = self.project(ofList: path) else { return }
        try CommandError.wrapping { () throws(RepositoryError) in
            try ListHistory.keep(envelope, in: project, publishedAt: nil)
        }
    }
}
