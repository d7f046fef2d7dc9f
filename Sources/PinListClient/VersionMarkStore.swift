// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import PinListMetadata

/// Keeps the highest version outside the state folder, where deleting the folder does not reach it: a Keychain, say.
///
/// Calls may block. What cannot be kept is as if there were no mark: the state folder alone bounds the next list then.
public protocol VersionMarkStore: Sendable {
    /// The mark of a list, if one is kept and can be read.
    func load(name: String) -> VersionMark?

    /// Keeps a mark in place of the one before of the same name.
    func save(_ mark: VersionMark)
}
