// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Logging
internal import PinListStore
internal import PinReportAnalysis

extension Retention {
    /// The maximum number of months that one look seals. Usually there is one in a month; a log from before there were
    /// seals has more.
    static let maximumSeals = 240
    /// The maximum number of entries that are read at once for verifying a month, so that a long month is not in memory
    /// at once.
    static let auditPage: Int64 = 1_000

    /// Seals the months of the audit log that are over, and removes what is older than `retention.auditDays`: evidence, and
    /// the entries of sealed months. A log that does not verify is neither sealed nor shortened.
    func lookAtAudit() async {
        guard !self.isEnding else { return }
        do {
            let clock = self.clock.now
            let now = try await self.store.read { try $0.believedTime(by: clock) }
            let cutoff = now.before(self.limits.auditDays * 86_400)
            if try await self.store.read({ try $0.hasEvidence(before: cutoff) }) {
                try await self.store.write { try $0.removeEvidence(before: cutoff) }
            }
            var seals = 0
            while seals < Self.maximumSeals, !self.isEnding, try await self.sealNext(now) { seals += 1 }
            var batches = 0
            while batches < Self.maximumBatches, !self.isEnding,
                try await self.store.read({ try $0.lastRemovableAudit(before: cutoff) }) != nil
            {
                try await self.store.write { try $0.removeAudit(before: cutoff, limit: Self.batch) }
                batches += 1
            }
        } catch let error as AuditChain.VerificationError {
            self.logger.error(
                "the audit log does not verify: \(error); no entry of it is removed; see tumbler audit-log verify")
        } catch { self.logger.storeFailed("the audit log could not be sealed or shortened", error) }
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
                throw AuditChain.VerificationError(number: from, description: "entry \(from) is missing")
            }
            next = chain.count + 1
        }
        let head = chain.head
        // The entry after the month's last one says that this entry, too, is as it was written.
        for entry in try await self.store.read({ try $0.auditEntries(from: found.last + 1, limit: 1) }) {
            guard entry.previous == head else {
                throw AuditChain.VerificationError(
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
