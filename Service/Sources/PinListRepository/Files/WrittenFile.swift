// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation

/// Files that are there whole or not at all: a temporary file beside them, fsync, then its name.
public enum WrittenFile {
    /// The permissions of a file that is written.
    public enum Secrecy: Sendable {
        /// All users, as far as the umask allows.
        case published
        /// Its owner alone: mode 0600.
        case secret

        fileprivate var mode: mode_t { self == .secret ? 0o600 : 0o644 }
    }

    /// The treatment of an existing file of the same name.
    public enum Existing: Sendable {
        /// It stays, and nothing is written.
        case kept
        /// The existing file is replaced, atomically.
        case replaced
    }

    /// Writes a file.
    ///
    /// What is there and no regular file (a device, a folder) is never replaced, nor is a private key; of a symbolic link it is
    /// the file behind it.
    ///
    /// - Throws: ``RepositoryError`` of the code `file`; then nothing has changed.
    public static func write(
        _ bytes: [UInt8], to path: String, _ secrecy: Secrecy, existing: Existing
    ) throws(RepositoryError) {
        let target = try self.target(of: path, existing)
        let temporary = "\(target).\(UInt64.random(in: .min ... .max)).part"
        try self.fill(temporary, with: bytes, mode: secrecy.mode, rights: self.rights(of: target), for: path)
        let result: Int32
        switch existing {
        case .replaced: result = rename(temporary, target)
        case .kept: result = self.nameOnce(temporary, target)
        }
        guard result == 0 else {
            let failure = self.failure(path, "cannot be written")
            unlink(temporary)
            throw failure
        }
        self.synchronise(folder: self.folder(of: target))
    }

    /// Refuses a name that is taken, before work is done that would be in vain.
    ///
    /// - Throws: ``RepositoryError`` of the code `file`.
    public static func expectNothing(at path: String) throws(RepositoryError) {
        var status = stat()
        guard lstat(path, &status) != 0 else {
            throw RepositoryError(
                .file, "\(path) is there already, and is never overwritten",
                hint: "choose another name, or move it away")
        }
    }

    /// Refuses a place at which no file can be written or replaced, before work is done that would be in vain.
    ///
    /// - Throws: ``RepositoryError`` of the code `file`.
    public static func expectPlace(at path: String) throws(RepositoryError) {
        let target = try self.target(of: path, .replaced)
        guard access(self.folder(of: target), W_OK | X_OK) == 0 else { throw self.failure(path, "cannot be written") }
    }

    /// Takes back a file that was written a moment ago.
    static func remove(_ path: String) { unlink(path) }

    private static func target(of path: String, _ existing: Existing) throws(RepositoryError) -> String {
        if existing == .kept {
            try self.expectNothing(at: path)
            return path
        }
        var status = stat()
        guard stat(path, &status) == 0 else { return path }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw RepositoryError(
                .file, "\(path) is not a regular file, so it is not replaced", hint: "name a file to write")
        }
        try self.expectNoPrivateKey(in: path)
        guard let resolved = realpath(path, nil) else { throw self.failure(path, "cannot be resolved") }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Refuses a private key, which may be the only copy.
    private static func expectNoPrivateKey(in path: String) throws(RepositoryError) {
        guard let bytes = try? BoundedFile.read(path, maximum: KeyFile.maximumLength) else { return }
        // By its mark: openssl's older form of an encrypted key is PEM with headers, which is not read.
        guard bytes.contains("PRIVATE KEY-----".utf8) || PublicKeyBytes.isPrivateKey(bytes) else { return }
        throw RepositoryError(
            .file, "\(path) holds a private key, and is never overwritten", hint: "choose another name, or move it away"
        )
    }

    private static func fill(
        _ temporary: String, with bytes: [UInt8], mode: mode_t, rights: mode_t?, for path: String
    ) throws(RepositoryError) {
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw self.failure(path, "cannot be written") }
        var rest = bytes[...]
        var isWritten = true
        while isWritten, !rest.isEmpty {
            let count = rest.withUnsafeBytes { unsafe in systemWrite(descriptor, unsafe.baseAddress, unsafe.count) }
            if count > 0 { rest = rest.dropFirst(count) } else { isWritten = count < 0 && errno == EINTR }
        }
        // A file that is replaced keeps its permissions.
        if let rights { fchmod(descriptor, rights) }
        guard isWritten, fsync(descriptor) == 0 else {
            let failure = self.failure(path, "cannot be written")
            close(descriptor)
            unlink(temporary)
            throw failure
        }
        close(descriptor)
    }

    /// The rights of a file that is there.
    private static func rights(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    /// Gives a file a name that is not in use: a link fails where a rename would replace.
    private static func nameOnce(_ temporary: String, _ target: String) -> Int32 {
        if link(temporary, target) == 0 {
            unlink(temporary)
            return 0
        }
        // Some file systems have no links; there a second look has to do.
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno) else { return -1 }
        var status = stat()
        guard lstat(target, &status) != 0 else {
            errno = EEXIST
            return -1
        }
        return rename(temporary, target)
    }

    /// By hand: Foundation's `NSString.deletingLastPathComponent` traps on Linux for a name of one character.
    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Best effort: the file is whole already, and some file systems refuse to synchronise folders.
    private static func synchronise(folder: String) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func failure(_ path: String, _ what: String) -> RepositoryError {
        let reason = String(cString: strerror(errno))
        return RepositoryError(.file, "\(path) \(what): \(reason)")
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
