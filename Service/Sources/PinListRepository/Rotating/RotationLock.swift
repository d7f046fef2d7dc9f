// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// That one command at a time takes steps of rotations in a project folder. The system lets go of it when the process
/// ends, however it ends.
public struct RotationLock: ~Copyable, Sendable {
    /// The file that is locked, in the project folder.
    private static let path = "\(ProjectFolder.localName)/rotate.lock"

    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Throws: ``RepositoryError`` of the code `source` when another process has it, and `file` when it cannot be made.
    public init(_ project: ProjectFolder) throws(RepositoryError) {
        try project.makeLocalFolder()
        let path = project.folder.appendingPathComponent(Self.path).path
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw RepositoryError(.file, "\(Self.path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isTaken = errno == EWOULDBLOCK
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw isTaken
                ? RepositoryError(
                    .source, "another tumbler rotate is at work in this folder: it was faster",
                    hint: "wait for its end, then tumbler rotate status")
                : RepositoryError(.file, "\(Self.path) cannot be locked: \(reason)")
        }
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }
}
