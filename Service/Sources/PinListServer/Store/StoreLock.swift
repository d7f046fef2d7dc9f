// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What a change keeps other changes away from, over all instances of the service on one PostgreSQL. SQLite has one
/// writer, and needs none of them.
///
/// Whoever takes several takes them in the order of this list, so that two changes never wait for each other crosswise
/// (docs/decisions/0049).
public enum StoreLock: Int64, CaseIterable, Sendable {
    /// Whatever has no lock of its own: alarms, tokens, probes, and the tables themselves.
    case changes
    /// What is published, and the plans of rotations, which go by it.
    case publications
    /// Whose turn it is, and which instances are there.
    case turns
    /// What is forgotten.
    case retention
    /// Which groups of reports there are. Reports of groups that are there are added without it.
    case groups
    /// The chain of the audit log. Taken by each entry, after any other.
    case audit
}
