// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

extension StoreTransaction {
    static var auditColumns: String { "number, time, actor, action, detail, previous" }

    /// Entries of the audit log, from a number on.
    public func auditEntries(from number: Int64, limit: Int) throws -> [AuditEntry] {
        try self.connection.rows(
            "SELECT \(Self.auditColumns) FROM audit WHERE number >= ? ORDER BY number LIMIT ?",
            [.integer(number), .integer(Int64(limit))]
        ).map(Self.entry)
    }

    /// The newest entry of the audit log.
    public func newestAuditEntry() throws -> AuditEntry? {
        try self.connection.rows("SELECT \(Self.auditColumns) FROM audit ORDER BY number DESC LIMIT 1", []).first
            .map(Self.entry)
    }

    static func entry(_ row: SQLRow) throws -> AuditEntry {
        AuditEntry(
            number: try row.integer(0), time: Timestamp(secondsSince1970: try row.integer(1)), actor: try row.text(2),
            action: try row.text(3), detail: try row.text(4), previous: try row.text(5))
    }
}

extension StoreTransaction {
    /// Adds what was done to the audit log, after its newest entry.
    public func log(_ action: String, _ detail: String, by actor: String, at time: Timestamp) throws {
        let newest = try self.newestAuditEntry()
        let entry = AuditEntry(
            number: (newest?.number ?? 0) + 1, time: time, actor: actor, action: action, detail: detail,
            previous: newest?.digest ?? AuditEntry.origin)
        try self.connection.execute(
            "INSERT INTO audit (\(Self.auditColumns)) VALUES (?, ?, ?, ?, ?, ?)",
            [
                .integer(entry.number), .integer(entry.time.secondsSince1970), .text(entry.actor), .text(entry.action),
                .text(entry.detail), .text(entry.previous),
            ])
    }

    /// Keeps an envelope that proves something.
    ///
    /// - Returns: Whether it is new.
    func addEvidence(_ digest: String, of name: String, _ envelope: [UInt8], at time: Timestamp) throws -> Bool {
        try self.connection.execute(
            "INSERT INTO evidence (digest, name, at, envelope) VALUES (?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING",
            [.text(digest), .text(name), .integer(time.secondsSince1970), .blob(envelope)]) == 1
    }
}
