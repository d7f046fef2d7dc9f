// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Files that are read whole, within a limit.
public enum BoundedFile {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - maximum: The most bytes that it may have.
    /// - Throws: ``RepositoryError`` of the code `file`: missing, unreadable, empty or too large.
    public static func read(_ path: String, maximum: Int) throws(RepositoryError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = errno == ENOENT ? "no such file" : String(cString: strerror(errno))
            throw RepositoryError(.file, "\(path): \(reason)")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        // Pipes have no size: what bounds the reading is the reading.
        while bytes.count <= maximum {
            let count = systemRead(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw RepositoryError(.file, "\(path): \(String(cString: strerror(errno)))") }
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        guard !bytes.isEmpty else { throw RepositoryError(.file, "\(path): the file is empty") }
        guard bytes.count <= maximum else {
            throw RepositoryError(.file, "\(path): over \(maximum) bytes, which is more than is read")
        }
        return bytes
    }

    /// Refuses a regular file with a secret that other users of this machine can open. A pipe or a device is who made it.
    ///
    /// The group of a file that another user owns is no ground: systemd and Kubernetes give a secret to a service by it. OpenSSH
    /// looks at keys of the user alone for the same reason; here a file that every user can open is refused whoever owns it.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - what: What is in it, for the error.
    /// - Throws: ``RepositoryError`` of the code `file`. A file that is not there is for the reading to tell.
    public static func expectPrivate(_ path: String, holding what: String) throws(RepositoryError) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        let others = status.st_mode & 0o007 != 0
        let group = status.st_mode & 0o070 != 0 && status.st_uid == geteuid()
        guard others || group else { return }
        throw RepositoryError(
            .file, "\(path): other users of this machine can open this file, and it holds \(what)",
            hint: "chmod 600 \(path)")
    }
}

private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}
