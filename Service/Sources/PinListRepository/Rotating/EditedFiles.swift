// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Files of which some were edited, and not written yet.
struct EditedFiles: SourceFiles {
    /// The files below.
    let files: any SourceFiles

    /// What was edited, by path.
    var edited: [String: [UInt8]] = [:]

    init(_ files: any SourceFiles) { self.files = files }

    func bytes(of path: String, limit: Int) throws(RepositoryError) -> [UInt8] {
        guard let bytes = self.edited[path] else { return try self.files.bytes(of: path, limit: limit) }
        guard bytes.count <= limit else { throw RepositoryError(.file, "over \(limit) bytes") }
        return bytes
    }
}
