// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Logging
internal import NIOConcurrencyHelpers
internal import PinListStore
internal import PinReportAnalysis
internal import ServiceLifecycle

/// Forgets what is older than the configuration says, by the believed time, and the oldest of what is more.
struct Retention: Service {
    /// The interval of runs.
    static let interval: Duration = .seconds(600)
    /// The time for which an instance has the lease, in seconds: it looks twice meanwhile.
    static let lease: Int64 = 1_200
    /// The maximum number of rows that one transaction deletes, so that other writers wait only briefly.
    static let batch = 5_000
    /// The maximum number of transactions that one look makes of each kind, so that a look ends; the next one goes on.
    static let maximumBatches = 200
    /// The maximum number of reports that one statement counts, so that it takes no longer than it may.
    static let counted = 250_000
    /// The interval at which it logs what takes the room, in seconds.
    static let complaintInterval: Int64 = 3_600

    let store: any ServiceStore
    /// The instance that it belongs to.
    var instance = ""
    let limits: ServiceConfiguration.Retention
    let clock: any ServiceClock
    let logger: Logger
    /// The closure that gets the use of the database's room, each time that this instance looks.
    var seen: @Sendable (StoreRoom) -> Void = { _ in }

    private let complainedAt = NIOLockedValueBox<Timestamp?>(nil)

    func run() async throws { await Interval.each(Self.interval) { await self.look() } }

    /// Deletes what is too old, where this instance has the lease. Each step by itself: one that fails keeps no other from its
    /// work.
    func look() async {
        let now = self.clock.now
        var isOurs = false
        await self.step("whether it is this instance's turn to delete old data is unknown") {
            let instance = self.instance
            isOurs = try await self.store.write(as: .leases) { store in
                try store.takeLease("retention", for: instance, at: now, seconds: Self.lease)
            }
            if !isOurs { self.seen(try await self.room(at: now)) }
        }
        guard isOurs else { return }
        let today = now.hour / 24
        await self.step("the tables of the days of reports could not be made") {
            try await self.store.write(as: .retention) { try $0.makeReportDays([today, today + 1]) }
        }
        // Nothing is forgotten by a time that is not known.
        var believed: Timestamp?
        await self.step("the time by which old data is deleted is unknown") {
            believed = try await self.store.read { try $0.believedTime(by: now) }
        }
        if let believed { await self.forget(at: now, believed: believed) }
        await self.lookAtAudit()
    }

    /// Whether the service ends: then nothing more is begun, and the next look, of whichever instance, goes on.
    var isEnding: Bool { Task.isShuttingDownGracefully || Task.isCancelled }

    private func step(_ failure: String, _ body: () async throws -> Void) async {
        guard !self.isEnding else { return }
        do { try await body() } catch { self.logger.storeFailed(failure, error) }
    }

    /// Deletes batch by batch, each in a transaction of its own: other writers wait only briefly, no statement takes long, and
    /// what is deleted stays so when a later batch fails.
    private func delete(_ what: String, _ batch: @escaping @Sendable (StoreTransaction) throws -> Int) async {
        await self.step("old data could not be deleted (\(what))") {
            for _ in 0..<Self.maximumBatches where !self.isEnding {
                guard try await self.store.write(as: .retention, batch) > 0 else { return }
            }
        }
    }

    /// Deletes by age, and then by size.
    private func forget(at now: Timestamp, believed: Timestamp) async {
        await self.step("what instances counted could not be added up") {
            try await self.store.write(as: .retention) { try $0.foldCounts(before: believed.hour - 24) }
        }
        await self.forgetOld(before: believed.before(self.limits.days * 86_400), at: believed)
        await self.step("the oldest data could not be deleted, and the database is too large") {
            try await self.forgetMuch(at: now, today: believed.hour / 24)
        }
    }

    private func forgetOld(before cutoff: Timestamp, at now: Timestamp) async {
        await self.delete("reports") { try $0.removeReports(before: cutoff, limit: Self.batch) }
        // A rate is compared with that of a week, also where reports are kept for less.
        let rates = min(cutoff, now.before((HostRate.week + 1) * 3_600)).hour
        // Before their groups: then little is left that goes with a group.
        await self.deleteCounts(before: cutoff.hour, rates: rates)
        await self.delete("groups of reports") { try $0.removeGroups(before: cutoff, limit: Self.batch) }
        await self.delete("sightings") { store in
            try store.removeSightings(
                endedBefore: now.before(StoredSighting.keptAfterEnd), toldBefore: now.before(StoredSighting.kept),
                limit: Self.batch)
        }
        await self.delete("keys of installations") {
            try $0.removeAttestedKeys(unusedSince: cutoff, limit: Self.batch)
        }
        let others: [(String, @Sendable (StoreTransaction) throws -> Void)] = [
            ("bodies", { try $0.countNoBodies(before: cutoff) }),
            ("alarms", { try $0.removeAlarms(endedBefore: cutoff) }),
            ("rates of reports", { try $0.removeReportRates(before: rates) }),
            ("attestations", { try $0.removeAttestations(at: now) }),
        ]
        for (what, change) in others {
            await self.step("old data could not be deleted (\(what))") {
                try await self.store.write(as: .retention, change)
            }
        }
    }

    /// Deletes what was counted before an hour; of what rates are computed from, before another one.
    private func deleteCounts(before hour: Int64, rates: Int64) async {
        for table in CountTable.allCases {
            let end = [.reportHour, .inquiry].contains(table) ? rates : hour
            await self.delete(table.rawValue) { try $0.remove(table, before: end, limit: Self.batch) }
        }
    }

    /// Forgets the oldest of what is too much: counts, where they are most of it; else days of reports, then reports of
    /// today, and when there are none any more, counts.
    private func forgetMuch(at now: Timestamp, today: Int64) async throws {
        let room = try await self.room(at: now)
        self.seen(room)
        if let complaint = room.complaint { self.complain(complaint, room, at: now) }
        guard room.excess > 0 else { return }
        let reports = try await self.store.read { try $0.reportBytes(in: room) }
        if room.beginsWithCounts(besides: reports), try await self.forgetOldestCounts(before: today) { return }
        let removed = try await self.store.write(as: .retention) { store in
            try store.removeReportDays(of: room.excess, before: today)
        }
        guard removed == 0 else {
            return try await self.store.write(as: .retention) { try $0.countNoRemovedBodies() }
        }
        guard var surplus = try await self.surplus(in: room) else {
            _ = try await self.forgetOldestCounts(before: today)
            return
        }
        while surplus > 0, !self.isEnding {
            let limit = Int(clamping: min(surplus, Int64(Self.batch)))
            let removed = try await self.store.write(as: .retention) { try $0.removeOldestReports(limit: limit) }
            guard removed > 0 else { break }
            surplus -= Int64(removed)
        }
        try await self.store.write(as: .retention) { try $0.countNoRemovedBodies() }
    }

    /// Forgets the oldest tenth of the days that were counted, and never today.
    ///
    /// - Returns: Whether there are any before today.
    private func forgetOldestCounts(before today: Int64) async throws -> Bool {
        guard let end = try await self.store.read({ try $0.endOfOldestCounts(before: today) }) else { return false }
        await self.deleteCounts(before: end, rates: end)
        return true
    }

    /// The number of the oldest reports that this look deletes so that there is room; `nil` when there is none left.
    ///
    /// For where no day can go as a whole: they are all of today then, or days have no tables. Counted one by one: numbers
    /// have gaps where groups left, and a count that is too high would forget more than is needed. Counted part by part,
    /// and no further than a look deletes: a statement that counts all of a large day would be ended each time.
    private func surplus(in room: StoreRoom) async throws -> Int64? {
        let capacity = try await self.store.read { try $0.reportCapacity(in: room) }
        let most = Int64(Self.batch * Self.maximumBatches)
        var (count, last, surplus) = (Int64(0), Int64.min, Int64(0))
        while surplus < most, !self.isEnding {
            let after = last
            guard let part = try await self.store.read({ try $0.countReports(after: after, limit: Self.counted) })
            else { break }
            count += part.count
            last = part.last
            surplus = room.surplus(of: count, capacity: capacity)
        }
        return count > 0 ? min(surplus, most) : nil
    }

    private func room(at now: Timestamp) async throws -> StoreRoom {
        StoreRoom(sizes: try await self.store.sizes(), limit: self.limits.megabytes * 1_000_000, at: now)
    }

    private func complain(_ complaint: String, _ room: StoreRoom, at now: Timestamp) {
        let isDue = self.complainedAt.withLockedValue { last in
            if let last, last > now.before(Self.complaintInterval), last <= now { return false }
            last = now
            return true
        }
        guard isDue else { return }
        let what =
            room.excess > 0
            ? "the oldest reports and counts go as new ones come" : "nothing is forgotten for it; give it more room"
        self.logger.warning("\(complaint); \(what)")
    }
}
