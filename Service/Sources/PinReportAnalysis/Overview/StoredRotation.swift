// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata

/// The plan of a rotation, as it was pushed.
package struct StoredRotation: Hashable, Sendable {
    /// The list.
    package let name: String
    /// The noted hostname, normalised.
    package let host: String
    /// The time at which it was stored.
    package let storedAt: Timestamp
    /// The bytes that were pushed: the JSON of a plan, which was read before it was stored.
    package let bytes: [UInt8]

    /// States a plan.
    package init(name: String, host: String, storedAt: Timestamp, bytes: [UInt8]) {
        self.name = name
        self.host = host
        self.storedAt = storedAt
        self.bytes = bytes
    }

    /// The lower-case hex SHA-256 of the bytes: what a change of the plan names.
    package var digest: String { Envelope.digest(of: self.bytes) }
}
