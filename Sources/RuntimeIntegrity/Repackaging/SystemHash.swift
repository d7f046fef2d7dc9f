// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation
#endif

/// The hash function of the system that the app runs on.
enum SystemHash {
    /// SHA-256; `nil` where the system has none, as Linux.
    static var sha256: (@Sendable ([UInt8]) -> [UInt8])? {
        #if canImport(CryptoKit)
        return { bytes in Array(SHA256.hash(data: bytes)) }
        #else
        return nil
        #endif
    }
}
