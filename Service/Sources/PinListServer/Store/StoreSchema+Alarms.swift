// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// What the third migration changes of alarms: messages with several alarms, silences, acknowledgements, which
    /// instance knows which target, and hosts that a probe did not reach.
    static func alarms(_ dialect: Dialect) -> [String] {
        let (integer, identity) = (dialect.integer, dialect.identity)
        return [
            """
            CREATE TABLE alarm_message (
                number \(identity), key TEXT NOT NULL, kind TEXT NOT NULL, severity TEXT NOT NULL,
                begun_at \(integer) NOT NULL, next_at \(integer) NOT NULL)
            """,
            "ALTER TABLE alarm ADD COLUMN message \(integer)",
            "ALTER TABLE alarm ADD COLUMN told TEXT",
            "ALTER TABLE alarm ADD COLUMN acknowledged_at \(integer)",
            "ALTER TABLE alarm ADD COLUMN acknowledged_by TEXT",
            // What fires was told, each alarm by itself: its end has to have the same key.
            """
            INSERT INTO alarm_message (key, kind, severity, begun_at, next_at)
                SELECT key, kind, severity, since, since FROM alarm WHERE ended_at IS NULL
            """,
            """
            UPDATE alarm SET told = severity, message =
                (SELECT number FROM alarm_message WHERE alarm_message.key = alarm.key) WHERE ended_at IS NULL
            """,
            """
            CREATE TABLE alarm_silence (
                what TEXT PRIMARY KEY, severity TEXT NOT NULL, ends_at \(integer) NOT NULL, made_at \(integer) NOT NULL,
                made_by TEXT NOT NULL, reason TEXT NOT NULL)
            """,
            """
            CREATE TABLE alert_target (
                name TEXT NOT NULL, instance TEXT NOT NULL, seen_at \(integer) NOT NULL, PRIMARY KEY (name, instance))
            """,
            "ALTER TABLE delivery ADD COLUMN lost \(integer) NOT NULL DEFAULT 0",
            "ALTER TABLE probe ADD COLUMN missed_at \(integer)",
            "ALTER TABLE probe ADD COLUMN missed TEXT",
        ]
    }
}
