// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinListMetadata

/// One change, in a log whose entries each hold the digest of the one before: what is rewritten or cut off shows
/// against an earlier copy of the newest digest.
package struct AuditEntry: Hashable, Sendable {
    /// Counted from 1.
    package let number: Int64
    /// The time.
    package let time: Timestamp
    /// The actor: the id of a token, or `cli` on the service's machine.
    package let actor: String
    /// The action, such as `publish` or `token-create`.
    package let action: String
    /// The detail, in one line.
    package let detail: String
    /// The digest of the entry before; of the first one, 64 zeros.
    package let previous: String

    /// The digest before the first entry.
    package static let origin = String(repeating: "0", count: 64)

    /// States an entry.
    package init(number: Int64, time: Timestamp, actor: String, action: String, detail: String, previous: String) {
        self.number = number
        self.time = time
        self.actor = actor
        self.action = action
        self.detail = detail
        self.previous = previous
    }

    /// The bytes that are hashed: strict JSON, members in this order.
    package var bytes: [UInt8] {
        JSONValue.object([
            .init("number", .integer(self.number)), .init("time", .string(self.time.description)),
            .init("actor", .string(self.actor)), .init("action", .string(self.action)),
            .init("detail", .string(self.detail)), .init("previous", .string(self.previous)),
        ]).bytes
    }

    /// The lower-case hex SHA-256 of the entry: the head of the log when it is the newest.
    package var digest: String { Envelope.digest(of: self.bytes) }
}
