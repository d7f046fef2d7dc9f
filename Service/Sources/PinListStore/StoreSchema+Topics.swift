// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// The changes of the third migration to lists: what the pages show of each publication stands in a table without
    /// envelopes. SQLite reads a whole envelope to reach a column behind it.
    ///
    /// What was published before has no times and no changes there: they are computed when they are first shown.
    package static func lists(_ dialect: Dialect) -> [String] {
        let integer = dialect.integer
        return [
            """
            CREATE TABLE publication (
                number \(integer) PRIMARY KEY, name TEXT NOT NULL, version \(integer) NOT NULL, digest TEXT NOT NULL,
                published_at \(integer) NOT NULL, issued_at \(integer), expires_at \(integer),
                changes \(dialect.bytes))
            """,
            "CREATE INDEX publication_by_name ON publication (name, number)",
            """
            INSERT INTO publication (number, name, version, digest, published_at)
                SELECT number, name, version, digest, published_at FROM list
            """,
        ]
    }
}

extension StoreSchema {
    /// The additions of the fourth migration: the log lists of Certificate Transparency that lists name.
    static func logs(_ dialect: Dialect) -> [String] {
        [
            """
            CREATE TABLE log_file (
                number \(dialect.identity), name TEXT NOT NULL, digest TEXT NOT NULL,
                stored_at \(dialect.integer) NOT NULL, file \(dialect.bytes) NOT NULL, UNIQUE (name, digest))
            """
        ]
    }
}

extension StoreSchema {
    /// The changes of the third migration to tokens: what they are for and whose they are, when they end, and codes
    /// that log in once.
    package static func tokens(_ dialect: Dialect) -> [String] {
        [
            "ALTER TABLE token ADD COLUMN label TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE token ADD COLUMN owner TEXT NOT NULL DEFAULT ''",
            "ALTER TABLE token ADD COLUMN ends_at \(dialect.integer)",
            """
            CREATE TABLE login_code (
                hash \(dialect.bytes) PRIMARY KEY, owner TEXT NOT NULL, ends_at \(dialect.integer) NOT NULL)
            """,
        ]
    }
}

extension StoreSchema {
    /// The changes of the third migration to alarms: messages with several alarms, silences, acknowledgements, which
    /// instance knows which target, and hosts that a probe did not reach.
    package static func alarms(_ dialect: Dialect) -> [String] {
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
            // Firing alarms were notified, each by itself: the end of one has to have the same key.
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

    /// The seventh migration: what an alarm counts, and counted when people were told.
    static func alarmCounts(_ dialect: Dialect) -> [String] {
        ["count", "told_count"].map { "ALTER TABLE alarm ADD COLUMN \($0) \(dialect.integer) NOT NULL DEFAULT 0" }
    }
}

extension StoreSchema {
    /// The changes of the third migration to the audit log and evidence: entries of a sealed period can be removed.
    package static func audit(_ dialect: Dialect) -> [String] {
        [
            """
            CREATE TABLE audit_seal (
                period TEXT PRIMARY KEY, first_number \(dialect.integer) NOT NULL,
                last_number \(dialect.integer) NOT NULL, head TEXT NOT NULL, previous TEXT NOT NULL,
                entry \(dialect.integer) NOT NULL)
            """,
            "CREATE INDEX evidence_by_name ON evidence (name, at)",
        ] + dialect.removableAudit
    }

    /// Whether a row of `audit` may be deleted, for a trigger: a seal covers it, and the newest seal, which vouches for all
    /// of them, is named in the log.
    static let isSealed = """
        EXISTS (SELECT 1 FROM audit_seal WHERE OLD.number BETWEEN first_number AND last_number)
            AND EXISTS (
                SELECT 1 FROM audit
                    WHERE number = (SELECT MAX(entry) FROM audit_seal) AND action = 'seal' AND number > OLD.number)
        """
}

extension StoreSchema {
    /// The table of sampling rates: a row when a published list changes the number of installations that report
    /// failures of a host.
    static func reportRates(_ dialect: Dialect) -> [String] {
        [
            """
            CREATE TABLE report_rate (
                host TEXT NOT NULL, name TEXT NOT NULL, since \(dialect.integer) NOT NULL,
                per_million \(dialect.integer) NOT NULL, PRIMARY KEY (host, name, since))\(dialect.ordered)
            """
        ]
    }
}

extension StoreSchema {
    /// The additions of the third migration by which counts are deleted without walking through all of them: their keys
    /// begin with something else than a time. A count that grows does not touch these; a row that is new does, once.
    package static func retention(_ dialect: Dialect) -> [String] {
        [
            "CREATE INDEX inquiry_by_hour ON inquiry (hour)",
            "CREATE INDEX group_hour_by_hour ON group_hour (hour)",
            "CREATE INDEX group_network_by_day ON group_network (day)",
        ]
    }
}
