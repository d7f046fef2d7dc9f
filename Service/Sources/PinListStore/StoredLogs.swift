// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinListMetadata

/// A log list of Certificate Transparency, as it was uploaded (formats.md, section 3.2).
package struct StoredLogs: Hashable, Sendable {
    /// The name of the lists that it is for.
    package let name: String
    /// The time at which it was stored.
    package let storedAt: Timestamp
    /// The file.
    package let bytes: [UInt8]

    /// States a file.
    package init(name: String, storedAt: Timestamp, bytes: [UInt8]) {
        self.name = name
        self.storedAt = storedAt
        self.bytes = bytes
    }

    /// The lower-case hex SHA-256 of the file: what lists name it by.
    package var digest: String { Envelope.digest(of: self.bytes) }
}

extension StoreTransaction {
    /// The maximum number of log lists of a name that are kept. A new one takes the place of the oldest that the served
    /// list does not name.
    package static var maximumLogs: Int { 16 }

    /// The maximum number of bytes that the log lists of a name take together: all of them are in memory. Published
    /// ones have some 60 KB.
    package static var maximumLogBytes: Int64 { 16_777_216 }

    /// The log lists of a name, the oldest first.
    package func logs(of name: String) throws -> [StoredLogs] {
        try self.connection.rows(
            "SELECT stored_at, file FROM log_file WHERE name = ? ORDER BY number", [.text(name)]
        ).map { row in
            StoredLogs(
                name: name, storedAt: Timestamp(secondsSince1970: try row.integer(0)), bytes: try row.blob(1))
        }
    }

    /// Whether the file that a list names is there.
    package func hasLogs(_ listed: ListedLogs, of name: String) throws -> Bool {
        try self.connection.rows(
            "SELECT LENGTH(file) FROM log_file WHERE name = ? AND digest = ?", [.text(name), .text(listed.digest)]
        ).first?.integer(0) == Int64(listed.length)
    }

    /// Adds a log list, and removes the oldest ones beyond the bounds.
    ///
    /// - Parameter logs: The file.
    /// - Returns: Whether it was not there before.
    package func add(_ logs: StoredLogs) throws -> Bool {
        let digest = logs.digest
        // It was verified when it was published.
        let served = try self.list(of: logs.name)
            .flatMap { try? Envelope($0, of: .pins, limits: MetadataLimits()) }
            .flatMap { try? PinList(payload: $0.payload) }?.logs?.digest
        let stored = try self.connection.rows(
            "SELECT number, digest, LENGTH(file) FROM log_file WHERE name = ? ORDER BY number", [.text(logs.name)]
        ).map { (number: try $0.integer(0), digest: try $0.text(1), length: try $0.integer(2)) }
        guard !stored.contains(where: { $0.digest == digest }) else { return false }
        var count = stored.count + 1
        var bytes = stored.reduce(Int64(logs.bytes.count)) { $0 + $1.length }
        for file in stored where count > Self.maximumLogs || bytes > Self.maximumLogBytes {
            guard file.digest != served else { continue }
            try self.connection.execute("DELETE FROM log_file WHERE number = ?", [.integer(file.number)])
            count -= 1
            bytes -= file.length
        }
        try self.connection.execute(
            "INSERT INTO log_file (name, digest, stored_at, file) VALUES (?, ?, ?, ?)",
            [
                .text(logs.name), .text(digest), .integer(logs.storedAt.secondsSince1970), .blob(logs.bytes),
            ])
        return true
    }
}
