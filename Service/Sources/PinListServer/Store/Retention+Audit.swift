// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Logging

extension Retention {
    /// The most months that one look seals. Usually there is one in a month; a log from before there were seals has more.
    static let mostSeals = 240
    /// The most entries that are read at once for verifying a month.
    static let auditPage: Int64 = 1_000

    /// Seals the months of the audit log that are over, and removes what is older than `retention.auditDays`: evidence, and
    /// the entries of sealed months. A log that does not verify is neither sealed nor shortened.
    func lookAtAudit() async {
        do {
            let now = self.clock.now
            let cutoff = now.before(self.limits.auditDays * 86_400)
            if try await self.store.read({ try $0.hasEvidence(before: cutoff) }) {
                try await self.store.write { try $0.removeEvidence(before: cutoff) }
            }
            var seals = 0
            while seals < Self.mostSeals, try await self.sealNext(now) { seals += 1 }
            var batches = 0
            while batches < Self.mostBatches,
                try await self.store.read({ try $0.lastRemovableAudit(before: cutoff) }) != nil
            {
                try await self.store.write { try $0.removeAudit(before: cutoff, limit: Self.batch) }
                batches += 1
            }
        } catch let error as AuditChain.Break {
            self.logger.error(
                "the audit log does not hold: \(error); nothing of it is removed; see tumbler audit-log verify")
        } catch { self.logger.warning("the audit log could not be sealed or shortened: \(error)") }
    }

    /// Seals the oldest month that is over and not sealed.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``AuditChain/Break`` when its entries do not follow each other; ``StoreError``.
    private func sealNext(_ now: Timestamp) async throws -> Bool {
        let found = try await self.store.read { store in
            let seals = try store.auditSeals()
            return try store.closedPeriod(after: seals.last, at: now).map { (seals: seals, period: $0.0, last: $0.1) }
        }
        guard let found else { return false }
        var chain = AuditChain(seals: found.seals)
        var next = (found.seals.last?.last ?? 0) + 1
        while next <= found.last {
            let (from, limit) = (next, Int(clamping: min(Self.auditPage, found.last - next + 1)))
            for entry in try await self.store.read({ try $0.auditEntries(from: from, limit: limit) }) {
                try chain.append(entry)
            }
            // One that is missing at the end of the page is missed here; one before it by the chain.
            guard chain.count >= from else {
                throw AuditChain.Break(number: from, description: "entry \(from) is missing")
            }
            next = chain.count + 1
        }
        let head = chain.head
        // What follows the month's last entry says that this entry, too, is as it was written.
        for entry in try await self.store.read({ try $0.auditEntries(from: found.last + 1, limit: 1) }) {
            guard entry.previous == head else {
                throw AuditChain.Break(
                    number: entry.number, description: "entry \(entry.number) does not follow the one before it")
            }
        }
        try await self.store.write { store in
            // Another instance may have been faster.
            guard try store.auditSeals() == found.seals else { return }
            try store.seal(found.period, to: found.last, head: head, after: found.seals.last, at: now)
        }
        return true
    }
}

extension StoreTransaction {
    /// The oldest month of the log that is over and not sealed, and the number of its last entry.
    ///
    /// A month ends in front of the first entry of a later one: an entry whose clock was behind belongs to a later month, and
    /// one whose clock was ahead by more than a day ends none.
    func closedPeriod(after seal: AuditSeal?, at now: Timestamp) throws -> (AuditPeriod, Int64)? {
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
    ///   - time: When.
    func seal(_ period: AuditPeriod, to last: Int64, head: String, after seal: AuditSeal?, at time: Timestamp) throws {
        let made = AuditSeal(
            period: period, first: (seal?.last ?? 0) + 1, last: last, head: head,
            previous: seal?.digest ?? AuditEntry.origin, entry: (try self.newestAuditEntry()?.number ?? 0) + 1)
        try self.log(AuditSeal.action, made.detail, by: "service", at: time)
        try self.add(made)
    }

    /// The number of the last entry that may go: of a month that was over at a time, and is sealed; `nil` when it is gone.
    func lastRemovableAudit(before cutoff: Timestamp) throws -> Int64? {
        let last = try self.auditSeals().last { $0.period.end <= cutoff }?.last
        guard let last, let oldest = try self.oldestAuditNumber(), oldest <= last else { return nil }
        return last
    }

    /// Removes the oldest entries of the audit log, of months that were over at a time.
    func removeAudit(before cutoff: Timestamp, limit: Int) throws {
        guard let last = try self.lastRemovableAudit(before: cutoff) else { return }
        try self.connection.execute(
            "DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE number <= ? ORDER BY number LIMIT ?)",
            [.integer(last), .integer(Int64(limit))])
    }

    /// Whether there is evidence from before a time.
    func hasEvidence(before cutoff: Timestamp) throws -> Bool {
        try !self.connection.rows("SELECT 1 FROM evidence WHERE at < ? LIMIT 1", [.integer(cutoff.secondsSince1970)])
            .isEmpty
    }

    /// Removes evidence from before a time.
    func removeEvidence(before cutoff: Timestamp) throws {
        try self.connection.execute("DELETE FROM evidence WHERE at < ?", [.integer(cutoff.secondsSince1970)])
    }
}
