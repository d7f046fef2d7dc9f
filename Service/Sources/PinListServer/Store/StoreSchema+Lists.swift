// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// What the third migration changes of lists: what the pages show of each publication stands in a table without
    /// envelopes. SQLite reads a whole envelope to reach a column behind it.
    ///
    /// What was published before has no times and no changes there: they are computed when they are first shown.
    static func lists(_ dialect: Dialect) -> [String] {
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
