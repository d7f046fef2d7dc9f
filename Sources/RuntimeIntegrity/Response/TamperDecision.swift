// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What the signals so far lead to.
public struct TamperDecision: Hashable, Sendable {
    /// The most names that are attached to a report: as many as a report takes.
    public static let mostAttached = 32

    /// The names of signals that go into reports of failures.
    public let attached: [String]

    /// Whether pinned connections are refused.
    public let refuses: Bool

    /// Whether the app's hook removes what is secret.
    public let wipes: Bool

    /// Whether the process ends.
    public let ends: Bool
}
