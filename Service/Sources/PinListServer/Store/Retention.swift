// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Logging
internal import ServiceLifecycle

/// Forgets what is older than the configuration says, and the oldest of what is more.
struct Retention: Service {
    /// How often it looks.
    static let interval: Duration = .seconds(600)
    /// The most reports that one transaction forgets: nobody waits long for it.
    static let batch = 5_000
    /// The most transactions of one look.
    static let mostBatches = 200

    let store: any ServiceStore
    let limits: ServiceConfiguration.Retention
    let clock: any ServiceClock
    let logger: Logger

    func run() async throws { await Interval.each(Self.interval) { await self.look() } }

    /// Looks, and forgets.
    func look() async {
        do {
            let cutoff = self.clock.now.before(self.limits.days * 86_400)
            var batches = 0
            while batches < Self.mostBatches,
                try await self.store.write({ try $0.removeReports(before: cutoff, limit: Self.batch) }) > 0
            { batches += 1 }
            try await self.store.write { try $0.removeCounts(before: cutoff) }
            while batches < Self.mostBatches, try await self.store.size() > self.limits.megabytes * 1_000_000 {
                let removed = try await self.store.write { store in
                    try store.removeReports(before: Timestamp(secondsSince1970: .max), limit: Self.batch)
                }
                guard removed > 0 else { break }
                batches += 1
            }
        } catch { self.logger.warning("what is old could not be forgotten: \(error)") }
        await self.lookAtAudit()
    }
}

extension StoreTransaction {
    /// Forgets the oldest reports.
    ///
    /// - Returns: How many.
    func removeReports(before time: Timestamp, limit: Int) throws -> Int {
        let values: [SQLValue] = [.integer(time.secondsSince1970), .integer(Int64(limit))]
        let oldest = "SELECT number FROM report WHERE received_at < ? ORDER BY received_at, number LIMIT ?"
        try self.connection.execute("DELETE FROM report_body WHERE report IN (\(oldest))", values)
        return try self.connection.execute("DELETE FROM report WHERE number IN (\(oldest))", values)
    }

    /// Forgets what was counted, and groups and alarms that nothing is known of any more.
    func removeCounts(before time: Timestamp) throws {
        let (seconds, hour) = (SQLValue.integer(time.secondsSince1970), SQLValue.integer(time.hour))
        let old = "SELECT number FROM report_group WHERE last_at < ?"
        for table in ["group_hour", "group_leaf", "group_network"] {
            try self.connection.execute("DELETE FROM \(table) WHERE group_number IN (\(old))", [seconds])
        }
        try self.connection.execute("DELETE FROM report_group WHERE last_at < ?", [seconds])
        // Of groups that still fail, too.
        try self.connection.execute("DELETE FROM group_hour WHERE hour < ?", [hour])
        try self.connection.execute("DELETE FROM group_network WHERE day < ?", [.integer(time.hour / 24)])
        try self.connection.execute("DELETE FROM report_hour WHERE hour < ?", [hour])
        try self.connection.execute("DELETE FROM inquiry WHERE hour < ?", [hour])
        try self.connection.execute("DELETE FROM alarm WHERE ended_at < ?", [seconds])
    }
}
