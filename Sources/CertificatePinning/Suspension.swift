// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The kill switch: pinning relaxed to the platform's default validation, for a named scope and never without an end.
/// It does not relax the deny set.
public struct Suspension: Hashable, Sendable {
    /// What is suspended.
    public enum Scope: Hashable, Sendable {
        /// Every entry, and the rule for unlisted hosts: `*`.
        case everything
        /// The entry with this noted hostname alone, not its parents, children or carve-outs.
        case entry(HostName)
    }

    /// What is suspended.
    public var scope: Scope

    /// The suspension holds before this time, not at it.
    public var until: Timestamp

    /// Why, for those who read the list.
    public var reason: String

    /// Creates a suspension.
    public init(_ scope: Scope, until: Timestamp, reason: String) {
        self.scope = scope
        self.until = until
        self.reason = reason
    }
}
