// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// The changes of the third migration to reports (docs/decisions/0049): each instance counts for itself, bodies
    /// stand beside their reports, and a group says whether it belongs to a published list.
    package static func reports(_ dialect: Dialect) -> [String] {
        Self.groupCounts(dialect) + Self.countsByInstance(dialect) + Self.bodies(dialect) + dialect.reportDays
    }

    private static func groupCounts(_ dialect: Dialect) -> [String] {
        let (integer, ordered) = (dialect.integer, dialect.ordered)
        return [
            """
            CREATE TABLE group_count (
                group_number \(integer) NOT NULL, instance TEXT NOT NULL, count \(integer) NOT NULL,
                bodies \(integer) NOT NULL, bodies_at \(integer) NOT NULL, first_at \(integer) NOT NULL,
                last_at \(integer) NOT NULL, PRIMARY KEY (group_number, instance))\(ordered)
            """,
            """
            INSERT INTO group_count (group_number, instance, count, bodies, bodies_at, first_at, last_at)
            SELECT number, '', count, (SELECT COUNT(*) FROM report_body WHERE group_number = report_group.number),
                last_at, first_at, last_at FROM report_group
            """,
            "DROP INDEX report_group_by_time",
            "DROP INDEX report_group_by_host",
            "ALTER TABLE report_group DROP COLUMN first_at",
            "ALTER TABLE report_group DROP COLUMN last_at",
            "ALTER TABLE report_group DROP COLUMN count",
            // Until a report says otherwise: whether the list is published is not known here.
            "ALTER TABLE report_group ADD COLUMN is_listed \(integer) NOT NULL DEFAULT 0",
            "CREATE INDEX report_group_by_host ON report_group (host, reason)",
        ]
    }

    /// Tables whose key has the instance in it now. SQLite changes no key, so they are made anew.
    ///
    /// The columns of the key stand first: of other tables without row ids SQLite 3.40 says that they are damaged
    /// (`PRAGMA integrity_check`: "NULL value in …").
    private static func countsByInstance(_ dialect: Dialect) -> [String] {
        let (integer, ordered) = (dialect.integer, dialect.ordered)
        func again(_ table: String, key: [(String, String)], values: [(String, String)]) -> [String] {
            let columns = key.map { "\($0.0) \($0.1) NOT NULL" } + ["instance TEXT NOT NULL DEFAULT ''"]
            let names = (key + values).map(\.0).joined(separator: ", ")
            return [
                "ALTER TABLE \(table) RENAME TO \(table)_before",
                """
                CREATE TABLE \(table) (
                    \((columns + values.map { "\($0.0) \($0.1)" }).joined(separator: ", ")),
                    PRIMARY KEY (\((key.map(\.0) + ["instance"]).joined(separator: ", "))))\(ordered)
                """,
                "INSERT INTO \(table) (\(names)) SELECT \(names) FROM \(table)_before",
                "DROP TABLE \(table)_before",
            ]
        }
        let count = [("count", "\(integer) NOT NULL")]
        return again("group_hour", key: [("group_number", integer), ("hour", integer)], values: count)
            + again(
                "group_leaf", key: [("group_number", integer), ("pin", "TEXT")],
                values: [("not_before", integer), ("not_after", integer)])
            + again("report_hour", key: [("hour", integer), ("host", "TEXT"), ("kind", "TEXT")], values: count)
            + ["CREATE INDEX report_hour_by_host ON report_hour (host, hour)"]
            + again(
                "inquiry", key: [("name", "TEXT"), ("hour", integer), ("source", "TEXT"), ("digest", "TEXT")],
                values: count)
            + [
                """
                CREATE TABLE counted_host (
                    day \(integer) NOT NULL, name TEXT NOT NULL, host TEXT NOT NULL, instance TEXT NOT NULL,
                    PRIMARY KEY (day, name, host, instance))\(ordered)
                """
            ]
    }

    private static func bodies(_ dialect: Dialect) -> [String] {
        [
            "ALTER TABLE report ADD COLUMN body \(dialect.bytes)",
            """
            UPDATE report SET body = (SELECT body FROM report_body WHERE report_body.report = report.number)
            WHERE number IN (SELECT report FROM report_body)
            """,
            "DROP TABLE report_body",
            "CREATE INDEX report_with_body ON report (group_number, number) WHERE body IS NOT NULL",
        ]
    }
}
