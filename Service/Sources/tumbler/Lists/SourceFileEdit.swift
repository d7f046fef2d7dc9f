// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListRepository

/// The project's `tumbler.yaml`, to be edited.
struct SourceFileEdit {
    /// The edit.
    let edit: SuspensionEdit

    private let project: ProjectFolder
    private let bytes: [UInt8]

    /// Reads the source of the project.
    ///
    /// - Throws: ``RepositoryError`` or ``CommandError``.
    init(_ option: ProjectOption) throws {
        self.project = try option.find()
        let files = DiskFiles(in: self.project.folder)
        let name = ProjectFolder.sourceName
        do {
            self.bytes = try files.bytes(of: name, limit: ListSource.maximumLength)
        } catch {
            throw RepositoryError(error.code, "\(name): \(error.reason)", hint: error.hint)
        }
        self.edit = try SuspensionEdit(self.bytes, file: name, files: files)
    }

    /// The same source, to be edited in its revoked certificates.
    ///
    /// - Throws: ``RepositoryError``.
    func revoked() throws(RepositoryError) -> RevokedEdit {
        try RevokedEdit(self.bytes, file: ProjectFolder.sourceName, files: DiskFiles(in: self.project.folder))
    }

    /// Writes the source, unless it was changed meanwhile.
    ///
    /// - Throws: ``RepositoryError``.
    func write(_ bytes: [UInt8]) throws {
        let name = ProjectFolder.sourceName
        let now = try DiskFiles(in: self.project.folder).bytes(of: name, limit: ListSource.maximumLength)
        guard now == self.bytes else {
            throw RepositoryError(.file, "\(name) was changed meanwhile", hint: "type the command again")
        }
        try ProjectFolder.write(bytes, to: self.project.source)
    }
}
