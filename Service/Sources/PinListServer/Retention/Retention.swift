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
    /// The maximum number of reports that one transaction deletes, so that other writers wait only briefly.
    static let batch = 5_000
    /// The maximum number of transactions of one look, so that a look ends; the next one goes on.
    static let maximumBatches = 200
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

    /// Deletes what is too old, where this instance has the lease.
    func look() async {
        let now = self.clock.now
        do {
            let instance = self.instance
            let isOurs = try await self.store.write(as: .leases) { store in
                try store.takeLease("retention", for: instance, at: now, seconds: Self.lease)
            }
            guard isOurs else { return self.seen(try await self.room(at: now)) }
            let today = now.hour / 24
            try await self.store.write(as: .retention) { try $0.makeReportDays([today, today + 1]) }
            let believed = try await self.store.read { try $0.believedTime(by: now) }
            try await self.store.write(as: .retention) { try $0.foldCounts(before: believed.hour - 24) }
            try await self.store.write(as: .retention) { store in
                _ = try store.removeSightings(
                    endedBefore: believed.before(StoredSighting.keptAfterEnd),
                    toldBefore: believed.before(StoredSighting.kept))
            }
            try await self.forgetOld(before: believed.before(self.limits.days * 86_400), at: believed)
            try await self.forgetMuch(at: now, today: believed.hour / 24)
        } catch { self.logger.storeFailed("what is old could not be forgotten", error) }
        await self.lookAtAudit()
    }

    private func forgetOld(before cutoff: Timestamp, at now: Timestamp) async throws {
        for _ in 0..<Self.maximumBatches {
            let removed = try await self.store.write(as: .retention) { store in
                try store.removeReports(before: cutoff, limit: Self.batch)
            }
            guard removed > 0 else { break }
        }
        // A rate is compared with that of a week, also where reports are kept for less.
        let rates = min(cutoff, now.before((HostRate.week + 1) * 3_600)).hour
        try await self.store.write(as: .retention) { store in
            try store.removeCounts(before: cutoff)
            try store.removeReportRates(before: rates)
            try store.removeAttestations(unusedSince: cutoff, at: now)
        }
    }

    /// Forgets the oldest of what is too much: days of reports, then reports of today, and when there are none any more,
    /// counts.
    private func forgetMuch(at now: Timestamp, today: Int64) async throws {
        let room = try await self.room(at: now)
        self.seen(room)
        if let complaint = room.complaint { self.complain(complaint, room, at: now) }
        guard room.excess > 0 else { return }
        let removed = try await self.store.write(as: .retention) { store in
            try store.removeReportDays(of: room.excess, before: today)
        }
        guard removed == 0 else {
            return try await self.store.write(as: .retention) { try $0.countNoRemovedBodies() }
        }
        let surplus = try await self.store.read { try $0.surplusReports(in: room) }
        guard var surplus else {
            return try await self.store.write(as: .retention) { try $0.removeOldestCounts(before: today) }
        }
        for _ in 0..<Self.maximumBatches where surplus > 0 {
            let limit = Int(clamping: min(surplus, Int64(Self.batch)))
            let removed = try await self.store.write(as: .retention) { try $0.removeOldestReports(limit: limit) }
            guard removed > 0 else { break }
            surplus -= Int64(removed)
        }
        try await self.store.write(as: .retention) { try $0.countNoRemovedBodies() }
        // Counts that are too much by themselves: no report makes room for them.
        guard room.excess >= room.sizes["report"] ?? .max else { return }
        try await self.store.write(as: .retention) { try $0.removeOldestCounts(before: today) }
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
