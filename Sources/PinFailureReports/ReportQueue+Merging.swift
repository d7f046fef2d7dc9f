// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning

/// Merging of queues: several processes may store theirs in one place, and handshakes have one of their own.
extension ReportQueue {
    /// Merges with the stored queue, which another process may have changed.
    ///
    /// What either side sent is sent, and what either side gave up is gone. What either side added waits: after that which is
    /// stored, within the limits, as if it were added now. Where both changed the backoff of an address, the longer wait holds.
    ///
    /// - Parameters:
    ///   - stored: The stored queue.
    ///   - known: The stored queue as it was when this one last was equal to it or merged with it; empty where neither ever
    ///     was. Reports in it that one side lacks were removed there.
    ///   - now: The time.
    package mutating func merge(_ stored: ReportQueue, since known: ReportQueue = ReportQueue(), at now: Timestamp) {
        guard stored != known else { return }
        var mine = self
        self = stored
        // Neither number is negative.
        let drops = max(0, mine.droppedCount - known.droppedCount)
        self.droppedCount += min(drops, .max - self.droppedCount)
        mine.distrustClock(at: now)
        self.distrustClock(at: now)
        self.mergeSent(mine)
        self.mergeWaiting(mine, since: known, at: now)
        self.mergeBackoffs(mine, since: known, at: now)
        self.forget(at: now)
        self.forgetBackoffs()
    }

    /// Adds the reports of a queue of which nothing was sent yet.
    package mutating func add(_ arrived: ReportQueue, at now: Timestamp) {
        self.forget(at: now)
        var merged = arrived
        merged.merge(self, at: now)
        self = merged
    }

    private mutating func mergeSent(_ mine: ReportQueue) {
        for report in mine.sent {
            if let index = self.sent.firstIndex(where: { $0.identity.id == report.identity.id }) {
                if self.sent[index].time < report.time { self.sent[index] = report }
            } else {
                self.sent.append(report)
            }
        }
    }

    private mutating func mergeWaiting(_ mine: ReportQueue, since known: ReportQueue, at now: Timestamp) {
        func byID(_ queue: ReportQueue) -> [String: Waiting] {
            Dictionary(queue.waiting.map { ($0.identity.id, $0) }, uniquingKeysWith: { first, _ in first })
        }
        let (ours, before, theirs) = (byID(mine), byID(known), byID(self))
        let sent = Set(self.sent.map(\.identity.id))
        self.waiting.removeAll { report in
            let id = report.identity.id
            return sent.contains(id) || before[id] != nil && ours[id] == nil
        }
        for index in self.waiting.indices {
            let report = self.waiting[index]
            guard let our = ours[report.identity.id] else { continue }
            self.waiting[index].addedAt = Self.addedAt(report, our, at: now)
            if let before = before[report.identity.id], before.list == our.list, our.list == report.list {
                // It went to the addresses that are gone.
                let delivered = Set(before.addresses).subtracting(our.addresses)
                self.waiting[index].addresses.removeAll { delivered.contains($0) }
            }
            self.renew(index, with: our)
        }
        for report in self.waiting where report.addresses.isEmpty {
            self.sent.append(Sent(identity: report.identity, time: now))
        }
        self.waiting.removeAll { $0.addresses.isEmpty }
        self.sent.removeFirst(max(0, self.waiting.count + self.sent.count - ReportLimits.known))
        for report in mine.waiting {
            let id = report.identity.id
            guard theirs[id] == nil, before[id] == nil, !sent.contains(id) else { continue }
            _ = self.append(report, at: now)
        }
    }

    /// The time when a report that both sides have was added: the earlier one. Where it is too old by that, it was dropped on
    /// one side, and the other time is that of a new failure.
    private static func addedAt(_ stored: Waiting, _ our: Waiting, at now: Timestamp) -> Timestamp? {
        let times = [stored.addedAt, our.addedAt].compactMap { $0 }
        return times.filter { stored.isFirst || $0.after(ReportLimits.oldest) >= now }.min() ?? times.min()
    }

    private mutating func mergeBackoffs(_ mine: ReportQueue, since known: ReportQueue, at now: Timestamp) {
        for address in Set(mine.backoffs.keys).union(known.backoffs.keys) {
            let (ours, before) = (mine.backoffs[address], known.backoffs[address])
            guard ours != before else { continue }
            if let theirs = self.backoffs[address], theirs != before {
                guard let ours, ours.earliest(now) > theirs.earliest(now) else { continue }
            }
            self.backoffs[address] = ours
        }
    }
}
