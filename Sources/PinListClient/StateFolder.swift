// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PinListMetadata

/// A store that is a folder of files. Several processes may share one.
///
/// A file is replaced by writing another beside it, `fsync`, rename, and `fsync` of the folder: after a crash at any
/// point there is the old one or the new one.
public struct StateFolder: StateStore {
    /// The path of the folder, which is created with the first file.
    public let path: String

    /// The number of attempts to take the lock, one each 10 ms: a second. A holder keeps it for one write.
    private static let lockTries = 100

    /// A store in a folder.
    public init(path: String) { self.path = path }

    private func path(of file: StateFile) -> String { "\(self.path)/\(file.path)" }

    /// Reads a file, if it is a plain one.
    public func read(_ file: StateFile, maximumBytes: Int) -> StoredFile {
        let descriptor = open(self.path(of: file), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return .absent
            case ELOOP, ENOTDIR: return .damaged("it is not a regular file")
            default: return .unreadable(Self.reason())
            }
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .unreadable(Self.reason()) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .damaged("it is not a regular file") }
        guard status.st_size <= maximumBytes else { return .damaged("it is over \(maximumBytes) bytes") }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size) + 1)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                Foundation.read(descriptor, buffer.baseAddress?.advanced(by: length), buffer.count - length)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return .unreadable(Self.reason()) }
            if count == 0 { break }
            length += count
        }
        // The file grew meanwhile, but files here are only replaced whole.
        guard length < bytes.count else { return .damaged("it changes while it is read") }
        bytes.removeLast(bytes.count - length)
        return .bytes(bytes)
    }

    /// Replaces a file.
    public func write(_ bytes: [UInt8], to file: StateFile) throws(StateStoreError) {
        let path = self.path(of: file)
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
        try self.makeFolder(folder)
        // Only the holder of the lock writes, so one name suffices; the remains of a crash are overwritten.
        let temporary = path + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw self.failure("create", temporary) }
        do throws(StateStoreError) {
            try self.fill(descriptor, bytes, temporary)
        } catch {
            close(descriptor)
            unlink(temporary)
            throw error
        }
        guard close(descriptor) == 0 else { throw self.failure("close", temporary) }
        guard rename(temporary, path) == 0 else { throw self.failure("replace", path) }
        try self.synchronise(folder: folder)
    }

    /// The digests of the log lists in the folder.
    public func logDigests() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(self.path)/logs")) ?? []
        return names.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.filter { ListedLogs.isDigest($0) }
    }

    /// Removes a file. After a crash it may be there again: removal only frees space.
    public func remove(_ file: StateFile) throws(StateStoreError) {
        let path = self.path(of: file)
        guard unlink(path) == 0 || errno == ENOENT else { throw self.failure("remove", path) }
    }

    private func fill(_ descriptor: Int32, _ bytes: [UInt8], _ path: String) throws(StateStoreError) {
        var position = 0
        while position < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Foundation.write(descriptor, buffer.baseAddress?.advanced(by: position), buffer.count - position)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw self.failure("write", path) }
            position += count
        }
        guard fsync(descriptor) == 0 else { throw self.failure("write", path) }
    }

    private func makeFolder(_ folder: String) throws(StateStoreError) {
        var status = stat()
        if stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StateStoreError("cannot create \(folder): \(error.localizedDescription)")
        }
        if let parent = folder.lastIndex(of: "/"), parent > folder.startIndex {
            try self.synchronise(folder: String(folder[..<parent]))
        }
    }

    private func synchronise(folder: String) throws(StateStoreError) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { throw self.failure("open", folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw self.failure("write", folder) }
    }

    /// Runs a closure while no other process writes here, by a lock on a file that is never replaced.
    public func withLock(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError) {
        try self.makeFolder(self.path)
        let path = "\(self.path)/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw self.failure("create", path) }
        // Closing the file releases the lock.
        defer { close(descriptor) }
        for _ in 0..<Self.lockTries {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return try body() }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw self.failure("lock", path) }
            usleep(10_000)
        }
        throw StateStoreError("another process holds \(path)")
    }

    private static func reason() -> String { String(cString: strerror(errno)) }

    private func failure(_ verb: String, _ path: String) -> StateStoreError {
        StateStoreError("cannot \(verb) \(path): \(Self.reason())")
    }
}
