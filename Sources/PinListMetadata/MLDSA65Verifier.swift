// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// Verifies signatures of ML-DSA-65 (FIPS 204, empty context) where the system can: Linux always, Apple's from 26 on,
/// where swift-crypto is CryptoKit.
///
/// A type of its own, because a case or a property cannot be of a type that an older system lacks.
struct MLDSA65Verifier: Sendable {
    private let verify: @Sendable (_ signature: [UInt8], _ message: [UInt8]) -> Bool

    /// Whether this system can verify.
    static var isAvailable: Bool {
        guard #available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return false }
        return true
    }

    /// The verifier for the 1,952 bytes of a key; `nil` where there is none.
    init?(_ publicKey: ArraySlice<UInt8>) {
        guard #available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return nil }
        guard let key = try? MLDSA65.PublicKey(rawRepresentation: publicKey) else { return nil }
        self.verify = { signature, message in key.isValidSignature(signature, for: message) }
    }

    /// Whether a signature over a message holds.
    func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool { self.verify(signature, message) }
}
