// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// What an assertion that was verified says. Only ``AssertionVerifier`` makes one.
public struct VerifiedAssertion: Hashable, Sendable {
    /// The counter, which the server stores in place of the one that it has, in one step with comparing them: two assertions
    /// may be verified at the same time.
    public let counter: UInt32

    /// How the app that is running had been distributed; `nil` before iOS 27.
    public let category: LaunchCategory?

    /// The version of the app that is running; `nil` before iOS 27. Text from a device.
    public let bundleVersion: String?
}
#endif
