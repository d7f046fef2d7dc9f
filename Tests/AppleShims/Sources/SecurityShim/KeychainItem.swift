// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A generic password in the simulated keychain.
struct KeychainItem {
    /// All attributes, by their keys.
    var attributes: [String: any Hashable & Sendable]
    /// The secret.
    var data: Data

    var service: String { self.attributes[KeychainQuery.service] as? String ?? "" }

    /// What makes it one item.
    var primaryKey: [String] {
        KeychainQuery.primaryKeys.map { key in self.attributes[key].map { "\($0)" } ?? "" }
    }
}

/// What a dictionary for one of the `SecItem` functions says.
struct KeychainQuery {
    static let service = "svce"
    static let primaryKeys = ["svce", "acct", "agrp", "sync"]
    /// The attributes that are compared; others say what is wanted back.
    private static let compared = ["svce", "acct", "agrp", "pdmn", "labl", "desc", "gena"]

    let attributes: [String: any Hashable & Sendable]
    let data: Data?
    let isGenericPassword: Bool
    let returnsData: Bool
    let returnsAttributes: Bool
    let matchesAll: Bool
    private let synchronizable: Bool?

    init(_ dictionary: CFDictionary) {
        let values = dictionary as? [String: Any] ?? [:]
        var attributes: [String: any Hashable & Sendable] = [:]
        for key in Self.compared {
            if let text = values[key] as? String { attributes[key] = text }
            if let data = values[key] as? Data { attributes[key] = data }
        }
        let anySynchronizable = values["sync"] as? String == "syna"
        let synchronizable = values["sync"] as? Bool ?? false
        if synchronizable { attributes["sync"] = true }
        self.attributes = attributes
        self.synchronizable = anySynchronizable ? nil : synchronizable
        self.data = values["v_Data"] as? Data
        self.isGenericPassword = values["class"] as? String == "genp"
        self.returnsData = values["r_Data"] as? Bool ?? false
        self.returnsAttributes = values["r_Attributes"] as? Bool ?? false
        self.matchesAll = values["m_Limit"] as? String == "m_LimitAll"
    }

    var service: String? { self.attributes[Self.service] as? String }

    /// Whether an item has every attribute that is asked for.
    func matches(_ item: KeychainItem) -> Bool {
        if let synchronizable, (item.attributes["sync"] as? Bool ?? false) != synchronizable { return false }
        return self.attributes.allSatisfy { key, value in
            key == "sync" || item.attributes[key].map { "\($0)" == "\(value)" } ?? false
        }
    }
}
