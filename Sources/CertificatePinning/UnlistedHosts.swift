// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What happens to hosts that no entry covers.
public enum UnlistedHosts: String, Hashable, Sendable, CaseIterable {
    /// The platform's default validation alone decides.
    case allow
    /// The same, and it is reported.
    case report
    /// They are blocked.
    case deny
}
