// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// A list that is served, or was.
package struct StoredList: Hashable, Sendable {
    /// Its version.
    package let version: Int64
    /// The lower-case hex SHA-256 of its envelope.
    package let digest: String
    /// The envelope.
    package let bytes: [UInt8]
    /// The time of publication.
    package let publishedAt: Timestamp

    /// States a list.
    package init(version: Int64, digest: String, bytes: [UInt8], publishedAt: Timestamp) {
        self.version = version
        self.digest = digest
        self.bytes = bytes
        self.publishedAt = publishedAt
    }
}

extension StoreTransaction {
    /// The names that something is published under, in their order.
    package func names() throws -> [String] {
        try self.connection.rows("SELECT DISTINCT name FROM root ORDER BY name", []).map { try $0.text(0) }
    }

    /// The envelopes of the roots of a name, by their versions.
    package func roots(of name: String) throws -> [[UInt8]] {
        try self.connection.rows("SELECT envelope FROM root WHERE name = ? ORDER BY version", [.text(name)])
            .map { try $0.blob(0) }
    }

    /// The list that is served.
    package func list(of name: String) throws -> [UInt8]? {
        try self.connection.rows("SELECT envelope FROM list WHERE name = ? ORDER BY number DESC LIMIT 1", [.text(name)])
            .first?.blob(0)
    }

    /// The number of lists that were ever served.
    package func publicationCount(of name: String) throws -> Int {
        Int(
            clamping: try self.connection.rows("SELECT COUNT(*) FROM publication WHERE name = ?", [.text(name)]).first?
                .integer(0) ?? 0)
    }

    /// The version of the first list that was served; `nil` when none was.
    package func firstVersion(of name: String) throws -> Int64? {
        try self.connection.rows(
            "SELECT version FROM list WHERE name = ? ORDER BY number LIMIT 1", [.text(name)]
        ).first?.integer(0)
    }

    /// The envelopes of one version that were served, the first ones.
    package func envelopes(of version: Int64, name: String, limit: Int) throws -> [[UInt8]] {
        try self.connection.rows(
            "SELECT envelope FROM list WHERE name = ? AND version = ? ORDER BY number LIMIT ?",
            [.text(name), .integer(version), .integer(Int64(limit))]
        ).map { try $0.blob(0) }
    }

    /// The versions of the lists that were published under a name, by their digests.
    package func publishedDigests(of name: String) throws -> [String: Int64] {
        var versions: [String: Int64] = [:]
        for row in try self.connection.rows("SELECT digest, version FROM publication WHERE name = ?", [.text(name)]) {
            versions[try row.text(0)] = try row.integer(1)
        }
        return versions
    }

    /// A number that grows with each publication and each log list: what is served is read again when it has changed.
    package func publicationCount() throws -> Int64 {
        let sql = """
            SELECT (SELECT COALESCE(MAX(number), 0) FROM list) + (SELECT COUNT(*) FROM root)
                + (SELECT COALESCE(MAX(number), 0) FROM log_file)
            """
        return try self.connection.rows(sql, []).first?.integer(0) ?? 0
    }
}

extension StoreTransaction {
    /// Adds a root.
    package func addRoot(_ envelope: [UInt8], version: Int64, name: String) throws {
        try self.connection.execute(
            "INSERT INTO root (name, version, envelope) VALUES (?, ?, ?)",
            [.text(name), .integer(version), .blob(envelope)])
    }

    /// Serves a list from now on.
    ///
    /// - Parameter summary: The summary for the pages; `nil` to have it computed when it is first shown.
    package func serve(_ list: StoredList, name: String, summary: ListSummary? = nil) throws {
        let (version, digest, time) = (
            SQLValue.integer(list.version), SQLValue.text(list.digest), list.publishedAt.secondsSince1970
        )
        let rows = try self.connection.rows(
            """
            INSERT INTO list (name, version, digest, envelope, published_at) VALUES (?, ?, ?, ?, ?) RETURNING number
            """, [.text(name), version, digest, .blob(list.bytes), .integer(time)])
        guard let number = try rows.first?.integer(0) else {
            throw StoreError(.damaged, "a list that was stored has no number")
        }
        try self.connection.execute(
            "INSERT INTO publication (number, name, version, digest, published_at) VALUES (?, ?, ?, ?, ?)",
            [.integer(number), .text(name), version, digest, .integer(time)])
        if let summary { try self.put(summary, of: number) }
    }
}
