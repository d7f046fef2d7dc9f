// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinReportAnalysis

extension StoreTransaction {
    /// The oldest month of the log that is over and not sealed, and the number of its last entry.
    ///
    /// A month ends in front of the first entry of a later one: an entry whose clock was behind belongs to a later month, and
    /// one whose clock was ahead by more than a day ends none.
    package func closedPeriod(after seal: AuditSeal?, at now: Timestamp) throws -> (AuditPeriod, Int64)? {
        let (last, latest) = (SQLValue.integer(seal?.last ?? 0), SQLValue.integer(now.before(-86_400).secondsSince1970))
        let oldest = try self.connection.rows(
            "SELECT time FROM audit WHERE number > ? AND time <= ? ORDER BY number LIMIT 1", [last, latest]
        ).first?.integer(0)
        guard let oldest else { return nil }
        var period = AuditPeriod(Timestamp(secondsSince1970: oldest))
        if let seal { period = max(period, seal.period.next) }
        guard period < AuditPeriod(now) else { return nil }
        let later = try self.connection.rows(
            "SELECT number FROM audit WHERE number > ? AND time >= ? AND time <= ? ORDER BY number LIMIT 1",
            [last, .integer(period.end.secondsSince1970), latest]
        ).first?.integer(0)
        return try (later.map { $0 - 1 } ?? self.newestAuditEntry()?.number).map { (period, $0) }
    }

    /// Seals a month: an entry of the log, and the row that lets its entries go.
    ///
    /// - Parameters:
    ///   - period: The month.
    ///   - last: The number of its last entry.
    ///   - head: The digest of that entry, which was verified.
    ///   - seal: The seal before.
    ///   - time: The time of removal.
    package func seal(_ period: AuditPeriod, to last: Int64, head: String, after seal: AuditSeal?, at time: Timestamp)
        throws
    {
        let made = AuditSeal(
            period: period, first: (seal?.last ?? 0) + 1, last: last, head: head,
            previous: seal?.digest ?? AuditEntry.origin, entry: (try self.newestAuditEntry()?.number ?? 0) + 1)
        try self.log(AuditSeal.action, made.detail, by: "service", at: time)
        try self.add(made)
    }

    /// The number of the last entry that may go: of a month that was over at a time, and is sealed; `nil` when it is gone.
    package func lastRemovableAudit(before cutoff: Timestamp) throws -> Int64? {
        let last = try self.auditSeals().last { $0.period.end <= cutoff }?.last
        guard let last, let oldest = try self.oldestAuditNumber(), oldest <= last else { return nil }
        return last
    }

    /// Removes the oldest entries of the audit log, of months that were over at a time.
    package func removeAudit(before cutoff: Timestamp, limit: Int) throws {
        guard let last = try self.lastRemovableAudit(before: cutoff) else { return }
        try self.connection.execute(
            "DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE number <= ? ORDER BY number LIMIT ?)",
            [.integer(last), .integer(Int64(limit))])
    }

    /// Whether there is evidence from before a time.
    package func hasEvidence(before cutoff: Timestamp) throws -> Bool {
        try !self.connection.rows("SELECT 1 FROM evidence WHERE at < ? LIMIT 1", [.integer(cutoff.secondsSince1970)])
            .isEmpty
    }

    /// Removes evidence from before a time.
    package func removeEvidence(before cutoff: Timestamp) throws {
        try self.connection.execute("DELETE FROM evidence WHERE at < ?", [.integer(cutoff.secondsSince1970)])
    }
}
