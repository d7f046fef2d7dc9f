// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Files that are there whole or not at all.
public enum FileWriting {
    /// Replaces a file: a temporary one beside it is written, synchronised and renamed, and the folder synchronised.
    /// The rights of a file that is replaced stay.
    ///
    /// - Throws: ``RepositoryError`` of code `file`; then the file is what it was.
    public static func replace(_ file: URL, with bytes: [UInt8]) throws(RepositoryError) {
        // A link is followed: what it names is replaced, and the link stays.
        let file = file.resolvingSymlinksInPath()
        let folder = file.deletingLastPathComponent()
        let type = try? FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
        guard type == nil || type == .typeRegular else {
            // A device or a folder must not be replaced by a file.
            throw RepositoryError(.file, "\(file.path) is no file", hint: "name a file to write")
        }
        let temporary = folder.appendingPathComponent(".\(file.lastPathComponent).\(UUID().uuidString).tmp")
        let rights = try? FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let made = FileManager.default.createFile(
                atPath: temporary.path, contents: nil, attributes: [.posixPermissions: rights ?? 0o644])
            guard made else { throw CocoaError(.fileWriteUnknown) }
            let handle = try FileHandle(forWritingTo: temporary)
            try handle.write(contentsOf: Data(bytes))
            try handle.synchronize()
            try handle.close()
            guard rename(temporary.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            throw RepositoryError(
                .file, "\(file.path) cannot be written", hint: "look at the rights of its folder, and at the disk")
        }
        let descriptor = open(folder.path, O_RDONLY)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        _ = close(descriptor)
    }
}
