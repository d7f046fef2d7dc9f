// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Files that commands make once in a process of tests, and that many tests begin with.
struct MadeFiles: Sendable {
    private struct File: Sendable {
        let name: String
        let contents: Data
        let mode: Int
    }

    private let making: Task<[File], any Error>

    /// Begins to make them.
    ///
    /// - Parameter make: Makes them in an empty folder, without folders in it.
    init(_ make: @escaping @Sendable (URL) async throws -> Void) {
        self.making = Task {
            try await withTemporaryFolder { folder in
                try await make(folder)
                return try FileManager.default.contentsOfDirectory(atPath: folder.path).map { name in
                    let attributes = try FileManager.default.attributesOfItem(
                        atPath: folder.appendingPathComponent(name).path)
                    let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o600
                    return File(name: name, contents: try folder.contents(of: name), mode: mode)
                }
            }
        }
    }

    /// Writes them into a folder, with the modes that they were made with.
    func lay(in folder: URL) async throws {
        for file in try await self.making.value {
            let written = try folder.write(file.contents, as: file.name)
            try FileManager.default.setAttributes([.posixPermissions: file.mode], ofItemAtPath: written.path)
        }
    }
}
