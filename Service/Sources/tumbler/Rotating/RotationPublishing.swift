// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import PinListRepository
import PinRotation

/// The steps of a rotation that change the list: an edit of the source, and a release.
struct RotationPublishing {
    let release: Release
    let project: ProjectFolder

    /// Edits the source and releases it. When nothing was released, the source is what it was, also after Control-C at a question.
    ///
    /// - Parameter changes: The edit; none where the source says it already.
    /// - Returns: The list that was released.
    /// - Throws: ``CommandError`` or ``RepositoryError``.
    func publish(_ changes: [PinEdit.Change]) async throws -> ReleasedList {
        let before = try self.project.newestList()
        let project = self.project
        let change = try SourceChange(changes, in: project)
        let interruption = Interruption {
            // A list that was written may be out: its source stays.
            if (try? project.newestList()) == before { change.takeBack() }
        }
        do {
            let released = try await self.release.run()
            interruption.end()
            return released
        } catch {
            interruption.end(puttingRight: true)
            throw error
        }
    }

    /// The edits of a source.
    func edit() throws(CommandError) -> PinEdit {
        try CommandError.wrapping { () throws(RepositoryError) in
            try PinEdit(ProjectFolder.sourceName, files: DiskFiles(in: self.project.folder))
        }
    }
}
