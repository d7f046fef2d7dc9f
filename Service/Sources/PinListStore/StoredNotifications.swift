// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
internal import PinReportAnalysis

/// A notification that is to be sent to a target.
package struct StoredNotification: Hashable, Sendable {
    /// The number of the notification.
    package let number: Int64
    /// The name of the target.
    package let target: String
    /// The event, as ``AlarmEvent/json`` writes it.
    package let body: [UInt8]
    /// The time at which it was made.
    package let madeAt: Timestamp
    /// The number of attempts, this one included.
    package let attempts: Int64
}

/// The result of the last attempt to notify a target.
package struct StoredDelivery: Hashable, Sendable {
    /// The time of the attempt.
    package let at: Timestamp
    /// The error; `nil` when there was none.
    package let trouble: String?
    /// The number of its notifications that were given up so far.
    package let lost: Int64
}

/// A target that notifications are for, or that an instance knows.
package struct StoredTarget: Hashable, Sendable {
    /// The name of the target.
    package let name: String
    /// The time at which an instance last said that it knows it; `nil` when none did since that was forgotten.
    package let seenAt: Timestamp?
    /// The number of notifications that wait for it.
    package let waiting: Int64

    /// States a target.
    package init(name: String, seenAt: Timestamp?, waiting: Int64) {
        self.name = name
        self.seenAt = seenAt
        self.waiting = waiting
    }

    /// Whether an instance that runs knows it.
    package func isKnown(at now: Timestamp) -> Bool {
        self.seenAt.map { now.secondsSince1970 - $0.secondsSince1970 <= 2 * StoreTransaction.targetsKeptEvery } ?? false
    }
}

extension StoreTransaction {
    /// The interval at which an instance says which targets it knows, in seconds.
    static var targetsKeptEvery: Int64 { 300 }
    /// The time for which a target that no instance knows any more still gets notifications, in seconds, and for which
    /// its notifications wait for an instance that does: a day.
    static var targetsKept: Int64 { 86_400 }
    /// The maximum wait of a notification for its next attempt, in seconds.
    package static var maximumWait: Int64 { 1_800 }

    /// Says which targets an instance knows, at the shared time: the clocks of others read it. Writes where that was said
    /// over ``targetsKeptEvery`` seconds ago alone.
    package func keepTargets(_ names: [String], of instance: String, at now: Timestamp) throws {
        let latest = try self.latestTime(by: now)
        let now = try self.sharedTime(by: now)
        let rows = try self.connection.rows(
            "SELECT name, seen_at FROM alert_target WHERE instance = ?", [.text(instance)])
        let kept = Dictionary(
            try rows.map { (try $0.text(0), try $0.integer(1)) }, uniquingKeysWith: { first, _ in first })
        for name in names {
            if let seen = kept[name], (0..<Self.targetsKeptEvery).contains(now.secondsSince1970 - seen) { continue }
            // Of instances that are gone, of targets that were taken out of every configuration, and of wrong clocks.
            try self.connection.execute(
                "DELETE FROM alert_target WHERE seen_at <= ? OR seen_at > ?",
                [
                    .integer(now.before(2 * Self.targetsKept).secondsSince1970),
                    .integer(latest.before(-BelievedTime.step).secondsSince1970),
                ])
            try self.connection.execute(
                """
                INSERT INTO alert_target (name, instance, seen_at) VALUES (?, ?, ?)
                ON CONFLICT (name, instance) DO UPDATE SET seen_at = excluded.seen_at
                """, [.text(name), .text(instance), .integer(now.secondsSince1970)])
        }
    }

    /// The names of the targets that some instance knew within ``targetsKept`` seconds.
    package func knownTargets(at now: Timestamp) throws -> [String] {
        let now = try self.sharedTime(by: now)
        return try self.connection.rows(
            "SELECT DISTINCT name FROM alert_target WHERE seen_at > ? ORDER BY name",
            [.integer(now.before(Self.targetsKept).secondsSince1970)]
        ).map { try $0.text(0) }
    }

    /// All targets that are known, or that something waits for.
    package func targets() throws -> [StoredTarget] {
        let seen = try self.connection.rows("SELECT name, MAX(seen_at) FROM alert_target GROUP BY name", [])
            .map { (try $0.text(0), Timestamp(secondsSince1970: try $0.integer(1))) }
        let waiting = try self.connection.rows("SELECT target, COUNT(*) FROM notification GROUP BY target", [])
            .map { (try $0.text(0), try $0.integer(1)) }
        let (times, counts) = (Dictionary(uniqueKeysWithValues: seen), Dictionary(uniqueKeysWithValues: waiting))
        return Set(times.keys).union(counts.keys).sorted().map { name in
            StoredTarget(name: name, seenAt: times[name], waiting: counts[name] ?? 0)
        }
    }

    // MARK: Notifications

    /// Has something sent.
    package func notify(_ target: String, _ body: [UInt8], at time: Timestamp) throws {
        try self.connection.execute(
            "INSERT INTO notification (target, body, made_at, attempts, next_at) VALUES (?, ?, ?, 0, ?)",
            [.text(target), .blob(body), .integer(time.secondsSince1970), .integer(time.secondsSince1970)])
    }

    /// Forgets what was tried to be sent to a target and did not get through, where a condition holds.
    ///
    /// - Returns: The notification.
    @discardableResult
    package func withdrawNotifications(to target: String, where isOld: ([UInt8]) -> Bool) throws -> [[UInt8]] {
        var withdrawn: [[UInt8]] = []
        for row in try self.connection.rows(
            "SELECT number, body FROM notification WHERE target = ? AND attempts > 0 ORDER BY number", [.text(target)])
        {
            let body = try row.blob(1)
            guard isOld(body) else { continue }
            try self.removeNotification(try row.integer(0))
            withdrawn.append(body)
        }
        return withdrawn
    }

    /// The notifications that wait to be sent to a target and were made before another one.
    package func notifications(to target: String, before number: Int64) throws -> [[UInt8]] {
        try self.connection.rows(
            "SELECT body FROM notification WHERE target = ? AND number < ? ORDER BY number",
            [.text(target), .integer(number)]
        ).map { try $0.blob(0) }
    }

    /// Takes what is due for some targets, for this instance alone until a time.
    ///
    /// What waits for half a day longer than anything has to was put off by a wrong clock, and is due: less may be the lease or
    /// the wait of an instance whose clock differs. What such a clock dated ahead is
    /// as old as its first attempt.
    package func takeNotifications(
        for targets: [String], due now: Timestamp, until lease: Timestamp, limit: Int
    ) throws -> [StoredNotification] {
        guard !targets.isEmpty else { return [] }
        let marks = targets.map { _ in "?" }.joined(separator: ", ")
        let clock = try self.latestTime(by: now)
        let latest = clock.before(-Self.maximumWait - BelievedTime.step)
        let values: [SQLValue] =
            [.integer(now.secondsSince1970), .integer(latest.secondsSince1970)]
            + targets.map { SQLValue.text($0) } + [.integer(Int64(limit))]
        let rows = try self.connection.rows(
            """
            SELECT number, target, body, made_at, attempts FROM notification
            WHERE (next_at <= ? OR next_at > ?) AND target IN (\(marks)) ORDER BY next_at, number LIMIT ?
            """, values)
        return try rows.map { row in
            let made = Timestamp(secondsSince1970: try row.integer(3))
            let notification = StoredNotification(
                number: try row.integer(0), target: try row.text(1), body: try row.blob(2),
                madeAt: made > clock.before(-BelievedTime.step) ? clock : made, attempts: try row.integer(4) + 1)
            try self.connection.execute(
                "UPDATE notification SET next_at = ?, made_at = ?, attempts = attempts + 1 WHERE number = ?",
                [
                    .integer(lease.secondsSince1970), .integer(notification.madeAt.secondsSince1970),
                    .integer(notification.number),
                ])
            return notification
        }
    }

    /// Gives up what was made over a day ago for targets that no instance has known for that long, by the believed time.
    ///
    /// - Parameter known: The targets that this instance knows.
    /// - Returns: The targets, each with how many notifications were given up.
    package func loseNotifications(butFor known: Set<String>, at now: Timestamp) throws -> [(
        target: String, count: Int64
    )] {
        let day = SQLValue.integer(try self.believedTime(by: now).before(Self.targetsKept).secondsSince1970)
        // What a wrong clock dated ahead was made when an instance knew its target: over a day ago as well.
        let ahead = SQLValue.integer(try self.latestTime(by: now).before(-BelievedTime.step).secondsSince1970)
        let isOld = "(made_at <= ? OR made_at > ?)"
        let condition = """
            \(isOld) AND NOT EXISTS (
                SELECT 1 FROM alert_target WHERE alert_target.name = notification.target AND seen_at > ?)
            """
        let lost = try self.connection.rows(
            "SELECT target, COUNT(*) FROM notification WHERE \(condition) GROUP BY target ORDER BY target",
            [day, ahead, day]
        ).map { (target: try $0.text(0), count: try $0.integer(1)) }.filter { !known.contains($0.target) }
        for (target, count) in lost {
            try self.connection.execute(
                "DELETE FROM notification WHERE target = ? AND \(isOld)", [.text(target), day, ahead])
            try self.putDelivery(
                to: target, at: now, trouble: "no instance has known this target for a day", losing: count)
        }
        return lost
    }

    /// Keeps how the last attempt to tell a target went.
    ///
    /// - Parameters:
    ///   - trouble: The error; `nil` when there was none.
    ///   - count: The number of notifications that are given up with it.
    package func putDelivery(to target: String, at time: Timestamp, trouble: String?, losing count: Int64 = 0) throws {
        try self.connection.execute(
            """
            INSERT INTO delivery (target, at, trouble, lost) VALUES (?, ?, ?, ?)
            ON CONFLICT (target) DO UPDATE SET at = excluded.at, trouble = excluded.trouble,
                lost = delivery.lost + excluded.lost
            """,
            [.text(target), .integer(time.secondsSince1970), trouble.map { .text($0) } ?? .null, .integer(count)])
    }

    /// The results of the last attempts, by target.
    package func deliveries() throws -> [String: StoredDelivery] {
        let rows = try self.connection.rows("SELECT target, at, trouble, lost FROM delivery", [])
        return Dictionary(
            try rows.map { row in
                (
                    try row.text(0),
                    StoredDelivery(
                        at: Timestamp(secondsSince1970: try row.integer(1)), trouble: try row.optionalText(2),
                        lost: try row.integer(3))
                )
            }
        ) { first, _ in first }
    }

    /// Tries something again later.
    package func postpone(_ number: Int64, until time: Timestamp) throws {
        try self.connection.execute(
            "UPDATE notification SET next_at = ? WHERE number = ?", [.integer(time.secondsSince1970), .integer(number)])
    }

    /// Forgets what was sent, or given up.
    package func removeNotification(_ number: Int64) throws {
        try self.connection.execute("DELETE FROM notification WHERE number = ?", [.integer(number)])
    }
}
