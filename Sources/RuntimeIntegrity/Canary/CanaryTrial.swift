// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One input with a known answer.
public struct CanaryTrial: Sendable {
    /// Whether it has to be refused.
    public let isBad: Bool

    /// Puts it through the function that decides, and says whether it was accepted.
    public let isAccepted: @Sendable () async -> Bool

    /// What has to be refused.
    public static func bad(_ isAccepted: @escaping @Sendable () async -> Bool) -> Self {
        Self(isBad: true, isAccepted: isAccepted)
    }

    /// What has to be accepted: a function that refuses everything is no function that decides.
    public static func good(_ isAccepted: @escaping @Sendable () async -> Bool) -> Self {
        Self(isBad: false, isAccepted: isAccepted)
    }
}
