// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinReportAnalysis

/// Makes the groups of a batch that are not there yet, within a transaction that holds ``StoreLock/groups``: without it
/// reports are only counted in groups and overflows that are there.
struct GroupMaking {
    /// The maximum number of groups of each part that leave for those of one batch. A flood of new groups would have each of
    /// them look for one that leaves; the rest is counted in the overflow. Invented groups use up no other part's.
    static let maximumLeaving = 100

    private struct Source: Hashable {
        let share: GroupQuota.Share?
        let part: GroupQuota.Part
    }

    let store: StoreTransaction
    /// The groups by id, those that were made among them.
    private(set) var known: [String: KnownGroup]
    private var quota: GroupQuota
    private var counts: [GroupQuota.Share: Int] = [:]
    private var leaving: [Source: ArraySlice<Int64>] = [:]
    private var left: [GroupQuota.Part: Int] = [:]

    /// Begins with what is there.
    init(store: StoreTransaction, known: [String: KnownGroup], quota: GroupQuota) {
        (self.store, self.known, self.quota) = (store, known, quota)
    }

    /// Makes the group of a report, where there is none.
    mutating func expect(_ report: AcceptedReport) throws {
        let group = report.group
        if let known = self.known[group.id] {
            guard report.isListed, !known.isListed else { return }
            try self.store.setListed(known.number)
            self.known[group.id] = KnownGroup(number: known.number, bodies: known.bodies, isListed: true)
            return
        }
        self.known[group.id] =
            try self.hasRoom(for: report)
            ? try self.store.insert(report, as: group) : try self.overflow(of: report)
    }

    /// Has the overflow of a group count a report, where the group is not there.
    mutating func countInOverflow(_ report: AcceptedReport) throws {
        guard self.known[report.group.id] == nil else { return }
        self.known[report.group.id] = try self.overflow(of: report)
    }

    private mutating func hasRoom(for report: AcceptedReport) throws -> Bool {
        let share = GroupQuota.Share(of: report.group, isListed: report.isListed)
        let count = try self.counts[share] ?? self.store.groupCount(of: share)
        self.counts[share] = count
        switch self.quota.room(for: share, holding: count) {
        case .free:
            self.quota.add(share)
            self.counts[share] = count + 1
            return true
        case .whenOneLeaves(let scope):
            guard try self.oneLeaves(share, scope, at: report.receivedAt) else { return false }
            if scope == .part { self.counts[share] = count + 1 }
            return true
        }
    }

    /// Has one group leave. Its share may be counted too high then, until the batch is over.
    private mutating func oneLeaves(
        _ share: GroupQuota.Share, _ scope: GroupQuota.Scope, at now: Timestamp
    ) throws -> Bool {
        let source = Source(share: scope == .share ? share : nil, part: share.part)
        var candidates =
            try self.leaving[source]
            ?? self.store.leavingGroups(of: share, in: scope, at: now, limit: Self.maximumLeaving)[...]
        defer { self.leaving[source] = candidates }
        while self.left[share.part, default: 0] < Self.maximumLeaving, let number = candidates.popFirst() {
            guard !self.known.values.contains(where: { $0.number == number }),
                // Its networks were looked at: one that is new since then came with a report, which is its last one.
                try self.store.removeGroup(
                    number,
                    if: { reports, lastAt in
                        GroupQuota.mayLeave(reports: reports, lastAt: Timestamp(secondsSince1970: lastAt), at: now)
                    })
            else { continue }
            self.left[share.part, default: 0] += 1
            return true
        }
        return false
    }

    private mutating func overflow(of report: AcceptedReport) throws -> KnownGroup {
        let group = report.group.overflow(isListed: report.isListed)
        let known =
            try self.known[group.id] ?? self.store.knownGroups([group.id])[group.id]
            ?? self.store.insert(report, as: group)
        self.known[group.id] = known
        return known
    }
}
