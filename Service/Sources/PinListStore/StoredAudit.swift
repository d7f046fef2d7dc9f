// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinReportAnalysis

extension StoreTransaction {
    static var auditColumns: String { "number, time, actor, action, detail, previous" }

    /// Entries of the audit log, from a number on.
    package func auditEntries(from number: Int64, limit: Int) throws -> [AuditEntry] {
        try self.connection.rows(
            "SELECT \(Self.auditColumns) FROM audit WHERE number >= ? ORDER BY number LIMIT ?",
            [.integer(number), .integer(Int64(limit))]
        ).map(Self.entry)
    }

    /// The newest entry of the audit log.
    package func newestAuditEntry() throws -> AuditEntry? {
        try self.connection.rows("SELECT \(Self.auditColumns) FROM audit ORDER BY number DESC LIMIT 1", []).first
            .map(Self.entry)
    }

    /// The number of the oldest entry that is left; `nil` for an empty log.
    package func oldestAuditNumber() throws -> Int64? {
        try self.connection.rows("SELECT number FROM audit ORDER BY number LIMIT 1", []).first?.integer(0)
    }

    /// The seals of the audit log, the first one first.
    package func auditSeals() throws -> [AuditSeal] {
        try self.connection.rows("SELECT \(Self.sealColumns) FROM audit_seal ORDER BY last_number", []).map { row in
            AuditSeal(
                period: try AuditPeriod(stored: row.text(0)), first: try row.integer(1), last: try row.integer(2),
                head: try row.text(3), previous: try row.text(4), entry: try row.integer(5))
        }
    }

    private static var sealColumns: String { "period, first_number, last_number, head, previous, entry" }

    static func entry(_ row: SQLRow) throws -> AuditEntry {
        AuditEntry(
            number: try row.integer(0), time: Timestamp(secondsSince1970: try row.integer(1)), actor: try row.text(2),
            action: try row.text(3), detail: try row.text(4), previous: try row.text(5))
    }
}

extension StoreTransaction {
    /// Adds what was done to the audit log, after its newest entry.
    package func log(_ action: String, _ detail: String, by actor: String, at time: Timestamp) throws {
        try self.connection.lock(.audit)
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

    /// Seals a period: the row, without its entry of the log.
    package func add(_ seal: AuditSeal) throws {
        try self.connection.execute(
            "INSERT INTO audit_seal (\(Self.sealColumns)) VALUES (?, ?, ?, ?, ?, ?)",
            [
                .text(seal.period.description), .integer(seal.first), .integer(seal.last), .text(seal.head),
                .text(seal.previous), .integer(seal.entry),
            ])
    }

    /// Keeps an envelope that proves something, by the digest of its payload.
    package func addEvidence(_ payload: String, of name: String, _ envelope: [UInt8], at time: Timestamp) throws {
        try self.connection.execute(
            "INSERT INTO evidence (digest, name, at, envelope) VALUES (?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING",
            [.text(payload), .text(name), .integer(time.secondsSince1970), .blob(envelope)])
    }

    /// Whether a payload is evidence already.
    package func hasEvidence(_ payload: String) throws -> Bool {
        try !self.connection.rows("SELECT 1 FROM evidence WHERE digest = ?", [.text(payload)]).isEmpty
    }

    /// The number of envelopes of a name that were kept within a day from a time on: what a wrong clock dated ahead is none
    /// of today's.
    package func evidenceCount(of name: String, onDayOf start: Timestamp) throws -> Int64 {
        try self.connection.rows(
            "SELECT COUNT(*) FROM evidence WHERE name = ? AND at >= ? AND at < ?",
            [.text(name), .integer(start.secondsSince1970), .integer(start.before(-86_400).secondsSince1970)]
        ).first?.integer(0) ?? 0
    }
}

extension StoreTransaction {
    /// The number of entries of an action that a token added within a day from a time on, counted up to a bound.
    package func auditEntryCount(
        of action: String, by actor: String, onDayOf start: Timestamp, upTo maximum: Int
    ) throws -> Int64 {
        try self.connection.rows(
            """
            SELECT COUNT(*) FROM (
                SELECT 1 FROM audit WHERE action = ? AND time >= ? AND time < ? AND actor = ? LIMIT ?
            ) AS entries
            """,
            [
                .text(action), .integer(start.secondsSince1970), .integer(start.before(-86_400).secondsSince1970),
                .text(actor), .integer(Int64(maximum)),
            ]
        ).first?.integer(0) ?? 0
    }
}
