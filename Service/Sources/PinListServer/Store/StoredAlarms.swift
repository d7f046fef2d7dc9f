// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// An alarm as it is kept.
public struct StoredAlarm: Hashable, Sendable {
    /// The alarm's key.
    public let key: String
    /// The alarm's kind.
    public let kind: String
    /// How urgent it is.
    public let severity: String
    /// What is the matter.
    public let detail: String
    /// Since when.
    public let since: Timestamp
    /// When it ended; `nil` while it lasts.
    public let endedAt: Timestamp?
}

/// Something that is to be sent to somebody.
struct StoredNotification: Hashable, Sendable {
    let number: Int64
    let target: String
    let body: [UInt8]
    let madeAt: Timestamp
    let attempts: Int64
}

/// How the last attempt to tell somebody went.
struct StoredDelivery: Hashable, Sendable {
    let at: Timestamp
    /// Why it failed; `nil` when it did not.
    let trouble: String?
}

extension StoreTransaction {
    private static var alarmColumns: String { "key, kind, severity, detail, since, ended_at" }

    /// The alarms that fire.
    func firingAlarms() throws -> [StoredAlarm] {
        try self.connection.rows(
            "SELECT \(Self.alarmColumns) FROM alarm WHERE ended_at IS NULL ORDER BY since, key", []
        ).map(Self.alarm)
    }

    /// The alarms that ended last.
    func endedAlarms(limit: Int) throws -> [StoredAlarm] {
        try self.connection.rows(
            "SELECT \(Self.alarmColumns) FROM alarm WHERE ended_at IS NOT NULL ORDER BY ended_at DESC, key LIMIT ?",
            [.integer(Int64(limit))]
        ).map(Self.alarm)
    }

    private static func alarm(_ row: SQLRow) throws -> StoredAlarm {
        StoredAlarm(
            key: try row.text(0), kind: try row.text(1), severity: try row.text(2), detail: try row.text(3),
            since: Timestamp(secondsSince1970: try row.integer(4)),
            endedAt: try row.optionalInteger(5).map { Timestamp(secondsSince1970: $0) })
    }

    /// Begins an alarm, or says of one that fires what it is now.
    func put(_ alarm: Alarm, since time: Timestamp) throws {
        try self.connection.execute(
            """
            INSERT INTO alarm (key, kind, severity, detail, since, ended_at) VALUES (?, ?, ?, ?, ?, NULL)
            ON CONFLICT (key) DO UPDATE SET severity = excluded.severity, detail = excluded.detail,
                since = CASE WHEN alarm.ended_at IS NULL THEN alarm.since ELSE excluded.since END, ended_at = NULL
            """,
            [
                .text(alarm.key), .text(alarm.kind.rawValue), .text(alarm.severity.rawValue), .text(alarm.detail),
                .integer(time.secondsSince1970),
            ])
    }

    /// Ends an alarm.
    func endAlarm(_ key: String, at time: Timestamp) throws {
        try self.connection.execute(
            "UPDATE alarm SET ended_at = ? WHERE key = ?", [.integer(time.secondsSince1970), .text(key)])
    }

    /// Has something sent.
    func notify(_ target: String, _ body: [UInt8], at time: Timestamp) throws {
        try self.connection.execute(
            "INSERT INTO notification (target, body, made_at, attempts, next_at) VALUES (?, ?, ?, 0, ?)",
            [.text(target), .blob(body), .integer(time.secondsSince1970), .integer(time.secondsSince1970)])
    }

    /// Forgets what was tried to be sent to a target and did not get through, where a condition holds.
    func withdrawNotifications(to target: String, where isOld: ([UInt8]) -> Bool) throws {
        for row in try self.connection.rows(
            "SELECT number, body FROM notification WHERE target = ? AND attempts > 0", [.text(target)])
        where isOld(try row.blob(1)) { try self.removeNotification(try row.integer(0)) }
    }

    /// Takes what is due, for this instance alone until a time.
    func takeNotifications(due now: Timestamp, until lease: Timestamp, limit: Int) throws -> [StoredNotification] {
        let rows = try self.connection.rows(
            """
            SELECT number, target, body, made_at, attempts FROM notification WHERE next_at <= ? ORDER BY next_at, number
            LIMIT ?
            """, [.integer(now.secondsSince1970), .integer(Int64(limit))])
        return try rows.map { row in
            let notification = StoredNotification(
                number: try row.integer(0), target: try row.text(1), body: try row.blob(2),
                madeAt: Timestamp(secondsSince1970: try row.integer(3)), attempts: try row.integer(4) + 1)
            try self.connection.execute(
                "UPDATE notification SET next_at = ?, attempts = attempts + 1 WHERE number = ?",
                [.integer(lease.secondsSince1970), .integer(notification.number)])
            return notification
        }
    }

    /// Keeps how the last attempt to tell somebody went.
    ///
    /// - Parameter trouble: Why it failed; `nil` when it did not.
    func putDelivery(to target: String, at time: Timestamp, trouble: String?) throws {
        try self.connection.execute(
            """
            INSERT INTO delivery (target, at, trouble) VALUES (?, ?, ?)
            ON CONFLICT (target) DO UPDATE SET at = excluded.at, trouble = excluded.trouble
            """, [.text(target), .integer(time.secondsSince1970), trouble.map { .text($0) } ?? .null])
    }

    /// How the last attempt went, by target.
    func deliveries() throws -> [String: StoredDelivery] {
        let rows = try self.connection.rows("SELECT target, at, trouble FROM delivery", [])
        return Dictionary(
            try rows.map { row in
                (
                    try row.text(0),
                    StoredDelivery(
                        at: Timestamp(secondsSince1970: try row.integer(1)), trouble: try row.optionalText(2))
                )
            }
        ) { first, _ in first }
    }

    /// Tries something again later.
    func postpone(_ number: Int64, until time: Timestamp) throws {
        try self.connection.execute(
            "UPDATE notification SET next_at = ? WHERE number = ?", [.integer(time.secondsSince1970), .integer(number)])
    }

    /// Forgets what was sent, or given up.
    func removeNotification(_ number: Int64) throws {
        try self.connection.execute("DELETE FROM notification WHERE number = ?", [.integer(number)])
    }
}
