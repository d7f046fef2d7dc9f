// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import PinListRepository

/// The file in which a probe keeps what it saw, for the next one. It is a convenience: when it cannot be read or
/// written, that is said, and the probe goes on.
struct ProbeMemoryFile {
    /// The path in a project folder.
    static let defaultPath = ".tumbler/probe.json"

    private let file: URL
    private let isOurs: Bool

    /// Names a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - isOurs: Whether its folder is one of ours, which git is told to pass over.
    init(_ file: URL, isOurs: Bool) {
        self.file = file
        self.isOurs = isOurs
    }

    /// The observations of the last probe of a project; `nil` when there was none.
    static func memory(of project: ProjectFolder) -> ProbeMemory? {
        let file = project.folder.appendingPathComponent(Self.defaultPath)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return ProbeMemoryFile(file, isOurs: true).load()
    }

    /// The observations of the last probe; nothing the first time.
    ///
    /// - Parameter isTelling: Whether a warning says that the file cannot be read.
    func load(isTelling: Bool = true) -> ProbeMemory {
        guard FileManager.default.fileExists(atPath: self.file.path) else { return ProbeMemory() }
        do throws(RepositoryError) { try self.expectOwn() } catch {
            if isTelling { StandardError.warning("\(error.reason); nothing is compared with last time") }
            return ProbeMemory()
        }
        let bytes = try? BoundedFile.read(self.file.path, maximum: ProbeMemory.maximumLength)
        guard let memory = bytes.flatMap({ ProbeMemory($0) }) else {
            if isTelling {
                StandardError.warning("\(self.file.path): not a file of a probe; nothing is compared with last time")
            }
            return ProbeMemory()
        }
        return memory
    }

    /// Refuses a link in place of a file of ours. One that a person named is theirs.
    private func expectOwn() throws(RepositoryError) {
        if self.isOurs { try ProjectFolder.expectLocal(self.file) }
    }

    /// Writes it for the next probe.
    func save(_ memory: ProbeMemory) {
        do throws(RepositoryError) {
            try self.expectOwn()
            try ProjectFolder.write(memory.bytes, to: self.file)
            let ignore = self.file.deletingLastPathComponent().appendingPathComponent(".gitignore")
            if self.isOurs, !FileManager.default.fileExists(atPath: ignore.path) {
                try ProjectFolder.write(Array("*\n".utf8), to: ignore)
            }
        } catch {
            StandardError.warning("\(error.reason); the next probe cannot compare with this one")
        }
    }
}
