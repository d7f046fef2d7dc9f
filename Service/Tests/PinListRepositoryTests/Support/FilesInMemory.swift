// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListRepository

/// Files that are only here.
struct FilesInMemory: SourceFiles {
    let files: [String: [UInt8]]

    init(_ files: [String: String] = [:]) { self.files = files.mapValues { Array($0.utf8) } }

    func bytes(of path: String, limit: Int) throws(RepositoryError) -> [UInt8] {
        guard let bytes = self.files[path] else { throw RepositoryError(.file, "no such file") }
        guard bytes.count <= limit else { throw RepositoryError(.file, "over \(limit) bytes") }
        return bytes
    }
}
