// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if !GRPC
/// Pinned connections for grpc-swift-2 need packages that only the trait brings in.
@available(*, unavailable, message: "add traits: [\"GRPC\"] to the .package line of tumbler")
public enum HTTP2ClientTransport {}
#endif
