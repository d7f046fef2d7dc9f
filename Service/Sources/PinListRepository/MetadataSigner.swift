// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Something that signs metadata: a key file, a token, an external program.
///
/// A signer is not asked whose key it has: a signature belongs to the key of the root under which it verifies.
public protocol MetadataSigner: Sendable {
    /// How people named it, without secrets: `file:keys/pins.pem`.
    var name: String { get }

    /// Signs a message.
    ///
    /// - Parameter message: The bytes to sign (for an envelope, PAE), not their hash.
    /// - Returns: The raw bytes of the key's algorithm (64, and 3,309 of ML-DSA-65), or, for a P-256 key, a DER
    ///   ECDSA-Sig-Value.
    /// - Throws: ``RepositoryError`` with what to do.
    func signature(over message: [UInt8]) async throws -> [UInt8]
}
