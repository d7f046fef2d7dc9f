// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import PinListRepository

/// Edits of a project's source that are taken back when what follows them does not come to pass.
struct SourceChange {
    private let changes: [PinEdit.Change]
    private let project: ProjectFolder

    /// Writes files, unless another process did meanwhile.
    ///
    /// - Throws: ``RepositoryError``; then nothing has changed.
    init(_ changes: [PinEdit.Change], in project: ProjectFolder) throws(RepositoryError) {
        self.project = project
        self.changes = changes
        var written: [PinEdit.Change] = []
        do throws(RepositoryError) {
            for change in changes {
                try Self.expect(change.before, change.path, project)
                try ProjectFolder.write(change.after, to: Self.file(change.path, project))
                written.append(change)
            }
        } catch {
            for change in written {
                try? ProjectFolder.write(change.before, to: Self.file(change.path, project))
            }
            throw error
        }
    }

    /// The file of a path that a source names.
    private static func file(_ path: String, _ project: ProjectFolder) -> URL {
        path.hasPrefix("/") ? URL(fileURLWithPath: path) : project.folder.appendingPathComponent(path)
    }

    private static func expect(
        _ bytes: [UInt8], _ path: String, _ project: ProjectFolder
    ) throws(RepositoryError) {
        guard try DiskFiles(in: project.folder).bytes(of: path, limit: ListSource.maximumLength) == bytes else {
            throw RepositoryError(.file, "\(path) was changed meanwhile", hint: "type the command again")
        }
    }

    /// Puts back what was there, in each file that was not changed since.
    func takeBack() {
        for change in self.changes {
            do throws(RepositoryError) {
                try Self.expect(change.after, change.path, self.project)
                try ProjectFolder.write(change.before, to: Self.file(change.path, self.project))
            } catch {
                StandardError.warning("\(change.path) still has the edit: \(error.reason)")
            }
        }
    }
}
