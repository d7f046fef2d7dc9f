// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListMetadata

/// The head of the audit log at the end of a period. With it the entries of the period can go, and those that are left,
/// and a copy that ends with the period, can still be verified.
///
/// Each seal has the digest of the seal before it, and each is named by an entry of the log: so the newest of these
/// entries vouches for all seals.
package struct AuditSeal: Hashable, Sendable {
    /// The action of the entry that names a seal.
    package static let action = "seal"

    /// The period. Entries are in the log in the order in which they were made, so that one of another month may be among
    /// its own when a clock was wrong.
    package let period: AuditPeriod
    /// The number of its first entry.
    package let first: Int64
    /// The number of its last entry.
    package let last: Int64
    /// The digest of its last entry.
    package let head: String
    /// The digest of the seal before; of the first one, 64 zeros.
    package let previous: String
    /// The number of the entry that names it, in a later period.
    package let entry: Int64

    /// States a seal.
    package init(period: AuditPeriod, first: Int64, last: Int64, head: String, previous: String, entry: Int64) {
        self.period = period
        self.first = first
        self.last = last
        self.head = head
        self.previous = previous
        self.entry = entry
    }

    /// The lower-case hex SHA-256 of the seal: strict JSON, members in this order.
    package var digest: String {
        Envelope.digest(
            of: JSONValue.object([
                .init("period", .string(self.period.description)), .init("first", .integer(self.first)),
                .init("last", .integer(self.last)), .init("head", .string(self.head)),
                .init("previous", .string(self.previous)), .init("entry", .integer(self.entry)),
            ]).bytes)
    }

    /// The detail of the entry that names it.
    package var detail: String {
        "\(self.period): entries \(self.first) to \(self.last), head \(self.head), seal \(self.digest)"
    }
}
