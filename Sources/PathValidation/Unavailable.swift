// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if !NIO
/// Path validation needs swift-certificates, which only the trait brings in.
@available(*, unavailable, message: "add traits: [\"NIO\"] to the .package line of tumbler")
public struct PathValidator {}

/// Path validation needs swift-certificates, which only the trait brings in.
@available(*, unavailable, message: "add traits: [\"NIO\"] to the .package line of tumbler")
public struct RootStore {}

/// Path validation needs swift-certificates, which only the trait brings in.
@available(*, unavailable, message: "add traits: [\"NIO\"] to the .package line of tumbler")
public struct RevocationLists {}
#endif
