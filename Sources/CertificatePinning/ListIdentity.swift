// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Which list a decision was made by.
public struct ListIdentity: Hashable, Sendable, Encodable {
    /// The list's name.
    public var name: String

    /// The list's version.
    public var version: Int64

    /// Whether the list had expired: still enforced, and said so.
    public var stale: Bool

    /// Names a list.
    public init(name: String, version: Int64, stale: Bool) {
        self.name = name
        self.version = version
        self.stale = stale
    }
}
