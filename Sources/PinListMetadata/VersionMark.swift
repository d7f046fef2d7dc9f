// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The highest version that was ever trusted, kept outside the state folder (in the Keychain, say), where deleting the
/// folder does not reach it. It bounds lists from outside alone.
///
/// Source: formats.md, section 6.
public struct VersionMark: Hashable, Sendable {
    /// The list's name.
    public let name: String
    /// The version.
    public let version: Int64
    /// The keys that signed it.
    public let keyIDs: [String]

    /// Creates a mark.
    public init(name: String, version: Int64, keyIDs: [String]) {
        self.name = name
        self.version = version
        self.keyIDs = keyIDs
    }

    /// Whether it still counts: its keys make a threshold under a root.
    func isValid(under root: Root) -> Bool {
        self.name == root.name && Set(self.keyIDs).intersection(root.pins.keyIDs).count >= root.pins.threshold
    }
}
