// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The key of a count of lists that clients say that they hold, by the hour (formats.md, section 7). Numbers alone: no
/// address and no identifier is kept.
package struct ListRequestKey: Hashable, Sendable {
    /// The kind of source of a request.
    package enum Source: String, Sendable, CaseIterable {
        /// An installation, as far as one can tell.
        case installation
        /// A cache in between, which asks for many clients.
        case edge
        /// The log of an edge, fed in.
        case log
        /// A source that had asked as often as counts and asks once more: one request for each such source and hour.
        case exhausted
        /// A source that had asked more often than counts: what it holds is not told.
        case surplus
        /// One of so many sources that they cannot be told apart: what it holds is not told.
        case crowded
    }

    /// The digest of a request that names no list.
    package static let nothing = ""
    /// Stands for digests that were never published, beyond ``ListRequestCounter/unpublishedDigests`` in an hour.
    package static let others = "other"

    /// The name of the list.
    package let name: String
    /// Hours since 1970.
    package let hour: Int64
    /// The kind of source.
    package let source: Source
    /// The hex SHA-256 of the envelope that is held.
    package let digest: String

    /// States what was asked.
    package init(name: String, hour: Int64, source: Source, digest: String) {
        self.name = name
        self.hour = hour
        self.source = source
        self.digest = digest
    }
}
