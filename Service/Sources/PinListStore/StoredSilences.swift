// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import CertificatePinning
package import PinReportAnalysis

/// A silence: an alarm, or a kind of alarms, sends no notification until a time.
package struct StoredSilence: Hashable, Sendable {
    /// The key of an alarm, or a kind.
    package let what: String
    /// The most urgent that is silenced: what is more urgent rings anyway.
    package let severity: Alarm.Severity
    /// The time at which it ends.
    package let endsAt: Timestamp
    /// The time at which it was made.
    package let madeAt: Timestamp
    /// The id of the token that made it.
    package let madeBy: String
    /// The reason.
    package let reason: String

    /// States a silence.
    package init(
        what: String, severity: Alarm.Severity, endsAt: Timestamp, madeAt: Timestamp, madeBy: String, reason: String
    ) {
        self.what = what
        self.severity = severity
        self.endsAt = endsAt
        self.madeAt = madeAt
        self.madeBy = madeBy
        self.reason = reason
    }

    /// Whether it keeps an alarm quiet. A severity that this version does not know is never kept quiet.
    func covers(key: String, kind: String, severity: String) -> Bool {
        guard let severity = Alarm.Severity(rawValue: severity) else { return false }
        return (self.what == key || self.what == kind) && severity <= self.severity
    }
}

extension [StoredSilence] {
    /// The silence that keeps an alarm quiet, the one that ends last; `nil` when none does.
    package func covering(_ alarm: StoredAlarm) -> StoredSilence? {
        self.filter { $0.covers(key: alarm.key, kind: alarm.kind, severity: alarm.severity) }
            .max { $0.endsAt < $1.endsAt }
    }
}

extension StoreTransaction {
    /// The silences that are not over, the first to end first. One that is dated over half a day ahead was made by a wrong
    /// clock, and is none.
    package func silences(at now: Timestamp) throws -> [StoredSilence] {
        try self.connection.rows(
            """
            SELECT what, severity, ends_at, made_at, made_by, reason FROM alarm_silence
            WHERE ends_at > ? AND made_at <= ? ORDER BY ends_at, what
            """, [.integer(now.secondsSince1970), .integer(now.before(-BelievedTime.step).secondsSince1970)]
        ).compactMap { row in
            // One of a severity that a later version knows keeps nothing quiet here.
            guard let severity = Alarm.Severity(rawValue: try row.text(1)) else { return nil }
            return StoredSilence(
                what: try row.text(0), severity: severity, endsAt: Timestamp(secondsSince1970: try row.integer(2)),
                madeAt: Timestamp(secondsSince1970: try row.integer(3)), madeBy: try row.text(4),
                reason: try row.text(5))
        }
    }

    /// Keeps a silence in place of an earlier one of the same.
    package func put(_ silence: StoredSilence) throws {
        try self.connection.execute(
            """
            INSERT INTO alarm_silence (what, severity, ends_at, made_at, made_by, reason) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (what) DO UPDATE SET severity = excluded.severity, ends_at = excluded.ends_at,
                made_at = excluded.made_at, made_by = excluded.made_by, reason = excluded.reason
            """,
            [
                .text(silence.what), .text(silence.severity.rawValue), .integer(silence.endsAt.secondsSince1970),
                .integer(silence.madeAt.secondsSince1970), .text(silence.madeBy), .text(silence.reason),
            ])
    }

    /// Ends a silence.
    ///
    /// - Returns: Whether there was one that was not over.
    package func removeSilence(_ what: String, at now: Timestamp) throws -> Bool {
        try self.connection.execute(
            "DELETE FROM alarm_silence WHERE what = ? AND ends_at > ?", [.text(what), .integer(now.secondsSince1970)])
            == 1
    }

    /// Forgets silences that are over, and those that a wrong clock dated ahead: they would begin at that time.
    package func removeSilences(endedBy now: Timestamp) throws {
        let (believed, latest) = (try self.believedTime(by: now), try self.latestTime(by: now))
        try self.connection.execute(
            "DELETE FROM alarm_silence WHERE ends_at <= ? OR made_at > ?",
            [
                .integer(believed.secondsSince1970),
                .integer(latest.before(-BelievedTime.step).secondsSince1970),
            ])
    }
}
