// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import Foundation
public import PinListClient

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension StateLocation {
    #if os(tvOS)
    // An app of tvOS may write to its caches alone; the system empties them when it needs the space.
    private static let directory = FileManager.SearchPathDirectory.cachesDirectory
    private static let folderInContainer = "Library/Caches"
    #else
    private static let directory = FileManager.SearchPathDirectory.applicationSupportDirectory
    private static let folderInContainer = "Library/Application Support"
    #endif

    /// Application Support, in a folder for each list: protected until the device is first unlocked, and not in backups;
    /// the installation's id is in the Keychain. On tvOS, where an app has no such folder, caches: files that the
    /// system deletes there are fetched again, and the mark in the Keychain stays.
    public static var applicationSupport: StateLocation {
        StateLocation { name in
            let folders = FileManager.default.urls(for: Self.directory, in: .userDomainMask)
            guard let folder = folders.first else {
                return MissingStore(reason: "there is no folder for an app's files")
            }
            // Outside a sandbox, all apps of a person share that folder.
            let app = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
            return ApplicationStore(
                path: folder.appendingPathComponent("\(app)/Tumbler/\(name)").path, name: name, accessGroup: nil,
                isShared: false)
        }
    }

    /// The folder of an app group, which an app and its extensions share: one list, one place in each rollout.
    ///
    /// - Parameters:
    ///   - group: The group, as the entitlement names it. Without the entitlement nothing is stored, and an event says
    ///     so.
    ///   - accessGroup: The Keychain's access group that they share; `nil` for the app's own.
    public static func appGroup(_ group: String, keychainAccessGroup accessGroup: String? = nil) -> StateLocation {
        StateLocation { name in
            guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
                return MissingStore(reason: "the app has no entitlement for the group \(group)")
            }
            return ApplicationStore(
                path: folder.appendingPathComponent("\(Self.folderInContainer)/Tumbler/\(name)").path, name: name,
                accessGroup: accessGroup, isShared: true)
        }
    }
}
#endif
