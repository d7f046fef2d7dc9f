// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto

/// The client data that the app bound into an attestation or an assertion.
public enum ClientData: Hashable, Sendable {
    /// The bytes themselves: an attestation's challenge, or an assertion's request. Their SHA-256 was bound.
    case bytes([UInt8])

    /// The app's `clientDataHash`, of any length: for an app that hashes in another way.
    case hash([UInt8])

    /// The bytes that the app gave as `clientDataHash`.
    var hash: [UInt8] {
        switch self {
        case .bytes(let bytes): Array(SHA256.hash(data: bytes))
        case .hash(let hash): hash
        }
    }

    /// The nonce of authenticator data with this client data.
    func nonce(with authenticatorData: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: authenticatorData + self.hash))
    }
}
#endif
