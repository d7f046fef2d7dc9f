// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// The tables of attestation: its state in reports, groups and counts, the keys of installations, the secrets that
    /// challenges are made under, and the sources heard of a host this hour. Nothing in `report` names a key.
    package static func attestation(_ dialect: Dialect) -> [String] {
        let (integer, bytes, ordered) = (dialect.integer, dialect.bytes, dialect.ordered)
        return [
            "ALTER TABLE report_group ADD COLUMN attestation TEXT NOT NULL DEFAULT 'not asked'",
            "ALTER TABLE report ADD COLUMN attestation TEXT NOT NULL DEFAULT 'not asked'",
            "ALTER TABLE report ADD COLUMN attestation_step \(integer)",
            """
            CREATE TABLE attested_key (
                key_id \(bytes) PRIMARY KEY, name TEXT NOT NULL, public_key \(bytes) NOT NULL, counter \(integer) NOT NULL,
                environment TEXT NOT NULL, app_id TEXT NOT NULL, category \(integer), bundle_version TEXT,
                digest \(bytes) NOT NULL, first_at \(integer) NOT NULL, last_at \(integer) NOT NULL, receipt \(bytes))
            """,
            "CREATE INDEX attested_key_by_use ON attested_key (last_at)",
            "CREATE INDEX attested_key_by_name ON attested_key (name)",
            "CREATE TABLE attestation_secret (day \(integer) PRIMARY KEY, secret \(bytes) NOT NULL)",
            """
            CREATE TABLE attestation_hour (
                name TEXT NOT NULL, hour \(integer) NOT NULL, host TEXT NOT NULL, state TEXT NOT NULL,
                instance TEXT NOT NULL, count \(integer) NOT NULL,
                PRIMARY KEY (name, hour, host, state, instance))\(ordered)
            """,
            """
            CREATE TABLE attested_witness (
                host TEXT NOT NULL, hour \(integer) NOT NULL, witness \(bytes) NOT NULL, instance TEXT NOT NULL,
                network \(bytes) NOT NULL, at \(integer) NOT NULL,
                PRIMARY KEY (host, hour, witness, instance))\(ordered)
            """,
        ]
    }
}

extension StoreMove {
    /// The tables of ``StoreSchema/attestation(_:)``.
    package static let attestationTables: [(name: String, columns: [String], key: [String])] = [
        (
            "attested_key",
            [
                "key_id", "name", "public_key", "counter", "environment", "app_id", "category", "bundle_version",
                "digest", "first_at", "last_at", "receipt",
            ], ["key_id"]
        ),
        ("attestation_secret", ["day", "secret"], ["day"]),
        (
            "attestation_hour", ["name", "hour", "host", "state", "instance", "count"],
            ["name", "hour", "host", "state", "instance"]
        ),
        (
            "attested_witness", ["host", "hour", "witness", "instance", "network", "at"],
            ["host", "hour", "witness", "instance"]
        ),
    ]
}
