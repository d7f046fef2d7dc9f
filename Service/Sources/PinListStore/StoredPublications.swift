// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinListMetadata

/// A list that was served, as far as the pages show it: everything but its envelope.
package struct StoredPublication: Hashable, Sendable {
    /// Its place among all publications of the database.
    package let number: Int64
    /// The list's version.
    package let version: Int64
    /// The lower-case hex SHA-256 of its envelope.
    package let digest: String
    /// The time of publication.
    package let publishedAt: Timestamp
    /// Its times and changes; `nil` for one of before these were kept.
    package var summary: ListSummary?
}

extension StoreTransaction {
    /// Lists that were served under a name, the newest first.
    ///
    /// - Parameter number: Only those with a lower one; `nil` for all.
    package func publications(of name: String, before number: Int64? = nil, limit: Int) throws -> [StoredPublication] {
        try self.connection.rows(
            """
            SELECT number, version, digest, published_at, issued_at, expires_at, changes FROM publication
                WHERE name = ? AND number < ? ORDER BY number DESC LIMIT ?
            """, [.text(name), .integer(number ?? .max), .integer(Int64(limit))]
        ).map { row in
            StoredPublication(
                number: try row.integer(0), version: try row.integer(1), digest: try row.text(2),
                publishedAt: Timestamp(secondsSince1970: try row.integer(3)),
                summary: try row.optionalBlob(6).map { changes in
                    ListSummary(
                        issuedAt: try row.optionalInteger(4).map { Timestamp(secondsSince1970: $0) },
                        expiresAt: try row.optionalInteger(5).map { Timestamp(secondsSince1970: $0) },
                        changes: changes)
                })
        }
    }

    /// The numbers of the publications of a name after one, the oldest of them first.
    package func publicationNumbers(of name: String, after number: Int64, limit: Int) throws -> [Int64] {
        try self.connection.rows(
            "SELECT number FROM publication WHERE name = ? AND number > ? ORDER BY number LIMIT ?",
            [.text(name), .integer(number), .integer(Int64(limit))]
        ).map { try $0.integer(0) }
    }

    /// The publication times of the last lists of a name, by version: for each the first time that is among them.
    ///
    /// - Parameter limit: The number of publications to read.
    package func publicationTimes(of name: String, limit: Int) throws -> [Int64: Timestamp] {
        var times: [Int64: Timestamp] = [:]
        for row in try self.connection.rows(
            "SELECT version, published_at FROM publication WHERE name = ? ORDER BY number DESC LIMIT ?",
            [.text(name), .integer(Int64(limit))])
        {
            let time = Timestamp(secondsSince1970: try row.integer(1))
            times[try row.integer(0)] = min(times[try row.integer(0)] ?? time, time)
        }
        return times
    }

    /// The publisher of the list with a digest, by the audit log; `nil` when it does not say.
    package func publisher(of digest: String, at time: Timestamp) throws -> String? {
        // The line of a list ends with its digest.
        try self.connection.rows(
            "SELECT actor, detail FROM audit WHERE action = 'publish' AND time = ?",
            [.integer(time.secondsSince1970)]
        ).first { try $0.text(1).hasSuffix(digest) }?.text(0)
    }

    /// The list of a publication, read from its envelope; `nil` when there is none, or it cannot be read.
    package func publishedList(_ number: Int64) throws -> PinList? {
        let rows = try self.connection.rows("SELECT envelope FROM list WHERE number = ?", [.integer(number)])
        guard let envelope = try rows.first?.blob(0),
            let read = try? Envelope(envelope, of: .pins, limits: MetadataLimits())
        else { return nil }
        // It was verified when it was published.
        return try? PinList(payload: read.payload)
    }

    /// Keeps what the pages show of a publication.
    package func put(_ summary: ListSummary, of number: Int64) throws {
        try self.connection.execute(
            "UPDATE publication SET issued_at = ?, expires_at = ?, changes = ? WHERE number = ?",
            [
                .optional(summary.issuedAt?.secondsSince1970), .optional(summary.expiresAt?.secondsSince1970),
                .blob(summary.changes), .integer(number),
            ])
    }
}
