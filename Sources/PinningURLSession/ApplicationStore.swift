// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import Foundation
internal import PinListClient

/// The state folder of an app on Apple's platforms: readable after the first unlock of the device, so that a refresh in
/// the background works; not in backups; with the installation's id in the Keychain.
struct ApplicationStore: StateStore {
    private static let account = "installation-id"

    private let folder: StateFolder
    private let keychain: Keychain

    private let isShared: Bool

    /// A store in a folder.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - name: The list's name.
    ///   - accessGroup: The Keychain's access group; `nil` for the app's own.
    ///   - isShared: Whether the folder is an app group's: an app that is suspended while it holds a lock there is ended.
    init(path: String, name: String, accessGroup: String?, isShared: Bool) {
        self.isShared = isShared
        self.folder = StateFolder(path: path)
        self.keychain = Keychain(service: "tumbler.\(name)", accessGroup: accessGroup)
    }

    func read(_ file: StateFile, maximumBytes: Int) -> StoredFile {
        guard file == .installationID else { return self.folder.read(file, maximumBytes: maximumBytes) }
        switch self.keychain.read(Self.account) {
        case .bytes(let bytes):
            return bytes.count <= maximumBytes ? .bytes(bytes) : .damaged("it is over \(maximumBytes) bytes")
        case .unreadable(let reason): return .unreadable(reason)
        // An id that the folder has from before stays in use.
        case .absent, .unavailable: return self.folder.read(file, maximumBytes: maximumBytes)
        }
    }

    func write(_ bytes: [UInt8], to file: StateFile) throws(StateStoreError) {
        if file == .installationID, try self.keychain.write(bytes, Self.account) { return }
        try self.folder.write(bytes, to: file)
        try self.protect("\(self.folder.path)/\(file.path)")
    }

    func logDigests() -> [String] { self.folder.logDigests() }

    func remove(_ file: StateFile) throws(StateStoreError) { try self.folder.remove(file) }

    func withLock(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError) {
        try self.prepare()
        guard self.isShared else { return try self.folder.withLock(body) }
        try ExpiringActivity.run { () throws(StateStoreError) in try self.folder.withLock(body) }
    }

    /// Creates the folder before its first file.
    private func prepare() throws(StateStoreError) {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: self.folder.path, isDirectory: &isFolder), isFolder.boolValue {
            return
        }
        do {
            try FileManager.default.createDirectory(
                atPath: self.folder.path, withIntermediateDirectories: true,
                attributes: [
                    .posixPermissions: 0o700, .protectionKey: FileProtectionType.completeUntilFirstUserAuthentication,
                ])
            var url = URL(fileURLWithPath: self.folder.path, isDirectory: true)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try url.setResourceValues(values)
        } catch {
            throw StateStoreError("cannot create \(self.folder.path): \(error.localizedDescription)")
        }
    }

    private func protect(_ path: String) throws(StateStoreError) {
        do {
            try FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: path)
        } catch {
            throw StateStoreError("cannot protect \(path): \(error.localizedDescription)")
        }
    }
}

/// A store that does not exist, with the reason: the trust state is in memory alone.
struct MissingStore: StateStore {
    let reason: String

    func read(_ file: StateFile, maximumBytes: Int) -> StoredFile { .unreadable(self.reason) }

    func write(_ bytes: [UInt8], to file: StateFile) throws(StateStoreError) { throw StateStoreError(self.reason) }

    func logDigests() -> [String] { [] }

    func remove(_ file: StateFile) throws(StateStoreError) { throw StateStoreError(self.reason) }

    func withLock(_ body: () throws(StateStoreError) -> Void) throws(StateStoreError) {
        throw StateStoreError(self.reason)
    }
}
#endif
