// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if !NIO
/// Pinned connections over SwiftNIO need packages that only the trait brings in.
@available(*, unavailable, message: "add traits: [\"NIO\"] to the .package line of tumbler")
public struct PinnedTLS {}

/// Pinned connections over SwiftNIO need packages that only the trait brings in.
@available(*, unavailable, message: "add traits: [\"NIO\"] to the .package line of tumbler")
public final class PinnedHTTPClient {}
#endif
