// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import Foundation
public import PinListClient
public import PinListMetadata

/// A version mark in the Keychain, which survives deletion of the app's files and restoration of old ones (formats.md,
/// section 6).
public struct KeychainVersionMark: VersionMarkStore {
    /// The maximum length of a mark in bytes: 32 keys, and a name.
    private static let maximum = 4_096

    private struct Stored: Codable {
        let name: String
        let version: Int64
        let keyids: [String]
    }

    private let keychain: Keychain

    /// Creates the store of a mark for this app.
    ///
    /// - Parameter accessGroup: The access group that the app shares with its extensions; `nil` for the app's own.
    public init(accessGroup: String? = nil) {
        self.keychain = Keychain(service: "tumbler.version-mark", accessGroup: accessGroup)
    }

    /// The mark, if the Keychain has one and can be read.
    public func load(name: String) -> VersionMark? {
        guard case .bytes(let bytes) = self.keychain.read(name), bytes.count <= Self.maximum,
            let stored = try? JSONDecoder().decode(Stored.self, from: Data(bytes)), stored.name == name
        else { return nil }
        return VersionMark(name: stored.name, version: stored.version, keyIDs: stored.keyids)
    }

    /// Stores a mark.
    ///
    /// - Throws: `StateStoreError` when the Keychain does not store it, as on a locked device, or when this program may not use the
    ///   Keychain.
    public func save(_ mark: VersionMark) throws(StateStoreError) {
        let stored = Stored(name: mark.name, version: mark.version, keyids: mark.keyIDs)
        let data: Data
        do { data = try JSONEncoder().encode(stored) } catch {
            throw StateStoreError("the mark of \(mark.name) cannot be encoded: \(error.localizedDescription)")
        }
        guard try self.keychain.write([UInt8](data), mark.name) else {
            throw StateStoreError(
                "this program may not use the Keychain, which should keep the mark of \(mark.name): give it an application identifier"
            )
        }
    }
}
#endif
