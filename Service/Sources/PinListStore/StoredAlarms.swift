// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinReportAnalysis

/// An alarm as it is kept.
package struct StoredAlarm: Hashable, Sendable {
    /// An acknowledgement: a person has seen an alarm.
    package struct Acknowledgement: Hashable, Sendable {
        /// The time of the acknowledgement.
        package let at: Timestamp
        /// The id of the token.
        package let by: String

        /// States who has seen it, and when.
        package init(at: Timestamp, by: String) {
            self.at = at
            self.by = by
        }
    }

    /// The alarm's key.
    package let key: String
    /// The alarm's kind.
    package let kind: String
    /// The severity of the alarm.
    package let severity: String
    /// The problem.
    package let detail: String
    /// The time since which it fires.
    package let since: Timestamp
    /// The time at which it ended; `nil` while it lasts.
    package let endedAt: Timestamp?
    /// The number of the message that tells of it; `nil` before people were told, and after they were told of its end.
    package let message: Int64?
    /// The severity that the message named last; `nil` before that; ``silenced`` while a silence covers it, until that is
    /// over and people are told again.
    package let told: String?
    /// The acknowledgement; `nil` while there is none. An acknowledgement ends with the alarm, and when that becomes
    /// more urgent or grows tenfold.
    package let acknowledgement: Acknowledgement?
    /// The greatest ``Alarm/count`` since it fires as urgently as it does.
    package var count: Int64 = 0
    /// The count when people were last told of it or acknowledged it; 0 before that.
    package var toldCount: Int64 = 0

    /// The value of ``told`` for what a silence covers.
    package static let silenced = "silenced"

    /// Whether a silence covered it at the last look.
    package var isSilenced: Bool { self.told == Self.silenced }

    /// Whether it grew tenfold since people were told of it or acknowledged it.
    package var hasGrown: Bool { self.toldCount > 0 && self.count / 10 >= self.toldCount }
}

/// A message about alarms of one kind whose end was not told yet: what a pager knows as one incident.
package struct StoredAlarmMessage: Hashable, Sendable {
    /// The number of the message.
    package let number: Int64
    /// The key that every notification of it carries: that of its first alarm.
    package let key: String
    /// The kind of its alarms.
    package let kind: String
    /// The severity that it named last.
    package let severity: String
    /// The time of the first notification.
    package let begunAt: Timestamp
    /// The earliest time of the next notification of alarms that joined or ended.
    package let nextAt: Timestamp
}

extension StoreTransaction {
    private static var alarmColumns: String {
        "key, kind, severity, detail, since, ended_at, message, told, acknowledged_at, acknowledged_by, "
            + "count, told_count"
    }

    /// The alarms that fire.
    package func firingAlarms() throws -> [StoredAlarm] {
        try self.connection.rows(
            "SELECT \(Self.alarmColumns) FROM alarm WHERE ended_at IS NULL ORDER BY since, key", []
        ).map(Self.alarm)
    }

    /// The alarms that fire, and those whose end was not told yet.
    package func untoldAlarms() throws -> [StoredAlarm] {
        try self.connection.rows(
            "SELECT \(Self.alarmColumns) FROM alarm WHERE ended_at IS NULL OR message IS NOT NULL ORDER BY key", []
        ).map(Self.alarm)
    }

    /// The alarms that ended last.
    package func endedAlarms(limit: Int) throws -> [StoredAlarm] {
        try self.connection.rows(
            "SELECT \(Self.alarmColumns) FROM alarm WHERE ended_at IS NOT NULL ORDER BY ended_at DESC, key LIMIT ?",
            [.integer(Int64(limit))]
        ).map(Self.alarm)
    }

    private static func alarm(_ row: SQLRow) throws -> StoredAlarm {
        let by = try row.optionalText(9)
        return StoredAlarm(
            key: try row.text(0), kind: try row.text(1), severity: try row.text(2), detail: try row.text(3),
            since: Timestamp(secondsSince1970: try row.integer(4)),
            endedAt: try row.optionalInteger(5).map { Timestamp(secondsSince1970: $0) },
            message: try row.optionalInteger(6), told: try row.optionalText(7),
            acknowledgement: try row.optionalInteger(8).map {
                StoredAlarm.Acknowledgement(at: Timestamp(secondsSince1970: $0), by: by ?? "")
            }, count: try row.integer(10), toldCount: try row.integer(11))
    }

    /// Begins an alarm, or says of one that fires what it is now. What fires again before its end was told goes on in
    /// its message, and so does the count that people were told: it grows from that.
    package func put(_ alarm: Alarm, since time: Timestamp) throws {
        try self.connection.execute(
            """
            INSERT INTO alarm (key, kind, severity, detail, since, ended_at, count) VALUES (?, ?, ?, ?, ?, NULL, ?)
            ON CONFLICT (key) DO UPDATE SET severity = excluded.severity, detail = excluded.detail,
                count = CASE WHEN alarm.ended_at IS NULL AND alarm.severity = excluded.severity
                    AND alarm.count > excluded.count THEN alarm.count ELSE excluded.count END,
                told_count = CASE WHEN alarm.message IS NOT NULL
                    OR (alarm.ended_at IS NULL AND alarm.severity = excluded.severity)
                    THEN alarm.told_count ELSE 0 END,
                since = CASE WHEN alarm.ended_at IS NULL THEN alarm.since ELSE excluded.since END, ended_at = NULL
            """,
            [
                .text(alarm.key), .text(alarm.kind.rawValue), .text(alarm.severity.rawValue), .text(alarm.detail),
                .integer(time.secondsSince1970), .integer(alarm.count),
            ])
    }

    /// Ends an alarm, and its acknowledgement.
    package func endAlarm(_ key: String, at time: Timestamp) throws {
        try self.connection.execute(
            "UPDATE alarm SET ended_at = ?, acknowledged_at = NULL, acknowledged_by = NULL WHERE key = ?",
            [.integer(time.secondsSince1970), .text(key)])
    }

    /// Stores the acknowledgement of an alarm, or that it no longer counts.
    ///
    /// - Returns: Whether it fires.
    @discardableResult
    package func putAcknowledgement(_ acknowledgement: StoredAlarm.Acknowledgement?, of key: String) throws -> Bool {
        try self.connection.execute(
            """
            UPDATE alarm SET acknowledged_at = ?, acknowledged_by = ?
                \(acknowledgement == nil ? "" : ", told_count = count") WHERE key = ? AND ended_at IS NULL
            """,
            [
                acknowledgement.map { .integer($0.at.secondsSince1970) } ?? .null,
                acknowledgement.map { .text($0.by) } ?? .null, .text(key),
            ]) == 1
    }

    // MARK: Messages

    /// The messages whose end was not told yet, in the order in which they began.
    package func alarmMessages() throws -> [StoredAlarmMessage] {
        try self.connection.rows(
            "SELECT number, key, kind, severity, begun_at, next_at FROM alarm_message ORDER BY number", []
        ).map { row in
            StoredAlarmMessage(
                number: try row.integer(0), key: try row.text(1), kind: try row.text(2), severity: try row.text(3),
                begunAt: Timestamp(secondsSince1970: try row.integer(4)),
                nextAt: Timestamp(secondsSince1970: try row.integer(5)))
        }
    }

    /// Begins a message.
    ///
    /// - Returns: Its number.
    package func addAlarmMessage(
        key: String, kind: String, severity: Alarm.Severity, at time: Timestamp, nextAt: Timestamp
    ) throws -> Int64 {
        try self.connection.execute(
            "INSERT INTO alarm_message (key, kind, severity, begun_at, next_at) VALUES (?, ?, ?, ?, ?)",
            [
                .text(key), .text(kind), .text(severity.rawValue), .integer(time.secondsSince1970),
                .integer(nextAt.secondsSince1970),
            ])
        let rows = try self.connection.rows("SELECT MAX(number) FROM alarm_message WHERE key = ?", [.text(key)])
        guard let row = rows.first else {
            throw StoreError(.damaged, "a message that was written is not there")
        }
        return try row.integer(0)
    }

    /// Makes an alarm a part of a message; of none for `nil`.
    package func join(_ key: String, to message: Int64?) throws {
        try self.connection.execute(
            "UPDATE alarm SET message = ?, told = NULL WHERE key = ?",
            [message.map { .integer($0) } ?? .null, .text(key)])
    }

    /// Notes that a message told of all its alarms: those that fire stay in it, and those that ended leave it.
    package func putTold(_ message: Int64, _ severity: Alarm.Severity, nextAt: Timestamp) throws {
        try self.connection.execute(
            "UPDATE alarm SET message = NULL, told = NULL WHERE message = ? AND ended_at IS NOT NULL",
            [.integer(message)])
        try self.connection.execute(
            "UPDATE alarm SET told = severity, told_count = count WHERE message = ?", [.integer(message)])
        try self.connection.execute(
            "UPDATE alarm_message SET severity = ?, next_at = ? WHERE number = ?",
            [.text(severity.rawValue), .integer(nextAt.secondsSince1970), .integer(message)])
    }

    /// Sets what people were told of an alarm: its severity, or that it is silenced.
    package func put(told: String, of key: String) throws {
        try self.connection.execute("UPDATE alarm SET told = ? WHERE key = ?", [.text(told), .text(key)])
    }

    /// Brings the next notification of a message forward.
    package func bringForward(_ message: Int64, to time: Timestamp) throws {
        try self.connection.execute(
            "UPDATE alarm_message SET next_at = ? WHERE number = ?",
            [.integer(time.secondsSince1970), .integer(message)])
    }

    /// Ends a message, and takes its alarms out of it.
    package func removeAlarmMessage(_ message: Int64) throws {
        try self.connection.execute(
            "UPDATE alarm SET message = NULL, told = NULL WHERE message = ?", [.integer(message)])
        try self.connection.execute("DELETE FROM alarm_message WHERE number = ?", [.integer(message)])
    }
}
