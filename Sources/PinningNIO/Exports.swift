// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
@_exported public import CertificatePinning
@_exported public import PinListClient
#endif
