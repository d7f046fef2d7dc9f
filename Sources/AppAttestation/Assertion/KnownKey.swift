// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// The stored state of a key, for the next assertion.
public struct KnownKey: Hashable, Sendable {
    /// The public key.
    public let key: AttestedKey

    /// The counter of the newest assertion that was accepted; 0 before the first.
    public let counter: UInt32

    /// Whether the key's attestation named a launch category. An assertion must then name one, too: otherwise a system that
    /// was downgraded would bypass the check.
    public let namesCategory: Bool

    /// Whether the key's attestation named the app's version. An assertion must then name one, too.
    public let namesBundleVersion: Bool

    /// Creates the stored state.
    ///
    /// - Parameters:
    ///   - key: The public key.
    ///   - counter: The counter of the newest assertion that was accepted; 0 before the first.
    ///   - namesCategory: Whether the key's attestation named a launch category.
    ///   - namesBundleVersion: Whether the key's attestation named the app's version.
    public init(_ key: AttestedKey, counter: UInt32, namesCategory: Bool, namesBundleVersion: Bool) {
        self.key = key
        self.counter = counter
        self.namesCategory = namesCategory
        self.namesBundleVersion = namesBundleVersion
    }

    /// Creates the state of a key whose attestation was just verified: no assertion of it was accepted yet.
    public init(_ attestation: VerifiedAttestation) {
        self.init(
            attestation.key, counter: 0, namesCategory: attestation.category != nil,
            namesBundleVersion: attestation.bundleVersion != nil)
    }
}
#endif
