// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// The fourth migration: certificates that monitors found in logs, who issued them, and an index that finds the reports of a key.
    ///
    /// The certificate stands behind what pages and alarms read: SQLite reads it only where it is asked for.
    package static func sightings(_ dialect: Dialect) -> [String] {
        let (integer, bytes) = (dialect.integer, dialect.bytes)
        return [
            """
            CREATE TABLE sighting (
                name TEXT NOT NULL, digest TEXT NOT NULL, state TEXT NOT NULL, host TEXT NOT NULL,
                is_enforced \(integer) NOT NULL, judged TEXT NOT NULL, key TEXT NOT NULL, served_at \(integer),
                not_before \(integer) NOT NULL, not_after \(integer) NOT NULL, is_precertificate \(integer) NOT NULL,
                log TEXT NOT NULL, logged_at \(integer), first_at \(integer) NOT NULL, told_by TEXT NOT NULL,
                acknowledged_at \(integer), acknowledged_by TEXT, acknowledged_as TEXT, serial TEXT NOT NULL,
                issuer TEXT NOT NULL, issuers TEXT NOT NULL, names TEXT NOT NULL, certificate \(bytes) NOT NULL,
                PRIMARY KEY (name, digest))
            """,
            "CREATE INDEX sighting_by_key ON sighting (name, key)",
            "CREATE INDEX sighting_by_state ON sighting (name, state, is_enforced, first_at, served_at)",
            "CREATE INDEX sighting_by_host ON sighting (name, host, first_at)",
            "CREATE INDEX sighting_by_judgement ON sighting (name, judged)",
            "CREATE INDEX sighting_by_end ON sighting (not_after)",
            "CREATE INDEX sighting_by_time ON sighting (first_at)",
            """
            CREATE TABLE sighting_issuer (
                name TEXT NOT NULL, key TEXT NOT NULL, last_at \(integer) NOT NULL, certificate \(bytes) NOT NULL,
                PRIMARY KEY (name, key))
            """,
            "CREATE INDEX sighting_issuer_by_time ON sighting_issuer (last_at)",
            """
            CREATE TABLE unlisted_sighting (
                name TEXT PRIMARY KEY, count \(integer) NOT NULL, last_at \(integer) NOT NULL)
            """,
            "CREATE INDEX group_leaf_by_pin ON group_leaf (pin)",
        ]
    }

    /// The sixth migration: from how many networks reports named a key that a log has.
    static func sightedNetworks(_ dialect: Dialect) -> [String] {
        let integer = dialect.integer
        return [
            """
            CREATE TABLE sighted_network (
                key TEXT NOT NULL, day \(integer) NOT NULL, instance TEXT NOT NULL, networks \(integer) NOT NULL,
                PRIMARY KEY (key, day, instance))\(dialect.ordered)
            """,
            "CREATE INDEX sighted_network_by_day ON sighted_network (day)",
        ]
    }
}
