// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Tools) internal import CertificatePinning
package import Foundation

/// Files that are read whole, within a limit.
public enum BoundedFile {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - maximum: The most bytes that it may have.
    /// - Throws: ``RepositoryError`` of the code `file`: missing, unreadable, empty or too large.
    public static func read(_ path: String, maximum: Int) throws(RepositoryError) -> [UInt8] {
        let bytes: [UInt8]
        do { bytes = try self.bytes(of: path, maximum: maximum) } catch {
            throw RepositoryError(error.code, "\(path): \(error.reason)")
        }
        guard !bytes.isEmpty else { throw RepositoryError(.file, "\(path): the file is empty") }
        guard bytes.count <= maximum else {
            throw RepositoryError(.file, "\(path): over \(maximum) bytes, which is more than is read")
        }
        return bytes
    }

    /// The bytes of a file; where there are more than the maximum, that many and one.
    ///
    /// - Throws: ``RepositoryError`` of the code `file`, without the path.
    static func bytes(of path: String, maximum: Int) throws(RepositoryError) -> [UInt8] {
        let handle = try self.open(path)
        defer { try? handle.close() }
        do { return try self.bytes(of: handle, maximum: maximum) } catch {
            throw RepositoryError(.file, self.reason(for: error))
        }
    }

    /// The bytes of an open file; where there are more than the maximum, that many and one.
    ///
    /// - Throws: What Foundation throws: ``reason(for:)`` puts it in words.
    package static func bytes(of handle: FileHandle, maximum: Int) throws -> [UInt8] {
        try BoundedBytes.read(upTo: maximum) { try handle.read(upToCount: $0) }
    }

    /// Opens a file for reading.
    ///
    /// - Parameter path: Its path.
    /// - Throws: ``RepositoryError`` of the code `file`, without the path: missing, a folder, or without the right.
    package static func open(_ path: String) throws(RepositoryError) -> FileHandle {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw RepositoryError(.file, "this is a folder")
        }
        do { return try FileHandle(forReadingFrom: URL(fileURLWithPath: path)) } catch {
            throw RepositoryError(.file, self.reason(for: error))
        }
    }

    /// The reason why a file was not opened or read, in a few words.
    package static func reason(for error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: "no such file"
        case .fileReadNoPermission: "no right to read it"
        default: "it cannot be read"
        }
    }

    /// Refuses a regular file with a secret that other users of this machine can open. A pipe or a device is who made it.
    ///
    /// The group of a file that another user owns is no ground: systemd and Kubernetes give a secret to a service by it. OpenSSH
    /// looks at keys of the user alone for the same reason; here a file that every user can open is always refused.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - what: What is in it, for the error.
    /// - Throws: ``RepositoryError`` of the code `file`. A file that is not there is for the reading to tell.
    public static func expectPrivate(_ path: String, holding what: String) throws(RepositoryError) {
        guard self.isOpenToOthers(path) else { return }
        throw RepositoryError(
            .file, "\(path): other users of this machine can open this file, and it holds \(what)",
            hint: "chmod 600 \(path)")
    }

    /// Whether other users of this machine can open a regular file, by the rule of ``expectPrivate(_:holding:)``; `false` for a
    /// file that is not there.
    package static func isOpenToOthers(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let others = status.st_mode & 0o007 != 0
        let group = status.st_mode & 0o070 != 0 && status.st_uid == geteuid()
        return others || group
    }
}
