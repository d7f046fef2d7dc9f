// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import Foundation
internal import PinListClient
internal import Security

/// Generic passwords of one service in the Keychain: on this device alone, never in a backup, readable once the device
/// was unlocked after it started.
struct Keychain: Sendable {
    /// The result of reading.
    enum Item {
        case absent
        case bytes([UInt8])
        /// The device is locked, or the Keychain fails.
        case unreadable(String)
        /// This program may not use the Keychain, such as a macOS program without an application identifier.
        case unavailable
    }

    /// The service that groups the items.
    let service: String
    /// The access group, for an app and its extensions. With `nil` an item is added to the app's first group, which is another
    /// app's, too, where Keychain Sharing is on, and looked for in all of them.
    let accessGroup: String?

    /// Reads an item.
    func read(_ account: String) -> Item {
        var query = self.query(account)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        switch status {
        case errSecSuccess: return (found as? Data).map { .bytes([UInt8]($0)) } ?? .unreadable("it is not data")
        case errSecItemNotFound: return .absent
        case errSecMissingEntitlement, errSecNotAvailable: return .unavailable
        default: return .unreadable(Self.text(status))
        }
    }

    /// Writes an item in place of the one before.
    ///
    /// - Returns: Whether the Keychain can be used by this program.
    /// - Throws: `StateStoreError`.
    func write(_ bytes: [UInt8], _ account: String) throws(StateStoreError) -> Bool {
        let value: [String: Any] = [
            kSecValueData as String: Data(bytes),
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(self.query(account) as CFDictionary, value as CFDictionary)
        if status == errSecItemNotFound {
            let item = self.query(account).merging(value) { _, new in new }
            status = SecItemAdd(item as CFDictionary, nil)
        }
        switch status {
        case errSecSuccess: return true
        case errSecMissingEntitlement, errSecNotAvailable: return false
        default: throw StateStoreError("the Keychain does not keep \(account): \(Self.text(status))")
        }
    }

    private func query(_ account: String) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: self.service,
            kSecAttrAccount as String: account,
            // On macOS, too, the data protection Keychain of iOS is used.
            kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
        return query
    }

    private static func text(_ status: OSStatus) -> String {
        let text = SecCopyErrorMessageString(status, nil) as String?
        return "\(text ?? "error") (\(status))"
    }
}
#endif
