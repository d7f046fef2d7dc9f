// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if !NIO
/// Verifying attestations needs swift-certificates, which only the trait brings in.
@available(*, unavailable, message: "add traits: [\"NIO\"] to the .package line of tumbler")
public struct AttestationVerifier {}

/// Verifying assertions needs swift-crypto, which only the trait brings in.
@available(*, unavailable, message: "add traits: [\"NIO\"] to the .package line of tumbler")
public struct AssertionVerifier {}
#endif
