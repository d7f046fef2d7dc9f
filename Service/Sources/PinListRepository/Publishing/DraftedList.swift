// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PinListMetadata

/// A list that is in the project and went nowhere yet: `pins.json`, and its file in `lists/`.
///
/// It is there before it goes out, so that a release that is killed meanwhile leaves no list behind that clients may have and the
/// project does not. `pins.json` comes first, because the next release keeps what stands there: killed between the two, nothing is
/// lost. The other way round a file in `lists/` would be left over, and stop that release.
struct DraftedList {
    private let project: ProjectFolder
    private let version: Int64
    private let before: [UInt8]?
    private let isNewFile: Bool

    /// Writes it.
    ///
    /// - Throws: ``RepositoryError`` when nothing was written, ``ReleaseError`` when what was written is taken back.
    init(_ envelope: [UInt8], of list: PinList, in project: ProjectFolder) throws {
        self.project = project
        self.version = list.version
        self.before = try project.newestList()
        self.isNewFile = try ListHistory.expectRoom(for: list, in: project)
        try ProjectFolder.write(envelope, to: project.list)
        do { try ListHistory.keep(envelope, in: project, publishedAt: nil) } catch {
            throw self.takenBack(because: error)
        }
    }

    /// Puts back what was there, in the opposite order and for the same reason.
    ///
    /// - Parameter reason: The reason for which it goes nowhere.
    /// - Returns: The failure of the release, with what is in the project now.
    func takenBack(because reason: any Error) -> ReleaseError {
        do {
            if self.isNewFile { try ListHistory.remove(self.version, in: self.project) }
            if let before {
                try ProjectFolder.write(before, to: self.project.list)
            } else {
                try FileManager.default.removeItem(at: self.project.list)
            }
            return ReleaseError(reason: reason, project: .unchanged)
        } catch { return ReleaseError(reason: reason, project: .notRestored) }
    }
}
