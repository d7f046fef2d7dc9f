// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The key of an item's class.
public nonisolated(unsafe) let kSecClass: CFString = "class"  // because it never changes, as all constants here
/// The class of generic passwords: the one that is simulated.
public nonisolated(unsafe) let kSecClassGenericPassword: CFString = "genp"  // because likewise
/// The key of a password's service.
public nonisolated(unsafe) let kSecAttrService: CFString = "svce"  // because likewise
/// The key of a password's account.
public nonisolated(unsafe) let kSecAttrAccount: CFString = "acct"  // because likewise
/// The key of the group of apps that share an item.
public nonisolated(unsafe) let kSecAttrAccessGroup: CFString = "agrp"  // because likewise
/// The key of a label for people.
public nonisolated(unsafe) let kSecAttrLabel: CFString = "labl"  // because likewise
/// The key of when an item can be read.
public nonisolated(unsafe) let kSecAttrAccessible: CFString = "pdmn"  // because likewise
/// Readable after the first unlocking since the start.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"  // because likewise
/// Readable after the first unlocking since the start, and never on another device.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"  // because likewise
/// Readable while the device is unlocked, and never on another device.
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"  // because likewise
/// The key of whether an item goes to the user's other devices.
public nonisolated(unsafe) let kSecAttrSynchronizable: CFString = "sync"  // because likewise
/// Items that go to other devices, and items that do not.
public nonisolated(unsafe) let kSecAttrSynchronizableAny: CFString = "syna"  // because likewise
/// The key that asks macOS for the keychain of iOS.
public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"  // because likewise
/// The key of the secret.
public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"  // because likewise
/// The key that asks for the secret.
public nonisolated(unsafe) let kSecReturnData: CFString = "r_Data"  // because likewise
/// The key that asks for the attributes.
public nonisolated(unsafe) let kSecReturnAttributes: CFString = "r_Attributes"  // because likewise
/// The key of how many items are wanted.
public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"  // because likewise
/// One item.
public nonisolated(unsafe) let kSecMatchLimitOne: CFString = "m_LimitOne"  // because likewise
/// All items.
public nonisolated(unsafe) let kSecMatchLimitAll: CFString = "m_LimitAll"  // because likewise

/// Adds an item.
///
/// - Returns: `errSecDuplicateItem` when there is one with the same service, account and group.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let query = KeychainQuery(attributes)
    guard query.isGenericPassword else { return errSecParam }
    let item = KeychainItem(attributes: query.attributes, data: query.data ?? Data())
    return SimulatedSystem.keychain(query.service) { items in
        guard !items.contains(where: { $0.primaryKey == item.primaryKey }) else { return errSecDuplicateItem }
        items.append(item)
        if query.returnsData { result?.pointee = NSData(data: item.data) }
        return errSecSuccess
    } failed: {
        $0
    }
}

/// Finds items.
///
/// - Returns: `errSecItemNotFound` when there is none.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let query = KeychainQuery(query)
    guard query.isGenericPassword else { return errSecParam }
    return SimulatedSystem.keychain(query.service) { items in
        let found = items.filter(query.matches)
        guard !found.isEmpty else { return errSecItemNotFound }
        let values = found.map { keychainValue(of: $0, for: query) }
        result?.pointee = query.matchesAll ? NSArray(array: values) : values[0]
        return errSecSuccess
    } failed: {
        $0
    }
}

/// What is given back for an item.
private func keychainValue(of item: KeychainItem, for query: KeychainQuery) -> AnyObject {
    guard query.returnsAttributes else { return NSData(data: item.data) }
    var values = item.attributes.mapValues { $0 as Any }
    if query.returnsData { values["v_Data"] = item.data }
    return values as CFDictionary
}

/// Changes what items say.
///
/// - Returns: `errSecItemNotFound` when there is none.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    let query = KeychainQuery(query)
    let changes = KeychainQuery(attributesToUpdate)
    guard query.isGenericPassword else { return errSecParam }
    return SimulatedSystem.keychain(query.service) { items in
        let found = items.indices.filter { query.matches(items[$0]) }
        guard !found.isEmpty else { return errSecItemNotFound }
        for index in found {
            items[index].attributes.merge(changes.attributes) { $1 }
            if let data = changes.data { items[index].data = data }
        }
        return errSecSuccess
    } failed: {
        $0
    }
}

/// Deletes items.
///
/// - Returns: `errSecItemNotFound` when there is none.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    let query = KeychainQuery(query)
    guard query.isGenericPassword else { return errSecParam }
    return SimulatedSystem.keychain(query.service) { items in
        let before = items.count
        items.removeAll(where: query.matches)
        return items.count < before ? errSecSuccess : errSecItemNotFound
    } failed: {
        $0
    }
}
