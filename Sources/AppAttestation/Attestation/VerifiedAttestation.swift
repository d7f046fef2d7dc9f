// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// What is known of a key whose attestation was verified. Only ``AttestationVerifier`` makes one.
///
/// A server keeps it: assertions are verified against it (``KnownKey``), and the attestation itself cannot be verified a
/// second time once its certificate has ended, in three days to eleven months.
public struct VerifiedAttestation: Sendable {
    /// The public key of the installation.
    public let key: AttestedKey

    /// Where the key lives.
    public let environment: AttestationEnvironment

    /// Apple's receipt, as it came and not verified: ``ReceiptVerifier`` does that.
    public let receipt: [UInt8]

    /// How the app had been distributed; `nil` before iOS 27.
    public let category: LaunchCategory?

    /// The version of the app; `nil` before iOS 27. Text from a device.
    public let bundleVersion: String?
}
#endif
