// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The files of a folder on the disk.
public struct DiskFiles: SourceFiles {
    /// Where paths that are not absolute begin.
    public let folder: URL

    /// The files of a folder.
    public init(in folder: URL) { self.folder = folder }

    /// Reads a file whole; what bounds the reading is the reading, since pipes and devices have no size.
    public func bytes(of path: String, limit: Int) throws(RepositoryError) -> [UInt8] {
        let file = path.hasPrefix("/") ? URL(fileURLWithPath: path) : self.folder.appendingPathComponent(path)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) else {
            throw RepositoryError(.file, "no such file")
        }
        guard !isFolder.boolValue else { throw RepositoryError(.file, "this is a folder") }
        var data = Data()
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            while data.count <= limit, let part = try handle.read(upToCount: 1 << 20), !part.isEmpty {
                data.append(part)
            }
        } catch {
            let isRefused = (error as? CocoaError)?.code == .fileReadNoPermission
            throw RepositoryError(.file, isRefused ? "no right to read it" : "it cannot be read")
        }
        guard data.count <= limit else { throw RepositoryError(.file, "over \(limit) bytes") }
        return Array(data)
    }
}
