// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// What the third migration changes of tokens: what they are for and whose they are, when they end, and codes that log in once.
    static func tokens(_ dialect: Dialect) -> [String] {
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
